package method

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"testing"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/learn/train"
	"github.com/listwise/listwise/model"
)

// Claim: the model of boosted trees of data that are read query by query has the bytes of the one of data in
// memory, with what changes features, draws, weighs or begins with a model, for any number of workers.
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
			streamed, whole := cached(t, 1, c.missing)
			validStreamed, valid := cached(t, 2, c.missing)
			var initial *model.Model
			run := func(d, v *dataset.Dataset, maxBytes int64, workers int) []byte {
				p := &Problem{Problem: train.Problem{Data: d, Valid: v, Missing: c.missing, MaxBytes: maxBytes, Workers: workers, Initial: initial}, Values: valuesOf(t, c.method, c.set)}
				p.Measure = measure.MustParse("ndcg@10", measure.LETOR3)
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
				return buf.Bytes()
			}
			if c.continued {
				run(whole, valid, 0, 1)
			}
			want := run(whole, valid, 0, 1)
			for _, workers := range crews() {
				if !bytes.Equal(run(streamed, validStreamed, 40<<20, workers), want) {
					t.Errorf("%d workers: another model of streamed data", workers)
				}
			}
		})
	}
}

// Claim: so has the model of trees that are several sums, classes or new values of old trees; and one that was
// interrupted, of any of these.
func TestSumsOfTreesStream(t *testing.T) {
	few := map[string]string{"trees": "14", "leaves": "7"}
	zscore := func(p *Problem) { p.Normalization = dataset.ZScore }
	for name, c := range map[string]struct {
		method  string
		missing dataset.Missing
		set     map[string]string
		prepare func(p *Problem)
		refit   bool
	}{
		"classes":       {"mcrank", dataset.MissingKeep, few, func(p *Problem) { p.Scorer = treeScorer }, false},
		"classes, bins": {"mcrank", dataset.MissingZero, map[string]string{"trees": "14", "leaves": "7", "bins": "9", "bins_by": "curvature"}, func(p *Problem) { p.Scorer = treeScorer; zscore(p) }, false},
		"refit":         {"lambdamart", dataset.MissingKeep, few, func(*Problem) {}, true},
	} {
		t.Run(name, func(t *testing.T) {
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
			var initial *model.Model
			problem := func(d, v *dataset.Dataset, maxBytes int64, workers int) *Problem {
				p := &Problem{Problem: train.Problem{Data: d, Valid: v, Missing: c.missing, MaxBytes: maxBytes, Workers: workers, Initial: initial}, Refit: initial != nil, Values: values}
				p.Measure = measure.MustParse("ndcg@10", measure.LETOR3)
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
			run := func(d, v *dataset.Dataset, maxBytes int64, workers int) []byte {
				b, err := learn(t.Context(), problem(d, v, maxBytes, workers))
				if err != nil {
					t.Fatal(err)
				}
				return b
			}
			if c.refit {
				run(valid, nil, 0, 1)
			}
			want := run(whole, valid, 0, 1)
			for _, workers := range crews() {
				if !bytes.Equal(run(streamed, validStreamed, 40<<20, workers), want) {
					t.Errorf("%d workers: another model of streamed data", workers)
				}
			}
			if c.refit {
				return
			}
			// Interrupted and gone on with.
			ctx, cancel := context.WithCancel(t.Context())
			p := problem(streamed, validStreamed, 40<<20, 2)
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
				t.Errorf("%v, another model after an interruption", err)
			}
		})
	}
}
