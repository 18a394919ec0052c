package method

import (
	"bytes"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/transform"
	"github.com/listwise/listwise/eval/measure"
)

// Claim: the models of PRank and of the baselines of data that are read query by query have the bytes of those of
// data in memory, in whatever memory, for any number of workers; no file is left.
func TestPRankAndBaselinesStream(t *testing.T) {
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
		"prank":            {"prank", map[string]string{"epochs": "3"}, func(*Problem) {}},
		"prank averaged":   {"prank", map[string]string{"epochs": "3", "average": "true"}, zscore},
		"prank changed":    {"prank", map[string]string{"epochs": "2"}, changed},
		"feature":          {"singlefeature", nil, func(*Problem) {}},
		"feature weighted": {"singlefeature", map[string]string{"direction": "down"}, func(p *Problem) { zscore(p); weighQueries(t, p) }},
		"feature changed":  {"singlefeature", nil, changed},
		"one feature":      {"singlefeature", map[string]string{"feature": "3"}, zscore},
		"random":           {"random", nil, zscore},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("TMPDIR", t.TempDir())
			streamed, whole := cached(t, 1, dataset.MissingMin)
			run := func(d *dataset.Dataset, maxBytes int64, workers int) []byte {
				p := &Problem{Data: d, Missing: dataset.MissingMin, MaxBytes: maxBytes, Workers: workers, Values: valuesOf(t, c.method, c.set)}
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
				for _, memory := range memories(800<<10, 4<<20) {
					if !bytes.Equal(run(streamed, memory, workers), want) {
						t.Errorf("%d workers, %d bytes: another model of streamed data", workers, memory)
					}
				}
				if !bytes.Equal(run(whole, 1000<<10, workers), want) {
					t.Errorf("%d workers: another model of data that are changed as they are read", workers)
				}
			}
			if left, err := os.ReadDir(os.Getenv("TMPDIR")); err != nil || len(left) > 0 {
				t.Errorf("%v, %v is left", left, err)
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
	p := &Problem{Data: whole, Measure: m, Values: valuesOf(t, "singlefeature", nil)}
	learned, err := lookup(t, "singlefeature").Train(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	if learned.Params[feature] != sign || learned.Training.Objective != 1-best || learned.Training.Evaluations != 2*whole.Features {
		t.Errorf("feature %d with the weight %v and the objective %v; want the weight %v and %v", feature+1, learned.Params[feature], learned.Training.Objective, sign, 1-best)
	}
}

// Claim: documents of streamed data are visited once each, with their features, in the order asked for, however
// small the parts are; too little memory is told with what would do.
func TestScatteredVisitsInOrder(t *testing.T) {
	streamed, whole := cached(t, 3, dataset.MissingZero)
	docs, features := whole.Docs(), whole.Features
	if _, need := scatter(docs, features, 100<<10); need < 100<<10 {
		t.Errorf("found a need of %d bytes, want more than there were", need)
	}
	for _, memory := range []int64{230 << 10, 300 << 10, 900 << 10, 1 << 40} {
		l, need := scatter(docs, features, memory)
		if need > 0 {
			t.Fatalf("%d bytes: found a need of %d", memory, need)
		}
		if held := int64(4*l.of*(l.row+1) + 4*l.flush*l.parts); held > memory {
			t.Errorf("%d bytes: the plan holds %d", memory, held)
		}
		s, err := newScattered(streamed, l, 3)
		if err != nil {
			t.Fatal(err)
		}
		for epoch := range 2 {
			order := rand.New(rand.NewPCG(uint64(epoch), uint64(memory))).Perm(docs)
			var seen []int
			err := s.each(t.Context(), order, func(doc int, x []float32) {
				seen = append(seen, doc)
				if !slices.Equal(x, whole.X()[doc*features:(doc+1)*features]) {
					t.Fatalf("%d bytes: document %d has other features", memory, doc)
				}
			})
			if err != nil || !slices.Equal(seen, order) {
				t.Fatalf("%d bytes: %v, another order than asked for", memory, err)
			}
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// Claim: too little memory for PRank is told before anything is written.
func TestPRankStreamedRefused(t *testing.T) {
	streamed, _ := cached(t, 1, dataset.MissingZero)
	told := ""
	p := &Problem{Data: streamed, Missing: dataset.MissingZero, MaxBytes: 200 << 10, Workers: 1, Values: valuesOf(t, "prank", nil), Note: func(s string) { told = s }}
	if _, err := lookup(t, "prank").Train(t.Context(), p); err == nil || !strings.Contains(err.Error(), "of which PRank holds") || told != "" {
		t.Errorf("%v, %q; want an error about memory", err, told)
	}
}
