package datareport

import (
	"fmt"
	"math"
	"slices"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/eval/stats"
	"github.com/listwise/listwise/internal/elementary"
)

const (
	// fewQueries is the smallest number of queries for a test.
	fewQueries = 5
	// quantiles is the number of parts for the population stability index.
	quantiles = 10
)

// Drift describes how other data differ from the first data.
type Drift struct {
	Queries   int `json:"queries"`
	Documents int `json:"documents"`
	Sampled   int `json:"documents_sampled"`

	SharedIDs     int `json:"query_ids_in_both"`
	SharedQueries int `json:"queries_in_both"` // queries with the same documents and grades in both

	Features []Moved `json:"features"` // one per feature
	Grades   Moved   `json:"grades"`
	Lengths  Moved   `json:"documents_per_query"`
	// GradesMean is the mean grade of the first data. Grades.Mean is the mean grade of the other
	// data.
	GradesMean float64 `json:"grades_mean_of_first"`
	Tested     bool    `json:"tested"` // both data sets have enough queries for tests
}

// Moved describes how the distribution of a quantity differs. Missing and Mean describe the other
// data.
type Moved struct {
	Distance  float64 `json:"distance"`  // Kolmogorov–Smirnov distance between the documents' values
	Stability float64 `json:"stability"` // population stability index over tenths of the first data, and over missing values
	Missing   float64 `json:"missing_share"`
	Mean      float64 `json:"mean"`

	// P tests whether the queries of both data sets have the same distribution. The
	// Kolmogorov–Smirnov test compares the queries' means, and their deviations. P is twice the
	// smaller p-value. The unit is the query, because documents of a query resemble each other.
	// Holm is P corrected over all tests. Both are 1 without a test.
	P    float64 `json:"p"`
	Holm float64 `json:"p_holm"`

	histogram [bins]int // over bins between the smallest and largest value of the first data
}

// newDrift compares d with the data against. sample is the sample of d, which features describe.
func newDrift(d, against, sample *dataset.Dataset, features []Feature, c Config) (*Drift, error) {
	columns, err := dataset.MatchNames(d.FeatureNames, against.FeatureNames, true)
	if err != nil {
		return nil, err
	}
	other := sampleOf(against, c)
	r := &Drift{
		Queries: len(against.Queries), Documents: against.Docs(), Sampled: other.Docs(),
		SharedIDs: sharedIDs(d, against), SharedQueries: d.CommonQueries(against),
		Features: make([]Moved, len(features)), Tested: len(sample.Queries) >= fewQueries && len(other.Queries) >= fewQueries,
	}
	if columns == nil && against.Features > d.Features {
		return nil, fmt.Errorf("found %d features in the data compared with, expected at most %d", against.Features, d.Features)
	}
	a, b := make([]float64, sample.Docs()), make([]float64, other.Docs())
	for j := range features {
		column(a, sample, j)
		at := j
		if columns != nil {
			at = columns[j]
		}
		if at < other.Features {
			column(b, other, at)
		} else {
			clear(b) // text omits trailing features that are 0
		}
		f := &features[j]
		r.Features[j] = moved(sample, other, a, b)
		for _, v := range b {
			if !math.IsNaN(v) {
				r.Features[j].histogram[binOf(v, f.Min, f.Max)]++
			}
		}
	}
	r.Grades = moved(sample, other, sample.Grades(), other.Grades())
	for _, g := range sample.Grades() {
		r.GradesMean += g / float64(sample.Docs())
	}
	r.Lengths = movedLengths(d, against)
	r.correct()
	return r, against.Changed()
}

// correct sets Holm in all features, the grades and the lengths. Holm's correction is over all
// these tests.
func (r *Drift) correct() {
	all := []*Moved{&r.Grades, &r.Lengths}
	for j := range r.Features {
		all = append(all, &r.Features[j])
	}
	p := make([]float64, len(all))
	for i, m := range all {
		if !r.Tested {
			m.P = 1
		}
		p[i] = m.P
	}
	for i, h := range stats.Holm(p) {
		all[i].Holm = h
	}
}

// sharedIDs returns the number of query ids of d that also occur in other.
func sharedIDs(d, other *dataset.Dataset) int {
	ids, n := make(map[string]bool), 0
	for i := range other.Queries {
		ids[other.Queries[i].ID] = true
	}
	for i := range d.Queries {
		if ids[d.Queries[i].ID] {
			n++
		}
	}
	return n
}

func moved(d, other *dataset.Dataset, a, b []float64) Moved {
	x, y := slices.DeleteFunc(slices.Clone(a), math.IsNaN), slices.DeleteFunc(slices.Clone(b), math.IsNaN)
	m := Moved{P: 1, Missing: 1 - float64(len(y))/float64(len(b)), Stability: stability(a, b, x)}
	for _, v := range y {
		m.Mean += v / float64(len(y))
	}
	if len(x) > 0 && len(y) > 0 {
		m.Distance = stats.Distance(x, y)
	}
	meansA, spreadA := byQuery(d, a)
	meansB, spreadB := byQuery(other, b)
	m.P = min(1, 2*min(smirnov(meansA, meansB), smirnov(spreadA, spreadB)))
	return m
}

func movedLengths(d, other *dataset.Dataset) Moved {
	lengths := func(d *dataset.Dataset) []float64 {
		list := make([]float64, len(d.Queries))
		for i := range list {
			list[i] = float64(d.Queries[i].Len())
		}
		return list
	}
	a, b := lengths(d), lengths(other)
	m := Moved{Distance: stats.Distance(a, b), Stability: stability(a, b, a), P: smirnov(a, b)}
	for _, v := range b {
		m.Mean += v / float64(len(b))
	}
	return m
}

// smirnov returns the p-value of the Kolmogorov–Smirnov test, or 1 if there are too few values.
func smirnov(a, b []float64) float64 {
	if len(a) < fewQueries || len(b) < fewQueries {
		return 1
	}
	_, p, err := stats.KolmogorovSmirnov(a, b)
	if err != nil {
		return 1
	}
	return p
}

// byQuery returns the mean and the deviation of the values in each query. It skips queries without
// values.
func byQuery(d *dataset.Dataset, values []float64) (means, deviations []float64) {
	for i := range d.Queries {
		q := &d.Queries[i]
		var n, sum, square float64
		for _, v := range values[q.Start : q.Start+q.Len()] {
			if !math.IsNaN(v) {
				n, sum = n+1, sum+v
			}
		}
		if n == 0 {
			continue
		}
		for _, v := range values[q.Start : q.Start+q.Len()] {
			if !math.IsNaN(v) {
				square += float64((v - sum/n) * (v - sum/n))
			}
		}
		means, deviations = append(means, sum/n), append(deviations, math.Sqrt(square/n))
	}
	return means, deviations
}

// stability returns the population stability index of b against a, Σ (q − p)·log(q/p). The sum is
// over tenths of a's values and over missing values. there contains a's values that are not
// missing. Half a document is added to each part, so that no part is empty.
func stability(a, b, there []float64) float64 {
	there = slices.Clone(there)
	slices.Sort(there)
	var cuts []float64
	for k := 1; k < quantiles && len(there) > 0; k++ {
		cuts = append(cuts, there[k*(len(there)-1)/quantiles])
	}
	cuts = slices.Compact(cuts)
	parts := func(list []float64) []float64 {
		count := slices.Repeat([]float64{0.5}, len(cuts)+2)
		for _, v := range list {
			at := len(cuts) + 1
			if !math.IsNaN(v) {
				at, _ = slices.BinarySearch(cuts, v)
			}
			count[at]++
		}
		for i := range count {
			count[i] /= float64(len(list)) + float64(float64(len(count))/2)
		}
		return count
	}
	p, q := parts(a), parts(b)
	var index float64
	for i := range p {
		index += float64((q[i] - p[i]) * elementary.Log(q[i]/p[i]))
	}
	return index
}
