package stats

import (
	"fmt"
	"math"
)

// Difference says how far a method is above another on the same queries, where each was
// trained several times, with different seeds.
type Difference struct {
	Mean     float64  // over queries and runs
	Error    float64  // its standard error, for other queries and other runs
	DF       float64  // degrees of freedom, by Welch and Satterthwaite
	Interval Interval // that holds the true difference with probability Level
	P        float64  // of a mean as far from 0, where the methods are alike; two-sided
}

// Between returns the difference of two methods: a[r][q] is the value of the first one's
// run r on query q, and b likewise. A method that draws nothing has one run. Where both
// have as many, run r of the one is paired with run r of the other, as runs of one seed
// may have drawn the same. It is the crossed model of queries and runs,
//
//	V = s²(queries)/Q + s²(runs)/R
//
// where s²(queries) is the variance between queries of the differences of the means over
// runs, and s²(runs) that between runs of the differences of the means over queries; of
// unequal numbers of runs, V has s²/R of each method. What queries and runs bring together
// is in both terms, so that V is rather too large. P and the interval are by Student's t with
// the degrees of freedom of Welch and Satterthwaite (Satterthwaite 1946).
//
// There must be a run of each at least, two queries, and finite values.
func Between(a, b [][]float64) (Difference, error) {
	if err := checkRuns(a, b); err != nil {
		return Difference{}, err
	}
	queries := make([]float64, len(a[0]))
	for q := range queries {
		queries[q] = overRuns(a, q) - overRuns(b, q)
	}
	d := Difference{Mean: mean(queries), P: 1}
	var square float64 // of the variances' parts over their degrees of freedom
	part := func(values []float64) {
		if n := float64(len(values)); n > 1 && !alike(values) {
			v := deviation(values) * deviation(values) / n
			d.Error += v
			square += v * v / (n - 1)
		}
	}
	part(queries)
	first, second := overQueries(a), overQueries(b)
	if len(first) == len(second) {
		for r := range first {
			first[r] -= second[r]
		}
		second = nil
	}
	part(first)
	part(second)
	d.DF = math.Inf(1)
	half := 0.0
	if d.Error > 0 {
		d.DF = d.Error * d.Error / square
		d.Error = math.Sqrt(d.Error)
		d.P = studentTails(d.Mean/d.Error, d.DF)
		half = studentQuantile(1-Alpha/2, d.DF) * d.Error
	} else if math.Abs(d.Mean) > Same {
		d.P = 0
	}
	d.Interval = Interval{d.Mean - half, d.Mean + half}
	return d, nil
}

// Paired is [Between] for one run of each, and for weighted means unless weights is nil: these must
// be positive, one a query.
func Paired(a, b, weights []float64) (Difference, error) {
	if err := checkWeights(weights, len(a)); err != nil {
		return Difference{}, err
	}
	if err := checkRuns([][]float64{a}, [][]float64{b}); err != nil {
		return Difference{}, err
	}
	_, linear := weighted([][]float64{a, b}, weights)
	return Between(linear[:1], linear[1:])
}

// checkRuns returns an error for values that Between cannot take.
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

// overRuns is the mean over runs on a query.
func overRuns(runs [][]float64, q int) float64 {
	var sum float64
	for _, run := range runs {
		sum += run[q]
	}
	return sum / float64(len(runs))
}

// overQueries returns the means over queries, one a run.
func overQueries(runs [][]float64) []float64 {
	means := make([]float64, len(runs))
	for r, run := range runs {
		means[r] = mean(run)
	}
	return means
}
