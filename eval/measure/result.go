package measure

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
)

// Result has the values of measures for each query. So queries of several folds can be pooled, and
// systems can be compared. A Result is immutable and safe for concurrent use.
//
// Methods take a measure as an argument: one of Measures, or one that was passed to [Evaluate]. They
// panic for any other measure, such as one with the same name under another convention.
type Result struct {
	ties     TiePolicy
	given    []Measure // to Evaluate
	measures []Measure // with the thresholds that they were evaluated at
	queries  []string
	weights  []float64   // [query]; nil if all are 1
	values   [][]float64 // [measure][query]; NaN for a query left out
	neutral  [][]float64 // the same under TiesAverage
	pairs    []pairCount // [query]
}

// pairCount counts a query's pairs of differently graded documents.
type pairCount struct{ all, tied int64 }

func newResult(lists []list, given, measures []Measure, ties TiePolicy) *Result {
	r := &Result{ties: ties, given: slices.Clone(given), measures: measures, queries: make([]string, len(lists)), pairs: make([]pairCount, len(lists))}
	for i := range lists {
		r.queries[i] = lists[i].id
		if w := lists[i].weight; w != 1 && r.weights == nil {
			r.weights = slices.Repeat([]float64{1}, len(lists))
		}
		if r.weights != nil {
			r.weights[i] = lists[i].weight
		}
	}
	for range measures {
		r.values = append(r.values, make([]float64, len(lists)))
		r.neutral = append(r.neutral, make([]float64, len(lists)))
	}
	return r
}

// measureQuery fills in query i.
func (r *Result) measureQuery(i int, ranker *Ranker, measures []Averager, grades, scores []float64) {
	s := getScratch()
	defer s.put()
	ranked, ends := ranker.Rank(grades, scores)
	for m, a := range measures {
		r.values[m][i] = orNaN(ranker.value(a, ranked, ends))
	}
	tied := tiedPairs(s, ranked, ends)
	for m, a := range measures {
		r.neutral[m][i] = r.values[m][i]
		if tied > 0 {
			r.neutral[m][i] = orNaN(a.Average(ranked, ends))
		}
		if r.ties == TiesAverage {
			r.values[m][i] = r.neutral[m][i]
		}
	}
	r.pairs[i] = pairCount{all: unequalPairs(s, ranked), tied: tied}
}

// leaveOut sets all values of query i to those of a query that is left out.
func (r *Result) leaveOut(i int) {
	for m := range r.measures {
		r.values[m][i], r.neutral[m][i] = math.NaN(), math.NaN()
	}
}

func orNaN(value float64, ok bool) float64 {
	if !ok {
		return math.NaN()
	}
	return value
}

// tiedPairs counts the pairs of differently graded documents of equal score.
func tiedPairs(s *scratch, ranked []float64, ends []int) int64 {
	var tied int64
	start := 0
	for _, end := range ends {
		if end-start > 1 {
			tied += unequalPairs(s, ranked[start:end])
		}
		start = end
	}
	return tied
}

// Measures returns the measures in the order given to Evaluate, with the relevance
// threshold that they were evaluated at. The slice must not be changed.
func (r *Result) Measures() []Measure { return r.measures }

// Ties returns the tie policy of the values.
func (r *Result) Ties() TiePolicy { return r.ties }

// Queries returns the ids of all queries, counted or left out, in order.
func (r *Result) Queries() []string { return r.queries }

// Weights returns the weights of the queries in the order of Queries, nil if all are 1. The
// slice must not be changed.
func (r *Result) Weights() []float64 { return r.weights }

// PerQuery returns the values of a measure in the order of Queries, NaN for a
// query that is left out: by a skip convention, or because its weight is 0. The slice must not
// be changed.
func (r *Result) PerQuery(m Measure) []float64 { return r.values[r.index(m)] }

// Mean returns the mean of a measure over the queries that count, by their weights; NaN if
// none does.
func (r *Result) Mean(m Measure) float64 { return WeightedMean(r.PerQuery(m), r.weights) }

// Counted returns the number of queries that count in the mean of a measure;
// the others are left out by a skip convention or because their weight is 0.
func (r *Result) Counted(m Measure) int { return counted(r.PerQuery(m)) }

// TieNeutral returns the mean of a measure under TiesAverage: its expected value if ties are broken at
// random. It does not depend on the tie policy of the other values.
func (r *Result) TieNeutral(m Measure) float64 {
	return WeightedMean(r.TieNeutralPerQuery(m), r.weights)
}

// TieNeutralPerQuery is PerQuery under TiesAverage.
func (r *Result) TieNeutralPerQuery(m Measure) []float64 { return r.neutral[r.index(m)] }

func (r *Result) index(m Measure) int {
	if m != nil {
		for i := range r.measures {
			if identical(m, r.given[i]) || identical(m, r.measures[i]) {
				return i
			}
		}
		if i := slices.IndexFunc(r.measures, func(evaluated Measure) bool { return equal(m, evaluated) || becomes(m, evaluated) }); i >= 0 {
			return i
		}
	}
	panic(fmt.Sprintf("measure: the result has no %s, only %s", inFull(m), inFullAll(r.measures)))
}

// becomes reports whether a measure is m with the threshold that the data settled. A
// measure whose threshold was chosen is not: for m, the data may settle another.
func becomes(m, evaluated Measure) bool {
	c, settled := ConventionOf(m), ConventionOf(evaluated)
	if c.chosen != 0 || !settled.settled {
		return false
	}
	return equal(Under(m, c.WithThreshold(settled.Threshold())), evaluated)
}

// equal reports whether two measures have the same values: whether their thresholds were
// chosen or settled makes no difference.
func equal(a, b Measure) bool {
	return identical(a, b) || a.Name() == b.Name() && identical(withChoice(a), withChoice(b))
}

// withChoice returns the measure with a threshold that was settled as one that was chosen.
func withChoice(m Measure) Measure {
	c := ConventionOf(m)
	c.settled = false
	return Under(m, c)
}

// identical reports whether two measures are the same; those from elsewhere that cannot be
// compared are if they have the same name.
func identical(a, b Measure) bool {
	if a.Name() != b.Name() {
		return false
	}
	return !canCompare(a) || !canCompare(b) || a == b
}

// canCompare reports whether == is defined for a measure. It is for the measures of this package.
func canCompare(m Measure) bool { return Family(m) != "" || reflect.ValueOf(m).Comparable() }

// inFull is a measure's name and, if it is one of this package, its convention.
func inFull(m Measure) string {
	switch {
	case m == nil:
		return "nil measure"
	case Family(m) == "":
		return m.Name()
	}
	c := ConventionOf(m)
	if c.chosen == 0 {
		return fmt.Sprintf("%s (%s)", m.Name(), c.Name())
	}
	return fmt.Sprintf("%s (%s, relevant from %g)", m.Name(), c.Name(), c.chosen)
}

func inFullAll(measures []Measure) string {
	all := make([]string, len(measures))
	for i, m := range measures {
		all[i] = inFull(m)
	}
	return strings.Join(all, ", ")
}

// Mean returns the mean of the values that are numbers, added in order; NaN if
// there are none. It averages what PerQuery returns.
func Mean(values []float64) float64 {
	var sum float64
	for _, v := range values {
		if v == v {
			sum += v
		}
	}
	return sum / float64(counted(values))
}

// WeightedMean returns the mean of the values that are numbers, by weights, nil for 1: Σ w·v/Σ w,
// added in order; NaN if there are none. It averages what PerQuery returns.
func WeightedMean(values, weights []float64) float64 {
	if weights == nil {
		return Mean(values)
	}
	var sum, total float64
	for i, v := range values {
		if v == v {
			sum += float64(weights[i] * v)
			total += weights[i]
		}
	}
	return sum / total
}

func counted(values []float64) int {
	n := 0
	for _, v := range values {
		if v == v {
			n++
		}
	}
	return n
}

// TieStats says how much of a result depends on the order of tied documents.
type TieStats struct {
	Pairs   int64 // pairs of differently graded documents, over all queries
	Tied    int64 // those of equal score
	Queries int   // queries with any differently graded pair
	Over    int   // those of them in which more than NotableTies of the pairs tie
}

// NotableTies is the share of tied pairs from which on a warning is useful. Only pairs of documents with
// different grades count.
const NotableTies = 0.01

// Share returns the share of tied pairs, 0 if there is no pair.
func (t TieStats) Share() float64 { return share(t.Tied, t.Pairs) }

func share(tied, all int64) float64 {
	if all == 0 {
		return 0
	}
	return float64(tied) / float64(all)
}

// TieStats counts the ties of all queries.
func (r *Result) TieStats() TieStats {
	var t TieStats
	for i, p := range r.pairs {
		t.Pairs += p.all
		t.Tied += p.tied
		if p.all > 0 {
			t.Queries++
		}
		if r.TiedShare(i) > NotableTies {
			t.Over++
		}
	}
	return t
}

// TiedShare returns the share of query i's pairs of differently graded
// documents that have equal scores, 0 if it has no such pair.
func (r *Result) TiedShare(i int) float64 { return share(r.pairs[i].tied, r.pairs[i].all) }

// Pool combines the results of several folds into one over all their queries. Its Mean is the mean over
// all queries, while [MeanOverFolds] is the mean of the folds' means. Pool panics if the folds have
// different measures, tie policies or relevance thresholds. [ForAll] determines one threshold for all
// folds.
func Pool(folds ...*Result) *Result {
	pooled := &Result{}
	for i, f := range folds {
		if i == 0 {
			pooled.ties, pooled.given, pooled.measures = f.ties, f.given, f.measures
			pooled.values = make([][]float64, len(f.measures))
			pooled.neutral = make([][]float64, len(f.measures))
		} else if f.ties != pooled.ties || !slices.EqualFunc(f.measures, pooled.measures, equal) {
			panic(fmt.Sprintf("measure: only results of the same measures and tie policy can be pooled, not %s (ties %s) and %s (ties %s)",
				inFullAll(pooled.measures), pooled.ties, inFullAll(f.measures), f.ties))
		}
		pooled.addWeights(f)
		pooled.queries = append(pooled.queries, f.queries...)
		pooled.pairs = append(pooled.pairs, f.pairs...)
		for m := range f.measures {
			pooled.values[m] = append(pooled.values[m], f.values[m]...)
			pooled.neutral[m] = append(pooled.neutral[m], f.neutral[m]...)
		}
	}
	return pooled
}

// addWeights appends the weights of a fold's queries.
func (r *Result) addWeights(fold *Result) {
	ones := func(n int) []float64 { return slices.Repeat([]float64{1}, n) }
	if r.weights == nil && fold.weights != nil {
		r.weights = ones(len(r.queries))
	}
	switch {
	case fold.weights != nil:
		r.weights = append(r.weights, fold.weights...)
	case r.weights != nil:
		r.weights = append(r.weights, ones(len(fold.queries))...)
	}
}

// MeanOverFolds returns the mean of the folds' means of a measure: what LETOR
// publishes.
func MeanOverFolds(m Measure, folds ...*Result) float64 {
	means := make([]float64, len(folds))
	for i, f := range folds {
		means[i] = f.Mean(m)
	}
	return Mean(means)
}
