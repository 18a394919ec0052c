package measure

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
)

// Result contains the values of measures for each query, so that queries of several folds can be pooled
// and systems can be compared. A Result is immutable and safe for concurrent use.
//
// The methods accept the measures that were passed to [Evaluate], and those that Measures returns. They
// panic for any other measure, such as one with the same name under another convention.
type Result struct {
	ties     TiePolicy
	given    []Measure // measures passed to Evaluate
	measures []Measure // given, with the relevance thresholds for the data
	queries  []string
	weights  []float64   // [query]; nil if all are 1
	values   [][]float64 // [measure][query]; NaN for an excluded query
	neutral  [][]float64 // [measure][query]: the values under TiesAverage
	pairs    []pairCount // [query]
}

// pairCount counts a query's pairs of documents with different grades, and the pairs among them with
// equal scores.
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

// measureQuery sets the values for query i.
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

// leaveOut marks query i as excluded from the means of all measures.
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

// tiedPairs returns the number of pairs of documents with different grades and equal scores.
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

// Measures returns the measures in the order in which Evaluate got them, with their relevance
// thresholds. The caller must not change the slice.
func (r *Result) Measures() []Measure { return r.measures }

// Ties returns the tie policy of the values.
func (r *Result) Ties() TiePolicy { return r.ties }

// Queries returns the ids of all queries in order, including queries excluded from means.
func (r *Result) Queries() []string { return r.queries }

// Weights returns the weights of the queries in the order of Queries, or nil if all are 1. The caller
// must not change the slice.
func (r *Result) Weights() []float64 { return r.weights }

// PerQuery returns the values of a measure in the order of Queries. The value is NaN for a query that
// is excluded by a skip convention or because its weight is 0. The caller must not change the slice.
func (r *Result) PerQuery(m Measure) []float64 { return r.values[r.index(m)] }

// Mean returns the weighted mean of a measure over the queries that are not excluded. It returns NaN if
// all are excluded.
func (r *Result) Mean(m Measure) float64 { return WeightedMean(r.PerQuery(m), r.weights) }

// Counted returns the number of queries in the mean of a measure. The others are excluded by a skip
// convention or because their weight is 0.
func (r *Result) Counted(m Measure) int { return counted(r.PerQuery(m)) }

// TieNeutral returns the mean of a measure under TiesAverage, which is its expected value if ties are
// broken at random. It does not depend on the result's tie policy.
func (r *Result) TieNeutral(m Measure) float64 {
	return WeightedMean(r.TieNeutralPerQuery(m), r.weights)
}

// TieNeutralPerQuery returns the values of a measure under TiesAverage in the order of Queries. The
// value is NaN for an excluded query.
func (r *Result) TieNeutralPerQuery(m Measure) []float64 { return r.neutral[r.index(m)] }

func (r *Result) index(m Measure) int {
	i := r.find(m)
	if i < 0 {
		panic("measure: " + r.lacks(m).Error())
	}
	return i
}

// find returns the index of a measure in the result, or -1.
func (r *Result) find(m Measure) int {
	if m == nil {
		return -1
	}
	for i := range r.measures {
		if identical(m, r.given[i]) || identical(m, r.measures[i]) {
			return i
		}
	}
	return slices.IndexFunc(r.measures, func(evaluated Measure) bool { return equal(m, evaluated) || becomes(m, evaluated) })
}

// lacks returns the error for a measure that the result does not have.
func (r *Result) lacks(m Measure) error {
	return fmt.Errorf("the result has no %s, only %s", inFull(m), inFullAll(r.measures))
}

// becomes reports whether evaluated is m with the relevance threshold that For derived from the data.
// It is false if the caller chose the threshold of m or evaluated.
func becomes(m, evaluated Measure) bool {
	c, settled := ConventionOf(m), ConventionOf(evaluated)
	if c.chosen != 0 || !settled.settled {
		return false
	}
	return equal(Under(m, c.WithThreshold(settled.Threshold())), evaluated)
}

// equal reports whether two measures always have the same values. It ignores whether their thresholds
// were chosen or derived from the data.
func equal(a, b Measure) bool {
	return identical(a, b) || a.Name() == b.Name() && identical(withChoice(a), withChoice(b))
}

// withChoice returns the measure with its threshold marked as chosen, even if it was derived from the
// data.
func withChoice(m Measure) Measure {
	c := ConventionOf(m)
	c.settled = false
	return Under(m, c)
}

// identical reports whether two measures are the same. Measures of other packages that cannot be
// compared with == are the same if their names are equal.
func identical(a, b Measure) bool {
	if a.Name() != b.Name() {
		return false
	}
	return !canCompare(a) || !canCompare(b) || a == b
}

// canCompare reports whether == is defined for m, as it is for all measures of this package.
func canCompare(m Measure) bool { return Family(m) != "" || reflect.ValueOf(m).Comparable() }

// inFull returns a measure's name and, for a measure of this package, its convention and chosen
// threshold.
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

// Mean returns the mean of the values other than NaN, added in order. It returns NaN if there are none.
// PerQuery returns such values.
func Mean(values []float64) float64 {
	var sum float64
	for _, v := range values {
		if v == v {
			sum += v
		}
	}
	return sum / float64(counted(values))
}

// WeightedMean returns Σ w·v/Σ w over the values v other than NaN, added in order. nil weights are all
// 1. It returns NaN if all values are NaN.
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

// TieStats describes how much of a result depends on the order of documents with equal scores.
type TieStats struct {
	Pairs   int64 // pairs of documents with different grades, over all queries
	Tied    int64 // pairs among these with equal scores
	Queries int   // queries with at least one such pair
	Over    int   // queries in which more than NotableTies of these pairs are tied
}

// NotableTies is the share of tied pairs above which a warning is useful. Only pairs of documents with
// different grades count.
const NotableTies = 0.01

// Share returns the share of tied pairs, or 0 without pairs.
func (t TieStats) Share() float64 { return share(t.Tied, t.Pairs) }

func share(tied, all int64) float64 {
	if all == 0 {
		return 0
	}
	return float64(tied) / float64(all)
}

// TieStats returns statistics of the ties in all queries.
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

// TiedShare returns the share of tied pairs among query i's pairs of documents with different grades.
// It returns 0 if there is no such pair.
func (r *Result) TiedShare(i int) float64 { return share(r.pairs[i].tied, r.pairs[i].all) }

// Pool combines the results of several folds into one result for all their queries. The Mean of the
// pool is the mean over all queries, while [MeanOverFolds] is the mean of the folds' means. Pool panics
// if the folds have different measures, tie policies or relevance thresholds. [ForAll] determines
// common thresholds for all folds.
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

// addWeights appends the weights of the fold's queries. It is called before the queries are appended.
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

// MeanOverFolds returns the mean of the folds' means of a measure. LETOR publishes such means.
func MeanOverFolds(m Measure, folds ...*Result) float64 {
	means := make([]float64, len(folds))
	for i, f := range folds {
		means[i] = f.Mean(m)
	}
	return Mean(means)
}
