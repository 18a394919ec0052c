package method

import (
	"bytes"
	"math"
	"testing"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/transform"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/learn/train"
)

// Claim: the models of the baselines of data that are read query by query have the bytes of those of data in memory, for
// any number of workers.
func TestBaselinesStream(t *testing.T) {
	clip, err := transform.ParseSpec("clip=1%:99%")
	if err != nil {
		t.Fatal(err)
	}
	changed := func(p *Problem) {
		p.Transforms, p.Views = []transform.Spec{clip}, dataset.Views{dataset.RawView, dataset.RankView}
	}
	zscore := func(p *Problem) { p.Normalization = dataset.ZScore }
	for name, c := range map[string]struct {
		method  string
		set     map[string]string
		prepare func(p *Problem)
	}{
		"feature":          {"singlefeature", nil, func(*Problem) {}},
		"feature weighted": {"singlefeature", map[string]string{"direction": "down"}, func(p *Problem) { zscore(p); weighQueries(t, p) }},
		"feature changed":  {"singlefeature", nil, changed},
		"one feature":      {"singlefeature", map[string]string{"feature": "3"}, zscore},
		"random":           {"random", nil, zscore},
	} {
		t.Run(name, func(t *testing.T) {
			streamed, whole := cached(t, 1, dataset.MissingMin)
			run := func(d *dataset.Dataset, maxBytes int64, workers int) []byte {
				p := &Problem{Problem: train.Problem{Data: d, Missing: dataset.MissingMin, MaxBytes: maxBytes, Workers: workers}, Values: valuesOf(t, c.method, c.set)}
				p.Measure = measure.MustParse("ndcg@10", measure.LETOR3)
				c.prepare(p)
				m, err := lookup(t, c.method).Train(t.Context(), p)
				if err != nil {
					t.Fatal(err)
				}
				var b bytes.Buffer
				if err := m.Write(&b); err != nil {
					t.Fatal(err)
				}
				return b.Bytes()
			}
			want := run(whole, 0, 1)
			for _, workers := range crews() {
				if !bytes.Equal(run(streamed, 800<<10, workers), want) {
					t.Errorf("%d workers: another model of streamed data", workers)
				}
				if !bytes.Equal(run(whole, 1000<<10, workers), want) {
					t.Errorf("%d workers: another model of data that are changed as they are read", workers)
				}
			}
		})
	}
}

// weighQueries gives queries weights, some 0.
func weighQueries(t *testing.T, p *Problem) {
	t.Helper()
	weights := make([]float64, len(p.Data.Queries))
	for i := range weights {
		weights[i] = float64(i%3) / 2
	}
	if err := p.Data.Weigh(weights, nil); err != nil {
		t.Fatal(err)
	}
}

// Claim: the one best feature is that of the measure of each feature by itself, the first of equals.
func TestSingleFeatureIsTheBest(t *testing.T) {
	_, whole := cached(t, 1, dataset.MissingZero)
	m := measure.MustParse("ndcg@10", measure.LETOR3)
	ranker := measure.Ranker{Ties: measure.TiesAverage}
	scores := make([]float64, whole.Docs())
	best, feature, sign := math.Inf(-1), -1, 0.0
	for f := range whole.Features {
		for _, s := range []float64{1, -1} {
			for i := range scores {
				scores[i] = s * float64(whole.X()[i*whole.Features+f])
			}
			if v, _ := ranker.Mean(whole, scores, m); v > best {
				best, feature, sign = v, f, s
			}
		}
	}
	p := &Problem{Problem: train.Problem{Data: whole, Measure: m}, Values: valuesOf(t, "singlefeature", nil)}
	learned, err := lookup(t, "singlefeature").Train(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	if learned.Params[feature] != sign || learned.Training.Objective != 1-best || learned.Training.Evaluations != 2*whole.Features {
		t.Errorf("feature %d with the weight %v and the objective %v; want the weight %v and %v", feature+1, learned.Params[feature], learned.Training.Objective, sign, 1-best)
	}
}
