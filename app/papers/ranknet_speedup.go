package papers

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strconv"
	"time"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/synth"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/internal/elementary"
	"github.com/listwise/listwise/internal/kernel"
	"github.com/listwise/listwise/internal/random"
	"github.com/listwise/listwise/learn/loss"
	"github.com/listwise/listwise/learn/objective"
	"github.com/listwise/listwise/learn/optimize"
	"github.com/listwise/listwise/model/scorer"
	"github.com/listwise/listwise/tune"
)

func speedupExperiment() Experiment {
	return Experiment{
		Name:      "ranknet-speedup",
		Paper:     "LambdaRank",
		Title:     "RankNet's speed-up, forces accumulated per document (V2) against backpropagation pair by pair (V1): LambdaRank, section 6.1 and Figure 1",
		Shows:     "how much faster an epoch is once each document is propagated back once, and how time grows with the documents of a query",
		Data:      "artificial data",
		Scales:    "the number of queries",
		Picture:   "Figure 1, left",
		Untrained: "times and operations are compared",
		Run:       burgesSpeedup.run,
	}
}

// speedup describes the experiment.
type speedup struct {
	web     artificial // synthetic data in place of web data
	lists   int        // number of queries in the second part
	lengths []int      // numbers of documents in a query, ascending
	pairs   [2]int     // approximate numbers of pairs on which V1 and V2 are timed in the second part
	times   int        // number of timed epochs for each form
}

// burgesSpeedup has the paper's sizes. The paper says that "the number of documents per query
// varies from 4,000 to 512,000". The experiment reads this as the total number of documents of 1000
// queries. With lists of 512,000 documents, the loop over pairs would dominate V2's time, and its
// slope would be 2. The sizes between powers of 2 stabilize the slopes.
var burgesSpeedup = speedup{
	web: artificial{
		train: 1000, valid: 500, test: 1, docs: 26, features: 367, shares: burges2006.shares,
		rates: burges2006.rates, epochs: "30",
	},
	lists:   1000,
	lengths: []int{4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512},
	pairs:   [2]int{40_000, 1_000_000},
	times:   7,
}

// speedupNets are the paper's two kinds of nets.
var speedupNets = []layers{oneLayer, twoLayers}

// speedupTimes contains the results, by net.
type speedupTimes struct {
	sizes    speedup
	web      []lap
	curves   []curve
	learning []learning
}

// curve contains the times of a net at each list length.
type curve struct {
	laps  []lap
	work  [formCount]float64   // slope of the multiply-adds, by form
	times [formCount][]float64 // slopes of the times, by form and repetition
}

func (s speedup) run(ctx context.Context, o Options) (*Report, error) {
	s.web, s.lists = s.web.scaled(o), o.scaled(s.lists)
	t := speedupTimes{sizes: s, web: make([]lap, len(speedupNets)), curves: make([]curve, len(speedupNets)), learning: make([]learning, len(speedupNets))}
	web, err := s.web.data(o.Seed)
	if err != nil {
		return nil, err
	}
	for i, net := range speedupNets {
		if t.web[i], err = s.time(ctx, web.Train, net, s.web.train, o.Seed); err != nil {
			return nil, err
		}
		o.observe("web data", i+1, len(speedupNets))
	}
	for i, net := range speedupNets {
		if t.learning[i], err = s.web.learn(ctx, web, net, o.Seed); err != nil {
			return nil, err
		}
		o.observe("learning curves", i+1, len(speedupNets))
	}
	longest, err := synth.Cubic{Queries: s.lists, Docs: s.lengths[len(s.lengths)-1], Features: 50, Shares: synth.EqualShares(6), Polynomial: o.Seed, Seed: o.Seed}.Generate()
	if err != nil {
		return nil, err
	}
	for k, docs := range s.lengths {
		lists := longest.KeepDocs(func(_, doc int) bool { return doc < docs })
		for i, net := range speedupNets {
			l, err := s.time(ctx, lists.Subset(identity(s.timedQueries(docs, 1))), net, s.timedQueries(docs, 0), o.Seed)
			if err != nil {
				return nil, err
			}
			t.curves[i].laps = append(t.curves[i].laps, l)
		}
		o.observe("documents per query", k+1, len(s.lengths))
	}
	for i := range t.curves {
		t.curves[i].fit(s.lengths)
	}
	return t.report(o), nil
}

// time runs the race on d. V1 is timed only on the first queries of d.
func (s speedup) time(ctx context.Context, d *dataset.Dataset, l layers, first int, seed uint64) (lap, error) {
	r, err := newRace(d, l, first, seed)
	if err != nil {
		return lap{}, err
	}
	return r.run(ctx, s.times)
}

// timedQueries returns the number of queries on which a version is timed. It assumes that five
// sixths of all pairs have different grades.
func (s speedup) timedQueries(docs, version int) int {
	pairs := docs * (docs - 1) * 5 / 12
	return max(1, min(s.lists, s.pairs[version]/max(1, pairs)))
}

// fit sets the slopes of log time, and of log work, over the log number of documents.
func (c *curve) fit(lengths []int) {
	slope := func(value func(l *lap) float64) float64 {
		var x, y []float64
		for i := range c.laps {
			x, y = append(x, elementary.Log2(float64(lengths[i]))), append(y, elementary.Log2(value(&c.laps[i])))
		}
		return leastSquaresSlope(x, y)
	}
	for f := range c.work {
		c.work[f] = slope(func(l *lap) float64 { return l.work[f].multiplyAdds })
		for k := range c.laps[0].times[f] {
			c.times[f] = append(c.times[f], slope(func(l *lap) float64 { return l.times[f][k] }))
		}
	}
}

// leastSquaresSlope returns the slope of the least-squares line through the points.
func leastSquaresSlope(x, y []float64) float64 {
	var mx, my, sxy, sxx float64
	for i := range x {
		mx += x[i] / float64(len(x))
		my += y[i] / float64(len(x))
	}
	for i := range x {
		sxy += float64((x[i] - mx) * (y[i] - my))
		sxx += float64((x[i] - mx) * (x[i] - mx))
	}
	return sxy / sxx
}

// publishedSpeedup returns the paper's numbers by name.
func publishedSpeedup() map[string]float64 {
	_, rows := publishedTable("ranknet-speedup.csv")
	all := make(map[string]float64)
	for _, row := range rows {
		all[row[0]] = parse(row[1])
	}
	return all
}

// publishedGains returns the paper's ratios V1/V2, by net.
func publishedGains() []float64 {
	p := publishedSpeedup()
	return []float64{p["speedup_1_layer"], p["speedup_2_layer_10_hidden"]}
}

// publishedSlopes returns the published slopes of V1 and V2. The slopes of other forms are NaN.
func publishedSlopes() (slopes [formCount]float64) {
	p := publishedSpeedup()
	for f := range slopes {
		slopes[f] = math.NaN()
	}
	slopes[formV1], slopes[formV2] = p["loglog_slope_V1"], p["loglog_slope_V2"]
	return slopes
}

// spread returns the text with the smallest and the largest value.
func spread(x []float64, decimals int) string {
	return fmt.Sprintf("%.*f … %.*f", decimals, slices.Min(x), decimals, slices.Max(x))
}

// learning is the left panel of the paper's Figure 1 for a net. For each form and epoch it contains
// the largest validation NDCG@10 so far, and the training time so far.
type learning struct {
	rate    string
	start   float64 // validation NDCG@10 before the first epoch
	best    [formCount][]float64
	seconds [formCount][]float64
}

// learn trains a net with every form from the same start, by the paper's schedule. The rate is the
// best one for the fastest form.
func (a artificial) learn(ctx context.Context, f tune.Fold, net layers, seed uint64) (learning, error) {
	s := net.scorer(f.Train.Features)
	start := make([]float64, s.NumParams())
	s.Init(start, random.Stream(seed, "init", net.name))
	var l learning
	var err error
	if l.start, err = validationNDCG(f.Valid, s, start); err != nil {
		return l, err
	}
	forms, err := newForms(f.Train, s, len(f.Train.Queries))
	if err != nil {
		return l, err
	}
	epochs, err := strconv.Atoi(a.epochs)
	if err != nil {
		return l, err
	}
	most := math.Inf(-1)
	for _, rate := range a.rates {
		best, _, err := trainForm(ctx, &forms[formKept], f.Valid, s, start, parse(rate), epochs)
		if err != nil {
			return l, err
		}
		if last := best[epochs-1]; last > most {
			most, l.rate = last, rate
		}
	}
	for k := range forms {
		if l.best[k], l.seconds[k], err = trainForm(ctx, &forms[k], f.Valid, s, start, parse(l.rate), epochs); err != nil {
			return l, err
		}
	}
	return l, nil
}

// trainForm returns a form's learning curve. Its times exclude validation.
func trainForm(ctx context.Context, f *form, valid *dataset.Dataset, s scorer.Scorer, start []float64, rate float64, epochs int) (best, seconds []float64, err error) {
	w, before := slices.Clone(start), math.Inf(1)
	var took time.Duration
	most := math.Inf(-1)
	for range epochs {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		began := cpuTime()
		cost := f.epoch(w, rate)
		took += cpuTime() - began
		if cost > before {
			rate *= 0.8
		}
		before = cost
		value, err := validationNDCG(valid, s, w)
		if err != nil {
			return nil, nil, err
		}
		most = max(most, value)
		best, seconds = append(best, most), append(seconds, took.Seconds())
	}
	return best, seconds, nil
}

// validationNDCG returns the NDCG@10 of a net. A net that diverged to NaN scores has 0.
func validationNDCG(d *dataset.Dataset, s scorer.Scorer, w []float64) (float64, error) {
	m, err := measure.Parse("ndcg@10", standard, measure.Options{})
	if err != nil {
		return 0, err
	}
	scores := make([]float64, d.Docs())
	var ws scorer.Workspace
	for i := range d.Queries {
		q := &d.Queries[i]
		s.Score(scores[q.Start:q.Start+q.Len()], w, q.X, &ws)
	}
	if slices.ContainsFunc(scores, math.IsNaN) {
		return 0, nil
	}
	r, err := measure.Evaluate(d, scores, []measure.Measure{m}, measure.TiesInput)
	if err != nil {
		return 0, err
	}
	return r.Mean(m), nil
}

// apart returns the largest difference between the curves of two forms at an epoch.
func (l *learning) apart(a, b int) float64 { return largestDifference(l.best[a], l.best[b]) }

// risen returns the smallest rise of the curves of forms above the start.
func (l *learning) risen(forms ...int) float64 {
	least := math.Inf(1)
	for _, f := range forms {
		least = min(least, l.best[f][len(l.best[f])-1]-l.start)
	}
	return least
}

// layers is one of the paper's two kinds of nets.
type layers struct {
	name   string
	scorer func(features int) scorer.Scorer
}

var (
	oneLayer  = layers{"one layer", func(features int) scorer.Scorer { return scorer.Linear{Features: features} }}
	twoLayers = layers{"two layers, 10 hidden", func(features int) scorer.Scorer { return scorer.Network{Features: features, Hidden: 10} }}
)

// The forms of RankNet's epoch. V1 and V2 differ only by the refactored sum of the paper's eq. 7.
// The other two forms differ in the time of updates, and by footnote 3.
const (
	formPairs = iota // V1 with an update for each pair
	formV1           // V1 with an update for each query; compared with V2
	formV2           // V2 as printed in section 5
	formKept         // V2 with footnote 3: the implementation of --method ranknet
	formCount
)

var formNames = [formCount]string{"V1, update a pair", "V1", "V2", "V2, footnote 3"}

// form is a form of the epoch for certain data.
type form struct {
	terms optimize.Terms
	pairs *objective.PairByPair // set if every pair has an update; otherwise nil
	grad  []float64
}

// epoch passes over the queries once and updates w. It returns the sum of the training costs before
// each update.
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

// newForms returns all forms for a scorer and data. V1 uses the first queries only.
func newForms(d *dataset.Dataset, s scorer.Scorer, first int) (forms [formCount]form, err error) {
	few := d
	if first < len(d.Queries) {
		few = d.Subset(identity(first))
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

// race contains all forms for a net and a data set, with a common start.
type race struct {
	forms [formCount]form
	start []float64
	work  [formCount]work
}

// work counts the operations of a form in an epoch, as means per query.
type work struct {
	forward, back float64 // passes of a document through the net
	exponentials  float64 // exponentials in the forces
	multiplyAdds  float64 // multiply-adds of passes and updates: one per parameter each
}

// countedScorer is a scorer that counts the documents in its passes.
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

// newRace returns a race on d. V1 uses the given number of first queries, and V2 uses all queries.
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

// count runs an epoch of every form and counts its operations.
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
			exponentials = countPairs(d, first) // each pair's force needs one exponential
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

// countPairs returns the number of pairs with different grades in the first queries.
func countPairs(d *dataset.Dataset, first int) (pairs int) {
	for i := range min(first, len(d.Queries)) {
		for range loss.Pairs(d.Queries[i].Grades) {
			pairs++
		}
	}
	return pairs
}

// speedupRate is small enough for every net and list length here. Times do not depend on the rate.
const speedupRate = 1e-6

// lap is the result of one race.
type lap struct {
	work      [formCount]work
	times     [formCount][]float64 // nanoseconds per query, by repetition
	disagreed float64              // largest difference of a weight from V2's after an epoch, divided by the largest step; NaN if the queries differ
}

// took returns the median time of a form, in nanoseconds per query.
func (l *lap) took(f int) float64 { return median(l.times[f]) }

// ratios returns the ratio of two forms' times in each repetition.
func (l *lap) ratios(of, to int) []float64 {
	all := make([]float64, len(l.times[of]))
	for k := range all {
		all[k] = l.times[of][k] / l.times[to][k]
	}
	return all
}

// run times epochs of all forms in turn, so that a slowdown of the machine affects all of them. The
// first epoch of each form is not timed.
func (r *race) run(ctx context.Context, times int) (lap, error) {
	l := lap{work: r.work, disagreed: math.NaN()}
	for k := range times + 1 {
		runtime.GC() // collect garbage outside the timed epochs
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

// shortest is the smallest total time that is accurate enough.
const shortest = 20 * time.Millisecond

// repeat runs epochs from the start until their total time reaches shortest. It returns the weights
// after one epoch, and the mean time of an epoch in nanoseconds per query.
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

// median returns the median of x. For an even number of values it is the mean of the two middle
// ones.
func median(x []float64) float64 {
	x = slices.Sorted(slices.Values(x))
	n := len(x)
	return (x[(n-1)/2] + x[n/2]) / 2
}
