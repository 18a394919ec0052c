package model

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/listwise/listwise/click"
	"github.com/listwise/listwise/internal/elementary"
	"github.com/listwise/listwise/internal/parallel"
)

// Judgement is what clicks say of a query and a document.
type Judgement struct {
	Query, Doc string

	Grade     float64 // posterior mean of the relevance
	Low, High float64 // interval of 95 %
	Variance  float64 // of the posterior

	Impressions float64
	Examined    float64 // expected number of examinations, given the clicks above
	Clicks      float64
}

// level is the coverage of intervals.
const level = 0.95

// evidence is what a log says of each pair: the expected examinations, and the variances of the
// posteriors of the parameters.
type evidence struct{ examined, attraction, satisfaction []float64 }

// betaVariances returns the variances of the Beta posteriors of rates with the given denominators.
func (f *fitting) betaVariances(x, den []float64) []float64 {
	v := make([]float64, len(x))
	for i, p := range x {
		v[i] = float64(p*(1-p)) / (f.Prior.Strength + den[i] + 1)
	}
	return v
}

// variances returns the inverse curvatures of the logarithms of the posteriors. info has those of the
// likelihood.
func (f *fitting) variances(x []float64, mean float64, info []float64) []float64 {
	v := make([]float64, len(x))
	for i, p := range x {
		prior := float64(f.Prior.Strength*mean)/square(p) + float64(f.Prior.Strength*(1-mean))/square(1-p)
		v[i] = 1 / (info[i] + prior)
	}
	return v
}

// Judge returns a grade of each pair by a model that was fitted to the data with the same options. attraction grades by
// attraction instead of relevance. Intervals are of Beta distributions with the posterior's mean and
// variance, and take the parameters that pairs share as known. Models without attractions grade nothing, which is an
// error.
func (d *Data) Judge(ctx context.Context, m *Model, attraction bool, workers int) ([]Judgement, error) {
	if !m.Grades() {
		return nil, fmt.Errorf("%s has no grades of documents", m.Name)
	}
	n := m.Pairs()
	e := evidence{examined: make([]float64, n)}
	m.law.weigh(&fitting{Model: m, d: d, o: Options{Workers: 1}, ctx: ctx}, &e)
	out := make([]Judgement, n)
	parallel.For(n, workers, func(_, i int) {
		if ctx.Err() != nil {
			return
		}
		j := &out[i]
		j.Query, j.Doc = m.names.name(int32(i))
		j.Impressions, j.Examined, j.Clicks = d.shown[i], e.examined[i], d.clicked[i]
		p, da, ds := m.pair(int32(i)), 1.0, 0.0
		if j.Grade = p.Attraction; !attraction {
			j.Grade, da, ds = m.law.relevance(p.Attraction, p.Satisfaction)
		}
		va, vs := e.attraction[i], 0.0
		if ds != 0 {
			vs = e.satisfaction[i]
		}
		j.Variance = float64(da*da*va) + float64(ds*ds*vs) + float64(va*vs)
		j.Low, j.High = betaInterval(j.Grade, j.Variance)
	})
	return out, ctx.Err()
}

// betaInterval returns the interval of the Beta distribution with the given mean and variance.
func betaInterval(mean, variance float64) (low, high float64) {
	s := max(float64(mean*(1-mean))/variance-1, Least)
	a, b := float64(s*mean), float64(s*(1-mean))
	return quantile(a, b, (1-level)/2), quantile(a, b, (1+level)/2)
}

// quantile returns the p-quantile of a Beta distribution to ten digits, or 0 below 10⁻³⁰⁰. It solves
// ln I_x = ln p for ln x by Newton's method within a bracket, which takes a tenth of the time of bisection.
func quantile(a, b, p float64) float64 {
	const digits = 1e-10
	constant := elementary.LogGamma(a+b) - elementary.LogGamma(a) - elementary.LogGamma(b)
	low, high := -300*math.Ln10, 0.0 // of ln x
	t := elementary.Log(a / (a + b))
	for range 200 {
		x := elementary.Exp(t)
		mass := elementary.Beta(a, b, x)
		if mass < p {
			low = t
		} else {
			high = t
		}
		next := (low + high) / 2
		if mass > 0 && x < 1 {
			slope := elementary.Exp(constant+float64(a*t)+float64((b-1)*elementary.Log1p(-x))) / mass
			if step := t - (elementary.Log(mass)-elementary.Log(p))/slope; step > low && step < high {
				next = step
			}
		}
		if math.Abs(next-t) < digits {
			t = next
			break
		}
		t = next
	}
	if t <= -299*math.Ln10 {
		return 0
	}
	return elementary.Exp(t)
}

// Widen fits the model to n samples of the units with replacement, and widens the intervals of judgements to contain
// the quantiles of their grades. So intervals do not take the parameters that pairs share as known.
func (s *Sample) Widen(ctx context.Context, judged []Judgement, k *Kind, o Options, attraction bool, n int, seed uint64) error {
	grades, errs := make([][]float64, n), make([]error, n)
	workers := o.Workers
	o.Workers = 1
	s.Bootstrap(n, seed, workers, func(b int, c *click.Counts) {
		d, err := Arrange(c)
		if err != nil {
			errs[b] = err
			return
		}
		m, err := d.Fit(ctx, k, o)
		if errs[b] = err; errors.Is(err, ErrNoClicks) {
			errs[b] = nil // the sample counts as one without grades
		}
		if err == nil {
			grades[b] = make([]float64, len(judged))
			for i := range judged {
				grades[b][i] = m.grade(int32(i), attraction)
			}
		}
	})
	if err := errors.Join(errs...); err != nil {
		return err
	}
	grades = slices.DeleteFunc(grades, func(g []float64) bool { return g == nil })
	for i := range judged {
		e := estimate(judged[i].Grade, len(grades), func(b int) float64 { return grades[b][i] })
		if len(grades) > 1 {
			judged[i].Low, judged[i].High = min(judged[i].Low, e.Low), max(judged[i].High, e.High)
		}
	}
	return nil
}

// grade returns the attraction or relevance of a pair.
func (m *Model) grade(pair int32, attraction bool) float64 {
	p := m.pair(pair)
	if attraction {
		return p.Attraction
	}
	v, _, _ := m.law.relevance(p.Attraction, p.Satisfaction)
	return v
}

// Scale divides grades into levels from 0.
type Scale []float64

// Level returns the number of cuts of the scale that a grade reaches.
func (s Scale) Level(grade float64) int {
	n := 0
	for _, cut := range s {
		if grade >= cut {
			n++
		}
	}
	return n
}

// Sure reports whether the interval of a judgement has at most two levels.
func (s Scale) Sure(j *Judgement) bool { return s.Level(j.High)-s.Level(j.Low) < 2 }

// Quantiles returns a scale whose levels have equal numbers of the grades that have at least the given expected
// examinations. It is an error if their number is below the levels.
func Quantiles(judged []Judgement, levels int, examined float64) (Scale, error) {
	var grades []float64
	for i := range judged {
		if judged[i].Examined >= examined {
			grades = append(grades, judged[i].Grade)
		}
	}
	if len(grades) < levels {
		return nil, fmt.Errorf("found %d documents with at least %v expected examinations, expected %d, one for each level", len(grades), examined, levels)
	}
	slices.Sort(grades)
	var s Scale
	low := grades[0]
	for k := 1; k < levels; k++ {
		cut := grades[k*len(grades)/levels]
		if cut <= low {
			return nil, fmt.Errorf("found that many documents have the grade %.4g, expected grades that divide into %d levels of equal size; --at names the levels' lowest grades", low, levels)
		}
		s, low = append(s, cut), cut
	}
	return s, nil
}

// Weights returns the expected examinations of each judgement, scaled to mean 1. They say how much each grade
// is worth and do not depend on it. 1/variance would: it is largest for grades near 0 and 1.
func Weights(judged []Judgement) []float64 {
	w, total := make([]float64, len(judged)), 0.0
	for i := range judged {
		w[i] = judged[i].Examined
		total += w[i]
	}
	for i := range w {
		w[i] *= float64(len(w)) / total
	}
	return w
}
