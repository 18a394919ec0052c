package method

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/measure"
	"github.com/listwise/listwise/model"
)

// Claim: the model of boosted trees of data that are read query by query has the bytes of the one of data in
// memory, with what changes features, draws, weighs or begins with a model, for any number of workers, whether
// its codes are in memory or in a file; no file is left.
func TestTreesStream(t *testing.T) {
	for name, c := range map[string]struct {
		method    string
		missing   dataset.Missing
		set       map[string]string
		prepare   func(p *Problem)
		continued bool
	}{
		"plain":     {"lambdamart", dataset.MissingKeep, map[string]string{"trees": "12"}, func(*Problem) {}, false},
		"few bins":  {"lambdamart", dataset.MissingZero, map[string]string{"trees": "12", "bins": "7", "bins_by": "curvature"}, func(p *Problem) { p.Normalization = dataset.ZScore }, false},
		"drawn":     {"mart", dataset.MissingMin, map[string]string{"trees": "12", "query_fraction": "0.6", "feature_fraction": "0.5", "goss_top": "0.3", "goss_rest": "0.2", "bag": "3"}, func(*Problem) {}, false},
		"searched":  {"lambdamart", dataset.MissingKeep, map[string]string{"trees": "8", "fit": "gradient", "growth": "symmetric"}, func(p *Problem) { p.Views = dataset.Views{dataset.RawView, dataset.RankView} }, false},
		"continued": {"lambdamart", dataset.MissingKeep, map[string]string{"trees": "6"}, func(*Problem) {}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("TMPDIR", t.TempDir())
			streamed, whole := cached(t, 1, c.missing)
			validStreamed, valid := cached(t, 2, c.missing)
			var initial *model.Model
			run := func(d, v *dataset.Dataset, maxBytes int64, workers int) (b []byte, told string) {
				p := &Problem{Data: d, Valid: v, Missing: c.missing, MaxBytes: maxBytes, Workers: workers, Initial: initial, Values: valuesOf(t, c.method, c.set)}
				p.Note, p.Measure = func(sentence string) { told += sentence }, measure.MustParse("ndcg@10", measure.LETOR3)
				c.prepare(p)
				m, err := lookup(t, c.method).Train(t.Context(), p)
				if err != nil {
					t.Fatal(err)
				}
				if c.continued && initial == nil {
					initial = m
				}
				var buf bytes.Buffer
				if err := m.Write(&buf); err != nil {
					t.Fatal(err)
				}
				return buf.Bytes(), told
			}
			if c.continued {
				run(whole, valid, 0, 1)
			}
			want, _ := run(whole, valid, 0, 1)
			little := int64(328 << 10)
			if c.set["bag"] != "" {
				little = 520 << 10
			}
			for _, workers := range []int{1, 3} {
				for _, memory := range []int64{little, 10 << 20} {
					got, told := run(streamed, validStreamed, memory, workers)
					if !bytes.Equal(got, want) {
						t.Errorf("%d workers, %d bytes: another model of streamed data", workers, memory)
					}
					if strings.Contains(told, "put in a temporary file") != (memory == little) {
						t.Errorf("%d bytes of memory: found the note %q", memory, told)
					}
				}
			}
			if left, err := os.ReadDir(os.Getenv("TMPDIR")); err != nil || len(left) > 0 {
				t.Errorf("%v, %v is left", left, err)
			}
		})
	}
}
