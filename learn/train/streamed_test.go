package train_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/datafile"
	"github.com/listwise/listwise/dataset/transform"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/internal/testing/long"
	"github.com/listwise/listwise/learn/loss"
	"github.com/listwise/listwise/learn/loss/logrank"
	"github.com/listwise/listwise/learn/train"
	"github.com/listwise/listwise/learn/tree"
	"github.com/listwise/listwise/model/scorer"
)

// streamedData writes queries to a cache and returns them as they are read query by query, and as they
// are in memory. Some queries and documents have the weight 0 if weighted is set.
func streamedData(t *testing.T, seed uint64, weighted bool) (streamed, whole *dataset.Dataset) {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 0))
	var b dataset.Builder
	docs := 0
	for q := range 120 {
		n := 1 + rng.IntN(40)
		x, grades := make([]float32, n*61), make([]float64, n)
		for i := range x {
			x[i] = float32(rng.ExpFloat64())
		}
		for i := range grades {
			grades[i] = float64(min(2, int(x[i*61])))
		}
		if err := b.Add(fmt.Sprintf("%d-%d", seed, q), grades, x, nil); err != nil {
			t.Fatal(err)
		}
		docs += n
	}
	whole = b.Dataset()
	if weighted {
		queries, documents := make([]float64, len(whole.Queries)), make([]float64, docs)
		for i := range queries {
			queries[i] = float64(i % 3)
		}
		for i := range documents {
			documents[i] = float64(i % 4)
		}
		if err := whole.Weigh(queries, documents); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(t.TempDir(), "d.lwd")
	if err := datafile.WriteCache(path, whole); err != nil {
		t.Fatal(err)
	}
	opts := dataset.Options{Stream: true, MaxBytes: 400 << 10}
	streamed, err := datafile.Open(path, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = streamed.Close() })
	if !streamed.Streamed() {
		t.Fatal("the data set is not streamed")
	}
	return streamed, whole
}

// Claim: the model of data that are read query by query, and of data in memory that are normalised as they
// are read, has the bytes of one of data in memory: for all learners that do so, scorers, transforms,
// normalizations, views, weights, validation and any number of workers.
func TestStreamedModelsAreTheSame(t *testing.T) {
	long.Test(t)
	learners := map[string]struct {
		loss    loss.Loss
		learner train.Learner
		weights bool
	}{
		"lbfgs":          {loss.RankNet{Sigma: 1}, train.LBFGS{C: 1, Iterations: 4}, true},
		"lbfgs net":      {loss.ListNet{}, train.LBFGS{Architecture: train.Network(3, 0), C: 1, Iterations: 3}, false},
		"logrank":        {logrank.MLE{}, train.LBFGS{C: 1, Iterations: 3}, false},
		"descent":        {loss.ListNet{}, train.Descent{Epochs: 2}, false},
		"descent net":    {loss.LambdaRank{Measure: measure.MustParse("ndcg@5", measure.LETOR3)}, train.Descent{Architecture: train.Network(4, 0), Epochs: 2, Batch: 5, Bag: 2}, false},
		"newton":         {loss.RankSVM{Squared: true, Weight: 0.1}, train.Newton{Iterations: 4}, true},
		"planes":         {loss.RankSVM{Weight: 0.1}, train.Planes{Iterations: 5}, false},
		"classification": {nil, train.Classification{C: 1, Iterations: 4}, true},
	}
	step, err := transform.ParseSpec("clip=1%:99%")
	if err != nil {
		t.Fatal(err)
	}
	prepared := []func(p *train.Problem){
		func(*train.Problem) {},
		func(p *train.Problem) { p.Normalization = dataset.ZScore },
		func(p *train.Problem) {
			p.Transforms, p.Normalization = []transform.Spec{step}, dataset.MinMax
			p.Views = dataset.Views{dataset.RawView, dataset.RankView}
		},
	}
	if testing.Short() {
		prepared = prepared[2:]
	}
	for name, l := range learners {
		for i, prepare := range prepared {
			for _, weighted := range []bool{false, true} {
				if weighted && !l.weights {
					continue
				}
				t.Run(fmt.Sprint(name, i, weighted), func(t *testing.T) {
					streamed, whole := streamedData(t, 1, weighted)
					validStreamed, valid := streamedData(t, 2, false)
					run := func(d, v *dataset.Dataset, maxBytes int64, workers int) []byte {
						p := &train.Problem{Data: d, Valid: v, Loss: l.loss, Learner: l.learner, Seed: 5, MaxBytes: maxBytes, Workers: workers}
						prepare(p)
						m, err := train.Run(t.Context(), p)
						if err != nil {
							t.Fatal(err)
						}
						var b bytes.Buffer
						if err := m.Write(&b); err != nil {
							t.Fatal(err)
						}
						return b.Bytes()
					}
					want := run(whole, valid, 0, 1)
					for _, workers := range []int{1, 3} {
						if !bytes.Equal(run(streamed, validStreamed, 600<<10, workers), want) {
							t.Errorf("%d workers: another model of streamed data", workers)
						}
						if !bytes.Equal(run(whole, validStreamed, 1100<<10, workers), want) {
							t.Errorf("%d workers: another model where features are made as they are read", workers)
						}
					}
				})
			}
		}
	}
}

// wholeLearner takes all features at once.
type wholeLearner struct{ train.LBFGS }

func (wholeLearner) Streams() bool { return false }

// Claim: a learner that takes all features at once refuses data that are read from a file, with the learners that do not,
// whatever the limit.
func TestStreamedRefused(t *testing.T) {
	streamed, whole := streamedData(t, 1, false)
	for _, p := range []*train.Problem{
		{Data: streamed, Learner: wholeLearner{}, Loss: loss.ListNet{}},
		{Data: whole, Valid: streamed, Learner: wholeLearner{}, Loss: loss.ListNet{}},
		{Data: streamed, Learner: train.Trees{Exact: true}, Loss: loss.ListNet{}},
		{Data: streamed, Learner: train.Trees{Sum: train.DARTTrees}, Loss: loss.ListNet{}},
		{Data: streamed, Learner: train.Trees{Sum: train.ForestTrees}, Loss: loss.ListNet{}},
		{Data: streamed, Learner: train.TreeClassification{Trees: train.Trees{Exact: true}}},
		{Data: whole, Learner: wholeLearner{}, Loss: loss.ListNet{}, MaxBytes: 700 << 10, Normalization: dataset.MinMax},
	} {
		_, err := train.Run(t.Context(), p)
		if !errors.Is(err, dataset.ErrTooLarge) || !strings.Contains(err.Error(), "the data do not fit into memory: found 120 queries with ") || !strings.HasSuffix(err.Error(), "a learner that reads them from disk ("+train.FromDisk+"), or raise the limit") {
			t.Errorf("%T: %v", p.Learner, err)
		}
	}
}

// Claim: what a learner holds is refused where it does not fit beside the features, whether they are in memory or read from
// a file, and before anything is read; a byte more is enough.
func TestEstimateIsKept(t *testing.T) {
	streamed, whole := streamedData(t, 1, false)
	var reads atomic.Int64 // several goroutines read
	counted := streamed.Through(dataset.Lens{Features: streamed.Features, Append: func(dst, x []float32) []float32 {
		reads.Add(1)
		return append(dst, x...)
	}})
	network := train.Descent{Architecture: train.Network(5000, scorer.Tanh), Epochs: 1}
	trees := train.Trees{Rounds: 1, Bag: 40, QueryFraction: .5, Options: tree.Options{Leaves: 3}}
	for name, p := range map[string]*train.Problem{
		"network":           {Data: whole, Learner: network, Loss: loss.ListNet{}, Workers: 2},
		"network from disk": {Data: counted, Learner: network, Loss: loss.ListNet{}, Workers: 2},
		"trees":             {Data: whole, Learner: trees, Loss: loss.ListNet{}},
		"trees from disk":   {Data: counted, Learner: trees, Loss: loss.ListNet{}},
	} {
		fits := func(limit int64) bool {
			p.MaxBytes = limit
			ctx, cancel := context.WithCancel(t.Context())
			cancel() // what fits is not learned from
			_, err := train.Run(ctx, p)
			return !errors.Is(err, dataset.ErrTooLarge)
		}
		limit := int64(sort.Search(1<<30, func(n int) bool { return fits(int64(n) + 1) })) + 1
		if held := 4 * int64(len(whole.X())); limit <= held && p.Data == whole || limit == 1<<30+1 {
			t.Errorf("%s: a limit of %d bytes is enough, beside %d of features", name, limit, held)
		}
		reads.Store(0)
		if fits(limit-1) || reads.Load() > 0 {
			t.Errorf("%s: %d bytes less than %d fit, %d reads", name, 1, limit, reads.Load())
		}
		if _, err := train.Run(t.Context(), &train.Problem{Data: p.Data, Learner: p.Learner, Loss: p.Loss, Workers: p.Workers, MaxBytes: limit}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Claim: what a loss holds of a long query is not taken for what it holds of short ones.
func TestLossHoldsLittleOfShortQueries(t *testing.T) {
	var b dataset.Builder
	for q := range 50_000 {
		docs := 3
		if q == 0 {
			docs = 20_000
		}
		x, grades := make([]float32, docs), make([]float64, docs)
		for i := range x {
			x[i], grades[i] = float32(i%7), float64(i%2)
		}
		if err := b.Add(strconv.Itoa(q), grades, x, nil); err != nil {
			t.Fatal(err)
		}
	}
	p := &train.Problem{Data: b.Dataset(), Loss: loss.ListNet{}, Learner: train.LBFGS{C: 1, Iterations: 1}, MaxBytes: 60 << 20}
	if _, err := train.Run(t.Context(), p); err != nil {
		t.Error(err)
	}
}

// Claim: a loss that holds more of all queries than there is memory is refused before it is bound, with
// an estimate; one that holds little is not.
func TestLossThatHoldsTooMuch(t *testing.T) {
	var b dataset.Builder
	for q := range 1400 {
		x, grades := make([]float32, 100), make([]float64, 100)
		for i := range x {
			x[i], grades[i] = float32(i%7), float64(i%2)
		}
		if err := b.Add(strconv.Itoa(q), grades, x, nil); err != nil {
			t.Fatal(err)
		}
	}
	d := b.Dataset()
	o := logrank.Options{Gain: measure.MustParse("map", measure.LETOR3).(measure.Additive), Form: logrank.Sampled}
	p := &train.Problem{Data: d, Loss: logrank.ConvexLoss{Options: o}, Learner: train.LBFGS{C: 1, Iterations: 1}, MaxBytes: 20 << 20}
	if _, err := train.Run(t.Context(), p); err == nil || !strings.Contains(err.Error(), "found 1400 queries with ") {
		t.Errorf("%v, want an error about what the loss holds", err)
	}
	p.Loss = loss.ListNet{}
	if _, err := train.Run(t.Context(), p); err != nil {
		t.Error(err)
	}
}
