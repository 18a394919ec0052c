package method

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/learn/train"
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
				little = 440 << 10
			}
			for _, workers := range crews() {
				for _, memory := range memories(little, 10<<20) {
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

// Claim: so has the model of trees whose weights change or which are several sums, classes or new values of old trees,
// whether their codes, the leaves that documents fall into, both or neither are in files; and one that was interrupted,
// of any of these.
func TestSumsOfTreesStream(t *testing.T) {
	few := map[string]string{"trees": "14", "leaves": "7"}
	with := func(more ...string) map[string]string {
		set := maps.Clone(few)
		for i := 0; i < len(more); i += 2 {
			set[more[i]] = more[i+1]
		}
		return set
	}
	zscore := func(p *Problem) { p.Normalization = dataset.ZScore }
	for name, c := range map[string]struct {
		method  string
		missing dataset.Missing
		set     map[string]string
		prepare func(p *Problem)
		refit   bool

		codes, tables int64 // kB of memory in which both are in files, and in which only leaves are
	}{
		"dart":                {"lambdamart", dataset.MissingKeep, with("boosting", "dart", "dropout", "0.3", "dropout_skip", "0.2"), func(*Problem) {}, false, 328, 420},
		"dart drawn":          {"mart", dataset.MissingZero, with("boosting", "dart", "dropout_weight", "forest", "query_fraction", "0.6", "goss_top", "0.3", "goss_rest", "0.2", "bag", "2", "patience", "3"), zscore, false, 400, 600},
		"dart searched":       {"lambdamart", dataset.MissingMin, with("boosting", "dart", "fit", "gradient", "growth", "symmetric"), func(p *Problem) { weighQueries(t, p) }, false, 290, 380},
		"dart of many leaves": {"lambdamart", dataset.MissingKeep, map[string]string{"trees": "8", "boosting": "dart", "leaves": "300", "leaf_documents": "2"}, func(*Problem) {}, false, 14837, 14929},
		"forest":              {"lambdamart", dataset.MissingKeep, with("boosting", "forest", "feature_fraction", "0.5"), func(*Problem) {}, false, 360, 480},
		"forest in a bag":     {"mart", dataset.MissingZero, with("boosting", "forest", "bag", "2", "document_fraction", "0.7"), func(p *Problem) { p.Views = dataset.Views{dataset.RawView, dataset.RankView} }, false, 560, 820},
		"classes":             {"mcrank", dataset.MissingKeep, few, func(p *Problem) { p.Scorer = treeScorer }, false, 400, 0},
		"classes, bins":       {"mcrank", dataset.MissingZero, with("bins", "9", "bins_by", "curvature"), func(p *Problem) { p.Scorer = treeScorer; zscore(p) }, false, 400, 0},
		"classes by dart":     {"mcrank", dataset.MissingKeep, with("boosting", "dart", "patience", "4"), func(p *Problem) { p.Scorer = treeScorer }, false, 440, 600},
		"classes in a bag":    {"mcrank", dataset.MissingKeep, with("boosting", "forest", "bag", "2"), func(p *Problem) { p.Scorer = treeScorer }, false, 740, 1150},
		"refit":               {"lambdamart", dataset.MissingKeep, few, func(*Problem) {}, true, 0, 222},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("TMPDIR", t.TempDir())
			streamed, whole := cached(t, 1, c.missing)
			if testing.Short() && c.set["leaves"] == "300" {
				t.Skip("takes long")
			}
			validStreamed, valid := cached(t, 2, c.missing)
			m := lookup(t, c.method)
			if m.onTrees != nil {
				m = m.onTrees
			}
			values, err := m.Values(c.set)
			if err != nil {
				t.Fatal(err)
			}
			var initial *model.Model
			problem := func(d, v *dataset.Dataset, maxBytes int64, workers int, told *string) *Problem {
				p := &Problem{Data: d, Valid: v, Missing: c.missing, MaxBytes: maxBytes, Workers: workers, Initial: initial, Refit: initial != nil, Values: values}
				p.Note, p.Measure = func(sentence string) { *told += sentence }, measure.MustParse("ndcg@10", measure.LETOR3)
				c.prepare(p)
				return p
			}
			learn := func(ctx context.Context, p *Problem) ([]byte, error) {
				trained, err := lookup(t, c.method).Train(ctx, p)
				if err != nil {
					return nil, err
				}
				if c.refit && initial == nil {
					initial, values = trained, valuesOf(t, c.method, nil)
				}
				var b bytes.Buffer
				if err := trained.Write(&b); err != nil {
					t.Fatal(err)
				}
				return b.Bytes(), nil
			}
			run := func(d, v *dataset.Dataset, maxBytes int64, workers int) (b []byte, told string) {
				b, err := learn(t.Context(), problem(d, v, maxBytes, workers, &told))
				if err != nil {
					t.Fatal(err)
				}
				return b, told
			}
			if c.refit {
				run(valid, nil, 0, 1)
			}
			want, _ := run(whole, valid, 0, 1)
			for _, memory := range []struct {
				bytes         int64
				codes, tables bool // are in files
				workers       []int
			}{
				{c.codes << 10, true, c.set["boosting"] != "", []int{1, 3}},
				{c.tables << 10, false, c.set["boosting"] != "", []int{1, 2}},
				{c.tables<<10 + 10<<20, false, false, []int{1, 2, 7}},
			} {
				for i, workers := range memory.workers {
					if memory.bytes == 0 || testing.Short() && i+1 < len(memory.workers) {
						continue
					}
					got, told := run(streamed, validStreamed, memory.bytes, workers)
					if !bytes.Equal(got, want) {
						t.Errorf("%d workers, %d bytes: another model of streamed data", workers, memory.bytes)
					}
					if strings.Contains(told, "the codes of the features do not fit") != memory.codes || strings.Contains(told, "the leaves that documents fall into do not fit") != memory.tables {
						t.Errorf("%d bytes of memory: found the note %q", memory.bytes, told)
					}
					if workers == 1 || c.refit {
						continue
					}
					// Interrupted and gone on with.
					ctx, cancel := context.WithCancel(t.Context())
					p := problem(streamed, validStreamed, memory.bytes, workers, &told)
					p.Checkpoint = filepath.Join(t.TempDir(), "checkpoint")
					p.Observe = func(it train.Iteration) {
						if it.Number == 3 {
							cancel()
						}
					}
					if _, err := learn(ctx, p); !errors.Is(err, context.Canceled) {
						t.Fatalf("%v, want that it is interrupted", err)
					}
					p.Observe = nil
					if got, err := learn(t.Context(), p); err != nil || !bytes.Equal(got, want) {
						t.Errorf("%d workers, %d bytes: %v, another model after an interruption", workers, memory.bytes, err)
					}
				}
			}
			if left, err := os.ReadDir(os.Getenv("TMPDIR")); err != nil || len(left) > 0 {
				t.Errorf("%v, %v is left", left, err)
			}
		})
	}
}
