package papers

import (
	"context"
	"math"
	"runtime"
	"slices"
	"time"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/internal/kernel"
	"github.com/listwise/listwise/internal/random"
	"github.com/listwise/listwise/learn/loss"
	"github.com/listwise/listwise/learn/objective"
	"github.com/listwise/listwise/learn/optimize"
	"github.com/listwise/listwise/model/scorer"
)

// layers are the paper's two kinds of nets.
type layers struct {
	name   string
	scorer func(features int) scorer.Scorer
}

var (
	oneLayer  = layers{"one layer", func(features int) scorer.Scorer { return scorer.Linear{Features: features} }}
	twoLayers = layers{"two layers, 10 hidden", func(features int) scorer.Scorer { return scorer.Network{Features: features, Hidden: 10} }}
)

// The forms of RankNet's epoch. V1 and V2 differ by the refactored sum of the paper's eq. 7
// alone; the others by when weights are updated, and by footnote 3.
const (
	formPairs = iota // V1 with an update a pair
	formV1           // V1: an update a query, which is what is compared with V2
	formV2           // V2 as section 5 prints it
	formKept         // V2 with footnote 3: what --method ranknet does
	formCount
)

var formNames = [formCount]string{"V1, update a pair", "V1", "V2", "V2, footnote 3"}

// form is one of them, bound to data.
type form struct {
	terms optimize.Terms
	pairs *objective.PairByPair // for an update a pair; otherwise nil
	grad  []float64
}

// epoch makes one pass over the queries, with its updates of w, and returns the training
// cost that it met.
func (f *form) epoch(w []float64, rate float64) (cost float64) {
	for i := range f.terms.Terms() {
		if f.pairs != nil {
			cost += f.pairs.DescendTerm(i, rate, w)
			continue
		}
		clear(f.grad)
		cost += f.terms.EvalTerm(i, w, f.grad)
		kernel.Axpy(-rate, f.grad, w)
	}
	return cost
}

// newForms binds all forms to a scorer and data, those of V1 to the first queries only.
func newForms(d *dataset.Dataset, s scorer.Scorer, first int) (forms [formCount]form, err error) {
	few := d
	if first < len(d.Queries) {
		few = d.Subset(upTo(first))
	}
	pairs, err := objective.NewPairByPair(few, s, loss.RankNet{})
	if err != nil {
		return forms, err
	}
	documents, err := objective.NewPerDocument(d, s, loss.RankNet{})
	if err != nil {
		return forms, err
	}
	kept, err := objective.New(d, s, loss.RankNet{}, objective.Options{Workers: 1})
	if err != nil {
		return forms, err
	}
	forms = [formCount]form{formPairs: {terms: pairs, pairs: pairs}, formV1: {terms: pairs}, formV2: {terms: documents}, formKept: {terms: kept}}
	for f := range forms {
		forms[f].grad = make([]float64, s.NumParams())
	}
	return forms, nil
}

// race is one net and one set of data, trained by all forms from the same start.
type race struct {
	forms [formCount]form
	start []float64
	work  [formCount]work
}

// work is what a form does in an epoch, a query in the mean.
type work struct {
	forward, back float64 // passes of a document through the net
	exponentials  float64 // of the forces
	multiplyAdds  float64 // of passes and updates: one a parameter each
}

// countedScorer is a scorer that counts the documents it passes.
type countedScorer struct {
	scorer.Scorer
	forward, back *int
}

func (c countedScorer) Score(dst, params []float64, x []float32, ws *scorer.Workspace) {
	*c.forward += len(dst)
	c.Scorer.Score(dst, params, x, ws)
}

func (c countedScorer) Backward(grad, params []float64, x []float32, lambda []float64, ws *scorer.Workspace) {
	*c.back += len(lambda)
	c.Scorer.Backward(grad, params, x, lambda, ws)
}

// newRace uses all queries for V2 and only the given number of first queries for V1.
func newRace(d *dataset.Dataset, l layers, first int, seed uint64) (*race, error) {
	s := l.scorer(d.Features)
	r := &race{start: make([]float64, s.NumParams())}
	s.Init(r.start, random.Stream(seed, "init", l.name))
	var err error
	if r.forms, err = newForms(d, s, first); err != nil {
		return nil, err
	}
	return r, r.count(d, s, first)
}

// count runs an epoch of every form and counts its passes.
func (r *race) count(d *dataset.Dataset, s scorer.Scorer, first int) error {
	var forward, back int
	forms, err := newForms(d, countedScorer{s, &forward, &back}, first)
	if err != nil {
		return err
	}
	for f := range forms {
		forward, back = 0, 0
		forms[f].epoch(slices.Clone(r.start), speedupRate)
		queries, updates, exponentials := forms[f].terms.Terms(), forms[f].terms.Terms(), forward
		if f != formKept {
			exponentials = countPairs(d, first) // every pair's force has one
			switch f {
			case formPairs:
				updates = exponentials
			case formV2:
				exponentials = countPairs(d, len(d.Queries))
			}
		}
		n := float64(queries)
		r.work[f] = work{
			forward: float64(forward) / n, back: float64(back) / n, exponentials: float64(exponentials) / n,
			multiplyAdds: float64(forward+back+updates) * float64(len(r.start)) / n,
		}
	}
	return nil
}

// countPairs returns the number of differently graded pairs of the first queries.
func countPairs(d *dataset.Dataset, first int) (pairs int) {
	for i := range min(first, len(d.Queries)) {
		for range loss.Pairs(d.Queries[i].Grades) {
			pairs++
		}
	}
	return pairs
}

// upTo returns 0 … n−1.
func upTo(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// speedupRate is small enough for every net and length of list here; no time
// depends on it.
const speedupRate = 1e-6

// lap is what one race took.
type lap struct {
	work      [formCount]work
	times     [formCount][]float64 // nanoseconds a query, by repetition
	disagreed float64              // the largest difference of a weight after an epoch from V2's, in terms of the largest step; NaN if the queries differ
}

// took is the median time of a form, in nanoseconds a query.
func (l *lap) took(f int) float64 { return median(l.times[f]) }

// ratios are those of the times of two forms, which follow each other in a repetition.
func (l *lap) ratios(of, to int) []float64 {
	all := make([]float64, len(l.times[of]))
	for k := range all {
		all[k] = l.times[of][k] / l.times[to][k]
	}
	return all
}

// run times epochs of all forms in turn, so that anything that slows the machine down
// affects all. Before the first ones that count each has been run once.
func (r *race) run(ctx context.Context, times int) (lap, error) {
	l := lap{work: r.work, disagreed: math.NaN()}
	for k := range times + 1 {
		runtime.GC() // not within an epoch
		var ends [formCount][]float64
		for f := range r.forms {
			if err := ctx.Err(); err != nil {
				return l, err
			}
			end, took := r.repeat(&r.forms[f])
			ends[f] = end
			if k > 0 {
				l.times[f] = append(l.times[f], took)
			}
		}
		if k == 0 && r.forms[formV1].terms.Terms() == r.forms[formV2].terms.Terms() {
			step := largestDifference(ends[formV2], r.start)
			l.disagreed = max(largestDifference(ends[formV1], ends[formV2]), largestDifference(ends[formKept], ends[formV2])) / step
		}
	}
	return l, nil
}

// shortest is the time below which one epoch is too little to be timed.
const shortest = 20 * time.Millisecond

// repeat runs as many epochs from the start as take a while and returns the weights after
// one and the nanoseconds a query.
func (r *race) repeat(f *form) (x []float64, perQuery float64) {
	var all time.Duration
	epochs := 0
	for all < shortest {
		x = slices.Clone(r.start)
		began := cpuTime()
		f.epoch(x, speedupRate)
		all += cpuTime() - began
		epochs++
	}
	return x, float64(all.Nanoseconds()) / float64(epochs*f.terms.Terms())
}

var processStart = time.Now()

func largestDifference(a, b []float64) float64 {
	most := 0.0
	for i, v := range a {
		most = max(most, math.Abs(v-b[i]))
	}
	return most
}

// median returns the middle of x, or the mean of the two there.
func median(x []float64) float64 {
	x = slices.Sorted(slices.Values(x))
	n := len(x)
	return (x[(n-1)/2] + x[n/2]) / 2
}
