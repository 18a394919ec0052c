package stats

import (
	"fmt"
	"math"
)

// Difference describes the difference of two methods on the same queries. Each method may have several
// runs with different random seeds.
type Difference struct {
	Mean     float64  // mean over queries and runs
	Error    float64  // standard error of Mean, for other queries and other runs
	DF       float64  // degrees of freedom, by Welch and Satterthwaite
	Interval Interval // contains the true difference with probability Level
	P        float64  // two-sided p value of the hypothesis that the methods do not differ
}

// Between returns the difference of two methods. a[r][q] is the value of the first method's run r
// on query q, and b has the values of the second method. The result is a claim about methods: it
// treats the runs as a sample of random seeds and the queries as a sample of queries. A method with
// one run is treated as deterministic. If both methods have the same number of runs, run r of the
// first method is paired with run r of the second. The reason is that runs with the same seed may
// have used the same random numbers.
//
// In the crossed model of Q queries and R runs, the variance of the difference is
//
//	V = s²(queries)/Q + max(0, Σ s²(runs)/R − Σ s²(both)/QR)
//
// s²(queries) is the variance, between queries, of the difference of the two methods' means over
// runs. s²(runs) is the variance, between the runs of a method, of the mean over queries. s²(both)
// is the variance of the interaction of runs and queries, whose contribution the first term already
// contains. [CompareRuns] truncates the other difference of the same terms at 0. The sums are over the methods. If runs are paired, there is one term instead, with
// s²(runs) and s²(both) of the differences between paired runs. The p value and the interval use
// Student's t with the degrees of freedom of Welch and Satterthwaite (Satterthwaite 1946).
//
// Between returns an error unless each method has a run, there are at least two queries, and all values
// are finite.
func Between(a, b [][]float64) (Difference, error) {
	if err := checkRuns(a, b); err != nil {
		return Difference{}, err
	}
	queries := make([]float64, len(a[0]))
	for q := range queries {
		queries[q] = overRuns(a, q) - overRuns(b, q)
	}
	first, second := seedsOf(a), seedsOf(b)
	if len(a) == len(b) {
		pairs := make([][]float64, len(a))
		for r := range a {
			pairs[r] = differences(a[r], b[r])
		}
		first, second = seedsOf(pairs), seeds{}
	}
	return differenceOf(queries, spreadOf(first, second).beyondQueries()), nil
}

// differenceOf returns the difference of two methods. queries has the difference on each query.
func differenceOf(queries []float64, s spread) Difference {
	d := Difference{Mean: mean(queries), P: 1, DF: math.Inf(1)}
	half := 0.0
	if se, df := s.standardError(queries); se > 0 {
		d.Error, d.DF = se, df
		d.P = studentTails(d.Mean/se, df)
		half = studentQuantile(1-Alpha/2, df) * se
	} else if math.Abs(d.Mean) > Same {
		d.P = 0
	}
	d.Interval = Interval{d.Mean - half, d.Mean + half}
	return d
}

// Paired returns the difference of two methods with one run each, as [Between] does, for weighted
// means. weights has a positive element per query; nil means 1.
func Paired(a, b, weights []float64) (Difference, error) {
	return Unpaired([][]float64{a}, [][]float64{b}, weights)
}

// Unpaired returns the difference of two methods as the t-test of [CompareRuns] computes it: for
// weighted means, and without pairing of runs. Arguments are as for [Between] and [Paired].
func Unpaired(a, b [][]float64, weights []float64) (Difference, error) {
	if err := checkRuns(a, b); err != nil {
		return Difference{}, err
	}
	if err := checkWeights(weights, len(a[0])); err != nil {
		return Difference{}, err
	}
	_, first := weighted(a, weights)
	_, second := weighted(b, weights)
	queries := make([]float64, len(a[0]))
	for q := range queries {
		queries[q] = overRuns(first, q) - overRuns(second, q)
	}
	return differenceOf(queries, spreadOf(seedsOf(first), seedsOf(second))), nil
}

// checkRuns returns an error for values that Between does not accept.
func checkRuns(a, b [][]float64) error {
	if len(a) == 0 || len(b) == 0 || len(a[0]) < 2 {
		return fmt.Errorf("found %d and %d runs, expected one of each at least, with two queries", len(a), len(b))
	}
	for m, runs := range [][][]float64{a, b} {
		for r, run := range runs {
			if len(run) != len(a[0]) {
				return fmt.Errorf("method %d, run %d: found %d queries, expected those of the first run, %d", m, r, len(run), len(a[0]))
			}
			for q, v := range run {
				if math.IsNaN(v) || math.IsInf(v, 0) {
					return fmt.Errorf("method %d, run %d, query %d: found %v, expected a finite value", m, r, q, v)
				}
			}
		}
	}
	return nil
}

// overRuns returns the mean over runs for query q.
func overRuns(runs [][]float64, q int) float64 {
	var sum float64
	for _, run := range runs {
		sum += run[q]
	}
	return sum / float64(len(runs))
}

// overQueries returns the mean over queries for each run.
func overQueries(runs [][]float64) []float64 {
	means := make([]float64, len(runs))
	for r, run := range runs {
		means[r] = mean(run)
	}
	return means
}
