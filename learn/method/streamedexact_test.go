package method

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/eval/measure"
)

// Claim: so has the model of trees that look at every value, in whatever memory there is.
func TestExactTreesStream(t *testing.T) {
	for name, c := range map[string]struct {
		method  string
		missing dataset.Missing
		set     map[string]string
		prepare func(p *Problem)
	}{
		"plain":   {"lambdamart", dataset.MissingKeep, map[string]string{"trees": "4"}, func(*Problem) {}},
		"drawn":   {"mart", dataset.MissingMin, map[string]string{"trees": "4", "query_fraction": "0.6", "feature_fraction": "0.5", "bag": "2", "patience": "3"}, func(p *Problem) { p.Normalization = dataset.ZScore }},
		"random":  {"lambdamart", dataset.MissingKeep, map[string]string{"trees": "4", "fit": "gradient", "growth": "depth", "depth": "3", "thresholds": "random"}, func(p *Problem) { p.Views = dataset.Views{dataset.RawView, dataset.RankView} }},
		"dart":    {"lambdamart", dataset.MissingZero, map[string]string{"trees": "6", "leaves": "7", "boosting": "dart", "dropout": "0.3"}, func(p *Problem) { weighQueries(t, p) }},
		"forest":  {"lambdamart", dataset.MissingKeep, map[string]string{"trees": "4", "boosting": "forest", "monotone": "1:-2"}, func(*Problem) {}},
		"classes": {"mcrank", dataset.MissingKeep, map[string]string{"trees": "3"}, func(p *Problem) { p.Scorer = treeScorer }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("TMPDIR", t.TempDir())
			c.set["splits"] = "exact"
			streamed, whole := cached(t, 1, c.missing)
			validStreamed, valid := cached(t, 2, c.missing)
			m := lookup(t, c.method)
			if m.onTrees != nil {
				m = m.onTrees
			}
			values, err := m.Values(c.set)
			if err != nil {
				t.Fatal(err)
			}
			run := func(d, v *dataset.Dataset, maxBytes int64, workers int) []byte {
				told := ""
				p := &Problem{Data: d, Valid: v, Missing: c.missing, MaxBytes: maxBytes, Workers: workers, Values: values}
				p.Note, p.Measure = func(sentence string) { told += sentence }, measure.MustParse("ndcg@10", measure.LETOR3)
				c.prepare(p)
				m, err := lookup(t, c.method).Train(t.Context(), p)
				if err != nil {
					t.Fatal(err)
				}
				if d.Streamed() != strings.Contains(told, "the features in ascending order") {
					t.Errorf("%d bytes of memory: found the note %q", maxBytes, told)
				}
				var b bytes.Buffer
				if err := m.Write(&b); err != nil {
					t.Fatal(err)
				}
				return b.Bytes()
			}
			want := run(whole, valid, 0, 1)
			for _, with := range []struct {
				workers  int
				maxBytes int64
			}{{1, 600 << 10}, {2, 600 << 10}, {7, 10 << 20}} {
				if testing.Short() && with.workers != 2 {
					continue
				}
				if !bytes.Equal(run(streamed, validStreamed, with.maxBytes, with.workers), want) {
					t.Errorf("%d workers, %d bytes: another model of streamed data", with.workers, with.maxBytes)
				}
			}
			if left, err := os.ReadDir(os.Getenv("TMPDIR")); err != nil || len(left) > 0 {
				t.Errorf("%v, %v is left", left, err)
			}
		})
	}
}
