package train_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/cache"
	"github.com/listwise/listwise/dataset/datafile"
	"github.com/listwise/listwise/dataset/transform"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/learn/loss"
	"github.com/listwise/listwise/learn/loss/logrank"
	"github.com/listwise/listwise/learn/objective"
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
	if err := cache.Write(path, whole); err != nil {
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

// Claim: a learner that takes all features at once, or holds too much of each document, says what it would need, before
// it begins.
func TestStreamedRefused(t *testing.T) {
	streamed, whole := streamedData(t, 1, false)
	for _, p := range []*train.Problem{
		{Data: streamed, Learner: wholeLearner{}, Loss: loss.ListNet{}, MaxBytes: 600 << 10},
		{Data: streamed, Learner: train.Trees{Exact: true, Options: tree.Options{Leaves: 4}}, Loss: loss.ListNet{}, MaxBytes: 150 << 10},
		{Data: streamed, Learner: train.TreeClassification{Trees: train.Trees{Options: tree.Options{Leaves: 4}}}, MaxBytes: 150 << 10},
		{Data: streamed, Learner: train.Trees{Sum: train.DARTTrees, Options: tree.Options{Leaves: 4}}, Loss: loss.ListNet{}, MaxBytes: 100 << 10},
		{Data: streamed, Learner: train.Trees{Options: tree.Options{Leaves: 4}}, Loss: loss.ListNet{}, MaxBytes: 100 << 10},
		{Data: whole, Learner: wholeLearner{}, Loss: loss.ListNet{}, MaxBytes: 700 << 10, Normalization: dataset.MinMax},
	} {
		if _, err := train.Run(t.Context(), p); err == nil {
			t.Error("no error")
		} else if text := err.Error(); !bytes.Contains([]byte(text), []byte("raise the limit")) {
			t.Error(text)
		}
	}
}

// Claim: where the longest query does not fit for every worker, fewer of them read, with the same model; it is refused
// where it does not fit for one.
func TestAsManyWorkersAsQueriesFit(t *testing.T) {
	streamed, whole := streamedData(t, 1, false)
	run := func(d *dataset.Dataset, maxBytes int64) ([]byte, error) {
		m, err := train.Run(t.Context(), &train.Problem{Data: d, Loss: loss.ListNet{}, Learner: train.LBFGS{C: 1, Iterations: 3}, MaxBytes: maxBytes, Workers: 7})
		if err != nil {
			return nil, err
		}
		var b bytes.Buffer
		err = m.Write(&b)
		return b.Bytes(), err
	}
	want, err := run(whole, 0)
	if err != nil {
		t.Fatal(err)
	}
	one := 4 * 5 * 61 * int64(streamed.LongestQuery())
	for _, limit := range []int64{one, 2 * one, 6 * one, 8 * one} {
		if got, err := run(streamed, limit); err != nil || !bytes.Equal(got, want) {
			t.Errorf("limit of %d longest queries: another model, error %v", limit/one, err)
		}
	}
	if _, err := run(streamed, one-1); !errors.Is(err, dataset.ErrTooLarge) {
		t.Errorf("a query that does not fit: error %v, want ErrTooLarge", err)
	}
}

// Claim: of data in memory, too, fewer workers learn where what a network holds of the longest query does not fit for every
// one, with the same model; it is refused where it does not fit for one.
func TestAsManyWorkersAsNetworksFit(t *testing.T) {
	_, whole := streamedData(t, 1, false)
	run := func(maxBytes int64) ([]byte, error) {
		m, err := train.Run(t.Context(), &train.Problem{
			Data: whole, Loss: loss.ListNet{}, Learner: train.Descent{Architecture: train.Network(10, scorer.Tanh), Epochs: 2, Batch: 9}, MaxBytes: maxBytes, Workers: 7,
		})
		if err != nil {
			return nil, err
		}
		var b bytes.Buffer
		err = m.Write(&b)
		return b.Bytes(), err
	}
	want, err := run(0)
	if err != nil {
		t.Fatal(err)
	}
	held, one := int64(4*len(whole.X())), int64(64+2*8*10)*int64(whole.LongestQuery())
	for _, workers := range []int64{1, 2, 6, 8} {
		if got, err := run(held + workers*one); err != nil || !bytes.Equal(got, want) {
			t.Errorf("memory for %d workers: another model, error %v", workers, err)
		}
	}
	if _, err := run(held + one - 1); !errors.Is(err, dataset.ErrTooLarge) {
		t.Errorf("a query that does not fit: error %v, want ErrTooLarge", err)
	}
}

// Claim: judging by some queries what a loss holds, or whether it has second derivatives, reads no features and copies none.
func TestJudgingLossesReadsNoFeatures(t *testing.T) {
	streamed, whole := streamedData(t, 1, false)
	reads := 0
	counted := streamed.Through(dataset.Lens{Features: streamed.Features, Append: func(dst, x []float32) []float32 {
		reads++
		return append(dst, x...)
	}})
	for name, d := range map[string]*dataset.Dataset{"streamed": counted, "whole": whole} {
		some := train.JudgedOf(d, []int{0, 3, 5})
		for _, l := range []loss.Loss{loss.ListNet{}, loss.LambdaRank{Measure: measure.MustParse("ndcg@10", measure.LETOR3)}} { // the second draws an order of ties
			if _, err := objective.NewFunctional(some, l, 1, 1, nil); err != nil || reads > 0 || some.X() != nil {
				t.Errorf("%s, %T: error %v, %d reads, %d features copied", name, l, err, reads, len(some.X()))
			}
		}
		if some.Queries[1].ID != d.Queries[3].ID || !slices.Equal(some.Queries[2].Grades, d.Queries[5].Grades) {
			t.Errorf("%s: other queries", name)
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
	if _, err := train.Run(t.Context(), p); err == nil || !strings.Contains(err.Error(), "1400 queries of which the loss holds about ") {
		t.Errorf("%v, want an error about what the loss holds", err)
	}
	p.Loss = loss.ListNet{}
	if _, err := train.Run(t.Context(), p); err != nil {
		t.Error(err)
	}
}
