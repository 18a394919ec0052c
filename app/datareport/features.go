package datareport

import (
	"context"
	"math"
	"slices"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/eval/stats"
)

const bins = 20

// resamples is the number of bootstrap samples for an interval.
const resamples = 1000

// Feature describes a feature over the sampled documents.
type Feature struct {
	Number   int     `json:"feature"` // from 1
	Name     string  `json:"name"`
	Missing  float64 `json:"missing_share"`
	Distinct int     `json:"distinct"` // number of different values

	// These are over the values that are not missing, and 0 if all are missing.
	Min       float64 `json:"min"`
	Median    float64 `json:"median"`
	Max       float64 `json:"max"`
	Mean      float64 `json:"mean"`
	Deviation float64 `json:"deviation"`

	Constant       bool `json:"constant"`        // one value in all documents
	ConstantWithin bool `json:"constant_within"` // one value in every query

	// Up is the NDCG@10 of ranking by the feature, and Down of ranking by its negative. Missing
	// values are ranked last. Low and High bound the confidence interval of the larger one.
	Up   float64 `json:"ndcg@10"`
	Down float64 `json:"ndcg@10_reversed"`
	Low  float64 `json:"low"`
	High float64 `json:"high"`

	// WithGrade is the rank correlation with the grade within queries, from −1 to 1.
	WithGrade float64 `json:"rank_correlation_with_grade"`

	Suspect string `json:"suspect,omitempty"` // reason why the column may not be a feature

	histogram [bins]int // between Min and Max
}

// best returns the larger of Up and Down.
func (f *Feature) best() float64 { return max(f.Up, f.Down) }

func (r *Report) describe(ctx context.Context, d, sample *dataset.Dataset) error {
	r.Features = make([]Feature, d.Features)
	ndcg, err := measure.ParseList("ndcg@10", r.config.Convention, measure.Options{})
	if err != nil {
		return err
	}
	whole, within := constants(d)
	if r.Random, _, err = means(sample, make([]float64, sample.Docs()), ndcg); err != nil {
		return err
	}
	values, scores := make([]float64, sample.Docs()), make([]float64, sample.Docs())
	grades := gradeRanks(sample)
	for j := range r.Features {
		if err := ctx.Err(); err != nil {
			return err
		}
		f := &r.Features[j]
		f.Number, f.Name, f.Constant, f.ConstantWithin = j+1, nameOf(d, j), whole[j], within[j]
		column(values, sample, j)
		f.distribute(values)
		f.WithGrade = withinQueries(sample, values, grades)
		if err := r.rankBy(f, sample, values, scores, ndcg); err != nil {
			return err
		}
		if r.config.Observe != nil {
			r.config.Observe(j+1, len(r.Features))
		}
	}
	return nil
}

func column(dst []float64, d *dataset.Dataset, feature int) {
	x := d.X()
	for i := range dst {
		dst[i] = float64(x[i*d.Features+feature])
	}
}

func (f *Feature) distribute(values []float64) {
	there := slices.DeleteFunc(slices.Clone(values), math.IsNaN)
	f.Missing = 1 - float64(len(there))/float64(len(values))
	n := len(there)
	if n == 0 {
		return
	}
	slices.Sort(there)
	f.Min, f.Median, f.Max = there[0], (there[(n-1)/2]+there[n/2])/2, there[n-1]
	for i, v := range there {
		f.Mean += v / float64(n)
		if i == 0 || v != there[i-1] {
			f.Distinct++
		}
	}
	var square float64
	for _, v := range there {
		square += (v - f.Mean) * (v - f.Mean) / float64(n)
		f.histogram[binOf(v, f.Min, f.Max)]++
	}
	f.Deviation = math.Sqrt(square)
}

// binOf returns the index of the bin of a value. A value outside low to high falls into the first
// or last bin.
func binOf(v, low, high float64) int {
	if !(high > low) {
		return 0
	}
	return max(0, min(bins-1, int(bins*((v-low)/(high-low)))))
}

func (r *Report) rankBy(f *Feature, d *dataset.Dataset, values, scores []float64, by []measure.Measure) error {
	if f.ConstantWithin {
		f.Up, f.Down, f.Low, f.High = r.Random, r.Random, r.Random, r.Random
		return nil
	}
	var each [2][]float64
	for side, sign := range []float64{1, -1} {
		for i, v := range values {
			if scores[i] = sign * v; math.IsNaN(v) {
				scores[i] = -math.MaxFloat64
			}
		}
		mean, list, err := means(d, scores, by)
		if err != nil {
			return err
		}
		if each[side] = list; side == 0 {
			f.Up = mean
		} else {
			f.Down = mean
		}
	}
	better := each[0]
	if f.Down > f.Up {
		better = each[1]
	}
	f.Low, f.High = f.best(), f.best()
	if len(better) >= 2 {
		s, err := stats.MeanInterval(better, resamples, r.config.Seed)
		if err != nil {
			return err
		}
		if s.Interval != stats.Unbounded {
			f.Low, f.High = s.Interval.Low, s.Interval.High
		}
	}
	return nil
}

// means returns the unweighted mean of a measure over the queries for which it is defined, and the
// values of these queries. Ties are ranked in random order. The mean over no queries is 0.
func means(d *dataset.Dataset, scores []float64, by []measure.Measure) (mean float64, values []float64, err error) {
	e, err := measure.Evaluate(d, scores, by, measure.TiesAverage)
	if err != nil {
		return 0, nil, err
	}
	for _, v := range e.PerQuery(by[0]) {
		if !math.IsNaN(v) {
			values = append(values, v)
		}
	}
	if len(values) == 0 {
		return 0, nil, nil
	}
	for _, v := range values {
		mean += v
	}
	return mean / float64(len(values)), values, nil
}

// constants reports for each feature whether it is constant in all documents, and whether it is
// constant within every query. A missing value counts as a value.
func constants(d *dataset.Dataset) (whole, within []bool) {
	whole, within = slices.Repeat([]bool{true}, d.Features), slices.Repeat([]bool{true}, d.Features)
	first := d.Queries[0].Row(0)
	same := func(a, b float32) bool { return a == b || a != a && b != b }
	for i := range d.Queries {
		q := &d.Queries[i]
		head := q.Row(0)
		for k := range q.Len() {
			for j, v := range q.Row(k) {
				whole[j] = whole[j] && same(v, first[j])
				within[j] = within[j] && same(v, head[j])
			}
		}
	}
	return whole, within
}
