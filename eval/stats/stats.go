// Package stats tests whether systems measured on the same queries differ by more than chance. It
// computes paired tests, intervals, corrections for many comparisons and effect sizes.
//
// Start reading at [Compare], which computes all of these from a matrix with a value per system and
// query. [CompareRuns] takes several runs of each system. For a single difference without tests of
// many systems there are [Paired], and [Between] for several runs. Every other file has one subject. A system is a ranking of the documents of all queries,
// and its value on a query is a measure such as NDCG. If a system is trained several times with
// different random seeds, the training is called a method, and each result a run.
//
// The sampling unit is the query. Do not test means of folds: folds share training data, so their means
// are dependent, and there are few folds (Dietterich 1998, Neural Computation 10(7)). Pool the queries
// of all test folds instead. The package must not depend on what the values measure.
package stats

import (
	"fmt"
	"math"
	"sync/atomic"
)

const (
	// Level is the coverage of all intervals.
	Level = 0.95

	// Alpha is the corresponding two-sided significance level.
	Alpha = 1 - Level

	// Power is the probability that a t-test is significant if the true difference is
	// [Pair].Detectable.
	Power = 0.8
)

// Same is the largest difference of two values that count as equal. Means over runs may be sums in
// different orders, so means that are mathematically equal may differ in the last bits.
const Same = 1e-12

// DefaultPermutations and DefaultResamples are the defaults of [Config]. With DefaultPermutations
// random sign flips, a p value of 0.05 has a standard error of 0.0007.
const (
	DefaultPermutations = 100_000 // random sign flips of the randomisation test
	DefaultResamples    = 10_000  // samples of the bootstrap
)

// Config defines the comparisons and the number of random draws. The zero value compares all systems
// with the first.
type Config struct {
	// Weights has the weight of each query, for weighted means of values and differences. All
	// weights are positive. nil means that all are 1.
	Weights []float64

	// Range is the range of the values, such as 0 to 1. An interval of a mean is cut off at its ends,
	// and an interval of a difference at its length. No other mean is possible, so the interval
	// contains the true mean as often as before (Newcombe 1998, Statistics in Medicine 17). The zero
	// value sets no limit.
	Range Interval

	Baseline     int    // index of the system to compare all others with; −1: compare every pair
	Permutations int    // number of random sign flips if there are more than ExactQueries queries; 0: DefaultPermutations
	Resamples    int    // number of bootstrap samples; 0: DefaultResamples
	Seed         uint64 // random seed
	Workers      int    // number of goroutines, which does not change the result; 0: GOMAXPROCS

	// Observe, if not nil, is called from time to time with the number of completed sign flips and
	// bootstrap samples, and their total. Several goroutines call it.
	Observe func(done, total int)

	done *atomic.Int64 // number of completed flips and samples
}

// tell adds n to the number of completed flips and samples, and calls Observe.
func (c *Config) tell(n int) {
	if c.Observe != nil {
		total := c.Permutations + c.Resamples
		c.Observe(min(int(c.done.Add(int64(n))), total), total)
	}
}

// Comparison is the result of Compare.
type Comparison struct {
	Queries      int      // number of compared queries
	Systems      []System // in the order of Compare's values
	Pairs        []Pair   // the compared pairs; p values are corrected over all of them
	Permutations int      // number of sign flips, random or enumerated
	Exact        bool     // all sign flips were enumerated
}

// System contains the mean of a system over the queries.
type System struct {
	Mean     float64  // mean over the queries, weighted by Config.Weights
	Interval Interval // of the mean
}

// Interval is a confidence interval with the coverage [Level]. It is [Unbounded] if there are too few
// values to estimate it.
type Interval struct {
	Low, High float64 // the ends, in the unit of the values
}

// Unbounded is the interval of all numbers.
var Unbounded = Interval{math.Inf(-1), math.Inf(1)}

// Pair describes the difference of two systems, A minus B, over the queries. The pairs of a [Comparison]
// are one family of tests: the corrected p values of a pair depend on the other pairs.
type Pair struct {
	A, B       int      // indices of systems
	Difference float64  // mean of A minus mean of B
	Interval   Interval // differences that the randomisation test does not reject
	Claim      Claim    // the claim to which Interval and all p values refer

	T TTest // t-test of the difference

	// Randomization has the p values of Fisher's randomisation test, which flips the signs of the queries'
	// differences (Fisher 1935; Smucker, Allan and Carterette, CIKM 2007).
	Randomization Test

	// Bootstrap has the p values of the bootstrap-shift test, which resamples the queries (Noreen 1989;
	// Smucker, Allan and Carterette, CIKM 2007). MaxT is NaN.
	Bootstrap Test

	Wins, Ties, Losses int // number of queries on which A is better than B, equal to B, worse than B

	// CohenD is the effect size d: the mean of the queries' differences, divided by their standard deviation
	// (Cohen 1988, section 2.3.5). It is NaN if all differences are equal.
	CohenD float64

	// HedgesG is the effect size g: CohenD, corrected for its bias in small samples (Hedges 1981).
	HedgesG float64

	// Detectable is the least true difference that a t-test finds significant with probability [Power],
	// given the same numbers of queries and runs and the same variance.
	Detectable float64
}

// Test contains the two-sided p values of a test for one pair, from 0 to 1. P is for a pair that was chosen
// before the data were seen. With several pairs, use Holm or MaxT. If only pairs with a corrected value ≤ α
// are reported, the probability of any false report is at most α.
type Test struct {
	P    float64 // p value of this pair alone
	Holm float64 // P, corrected over all pairs by Holm's procedure, see the function Holm
	MaxT float64 // P, corrected over all pairs by their joint distribution (step-down max-T, Westfall and Young 1993)
}

// Compare compares systems with one run each, as [CompareRuns] does. values[i][q] is the value of
// system i on query q.
func Compare(values [][]float64, c Config) (*Comparison, error) {
	runs := make([][][]float64, len(values))
	for i := range values {
		runs[i] = values[i : i+1]
	}
	return CompareRuns(runs, c)
}

// CompareRuns compares systems by their values on the same queries. runs[i][r][q] is the value of run r
// of system i on query q.
//
// Several runs of a system are trainings of one method with different random seeds. The p values
// and intervals then also account for the variation between seeds; see [Claim]. A system with one
// run is treated as deterministic. In the crossed model of Q queries and R runs, the variance of a
// difference of means is
//
//	V = max(0, s²(queries)/Q − Σ s²(both)/QR) + Σ s²(runs)/R
//
// with the terms of [Between]. The first part has Q − 1 degrees of freedom. The second part has
// Welch's, which may be as few as 1. If the first part would be negative, the second is reduced instead.
// [Between] truncates the second part at 0, so its p values are too small with two runs.
//
// CompareRuns returns an error for fewer than two systems or queries, systems without runs, lists of
// different lengths, values that are not finite, and settings out of range.
func CompareRuns(runs [][][]float64, c Config) (*Comparison, error) {
	if c.Permutations == 0 {
		c.Permutations = DefaultPermutations
	}
	if c.Resamples == 0 {
		c.Resamples = DefaultResamples
	}
	values, err := averages(runs)
	if err != nil {
		return nil, err
	}
	if err := c.check(values); err != nil {
		return nil, err
	}
	c.done = new(atomic.Int64)
	r := &Comparison{Queries: len(values[0]), Systems: make([]System, len(values))}
	r.Pairs = family(len(values), c.Baseline)
	scaled, linear := weighted(values, c.Weights)
	methods := make([]seeds, len(runs))
	for i, v := range linear {
		r.Systems[i].Mean = mean(v)
		_, own := weighted(runs[i], c.Weights)
		methods[i] = seedsOf(own)
	}
	errors := make([]noise, len(r.Pairs)) // errors of the pairs' differences due to seeds
	for i := range r.Pairs {
		p := &r.Pairs[i]
		p.Claim = OfRuns
		if len(runs[p.A]) > 1 || len(runs[p.B]) > 1 {
			p.Claim = OfMethods
		}
		p.count(differences(values[p.A], values[p.B]))
		d := differences(linear[p.A], linear[p.B])
		p.describe(d, spreadOf(methods[p.A], methods[p.B]))
		errors[i] = newNoise(methods[p.A], methods[p.B], d)
	}
	r.randomize(scaled, shares(c.Weights), errors, &c)
	r.bootstrap(linear, methods, errors, &c)
	correctAll(r.Pairs)
	for i := range r.Systems {
		r.Systems[i].Interval = r.Systems[i].Interval.Within(c.Range)
	}
	for i := range r.Pairs {
		length := c.Range.High - c.Range.Low
		r.Pairs[i].Interval = r.Pairs[i].Interval.Within(Interval{-length, length})
	}
	return r, nil
}

// Within returns the part of an interval within a range. The zero range sets no limit.
func (i Interval) Within(of Interval) Interval {
	if of == (Interval{}) || i == Unbounded {
		return i
	}
	return Interval{max(i.Low, of.Low), min(i.High, of.High)}
}

// averages returns the mean over a system's runs, for each system and query.
func averages(runs [][][]float64) ([][]float64, error) {
	values := make([][]float64, len(runs))
	for i, own := range runs {
		if len(own) == 0 {
			return nil, fmt.Errorf("system %d has no runs, expected one at least", i+1)
		}
		if values[i] = own[0]; len(own) == 1 {
			continue
		}
		for r, run := range own {
			if len(run) != len(own[0]) {
				return nil, fmt.Errorf("system %d, run %d has %d values, its first run %d", i+1, r+1, len(run), len(own[0]))
			}
		}
		values[i] = make([]float64, len(own[0]))
		for q := range values[i] {
			values[i][q] = overRuns(own, q)
		}
	}
	return values, nil
}

func (c *Config) check(values [][]float64) error {
	if len(values) < 2 {
		return fmt.Errorf("found %d systems, expected at least two", len(values))
	}
	if c.Baseline < -1 || c.Baseline >= len(values) {
		return fmt.Errorf("baseline %d of %d systems", c.Baseline, len(values))
	}
	if c.Permutations < 1 || c.Resamples < 1 {
		return fmt.Errorf("%d permutations and %d bootstrap samples, expected positive numbers, or 0 for the default", c.Permutations, c.Resamples)
	}
	n := len(values[0])
	if err := checkWeights(c.Weights, n); err != nil {
		return err
	}
	for i, v := range values {
		if len(v) != n {
			return fmt.Errorf("system %d has %d values, the first %d", i+1, len(v), n)
		}
		for q, x := range v {
			if math.IsNaN(x) || math.IsInf(x, 0) {
				return fmt.Errorf("system %d, query %d: found %v, expected a finite number", i+1, q+1, x)
			}
		}
	}
	if n < 2 {
		return fmt.Errorf("found %d queries, expected at least two", n)
	}
	return nil
}

// family returns the pairs to compare. With baseline −1 these are all pairs of systems. Otherwise
// they are the pairs of the baseline, as B, with every other system, as A.
func family(systems, baseline int) []Pair {
	var pairs []Pair
	for a := range systems {
		if baseline >= 0 {
			if a != baseline {
				pairs = append(pairs, Pair{A: a, B: baseline})
			}
			continue
		}
		for b := a + 1; b < systems; b++ {
			pairs = append(pairs, Pair{A: a, B: b})
		}
	}
	return pairs
}

// differences returns a − b for each query, or 0 if the values count as equal.
func differences(a, b []float64) []float64 {
	d := make([]float64, len(a))
	for q := range d {
		if d[q] = a[q] - b[q]; math.Abs(d[q]) <= Same {
			d[q] = 0
		}
	}
	return d
}

func mean(x []float64) float64 {
	var sum float64
	for _, v := range x {
		sum += v
	}
	return sum / float64(len(x))
}

// deviation returns the standard deviation of x, with the divisor n − 1.
func deviation(x []float64) float64 {
	m := mean(x)
	var sum float64
	for _, v := range x {
		sum += float64((v - m) * (v - m))
	}
	return math.Sqrt(sum / float64(len(x)-1))
}
