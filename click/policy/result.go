package policy

import (
	"errors"
	"fmt"
	"math"

	"github.com/listwise/listwise/eval/stats"
)

// Refusal says why an estimate has no interval.
type Refusal string

// Reasons for refusals.
const (
	// Unsupported is for a policy that puts documents where the log never put them.
	Unsupported Refusal = "unsupported"
	// WrongWeights is for weights whose mean is not 1: the logging probabilities are wrong, or too few pages have
	// the weight of many.
	WrongWeights Refusal = "weights"
	// WrongClicks is for clicks of a slot that contradict the propensities, see [Checks].
	WrongClicks Refusal = "clicks of slots"
	// FewPages is for an effective sample that is too small for an interval.
	FewPages Refusal = "effective sample"
	// NoError is for [Direct], whose error is that of the regression.
	NoError Refusal = "model"
)

// Estimate is the value of a policy per page.
type Estimate struct {
	Name string
	stats.Difference

	Effective      float64 // pages with equal weights that would tell as much: (Σw)²/Σw²
	EffectiveUnits float64 // the same of users

	Weight      float64 // mean weight of pages before clipping
	WeightError float64 // standard error of the mean
	Largest     float64 // weight of a page
	Unsupported float64 // share of the value at places where the log never put the document
	Term        float64 // largest contribution of a page

	// Refused says why there is no interval, which is then unbounded. With Unsupported, WrongWeights and WrongClicks,
	// the value means nothing, either.
	Refused Refusal

	slot *Check // of WrongClicks
}

// Void reports whether the value means nothing.
func (e *Estimate) Void() bool {
	return e.Refused == Unsupported || e.Refused == WrongWeights || e.Refused == WrongClicks
}

// Result has estimates of all policies from the same pages.
type Result struct {
	Estimator Estimator
	Value     Value
	Pages     int
	Weight    float64 // of the pages
	Units     int     // users, and pages without a user
	Skipped   Skipped // pages that were left out

	// Weighed reports whether logging probabilities are from pages. Otherwise they are from the log, and
	// the mean of weights tells nothing.
	Weighed bool

	Log      Estimate // what the log got itself
	Policies []Estimate
	Checks   Checks

	bound      float64
	heaviest   float64     // largest weight of a unit's pages
	influences [][]float64 // of the policies, and of the log
	slopes     [][]float64 // by slot, times the errors of the slots
	alone      bool        // without intervals
}

// Difference is the value of a policy minus that of a baseline on the same pages.
type Difference struct {
	Policy, Baseline string
	stats.Difference

	Holm    float64 // P, corrected over the differences
	Refused Refusal // of either; the interval is then unbounded
}

var errNoPages = errors.New("found no page that all policies can rank and whose slots have propensities, expected at least two")

// Result returns the estimates.
func (e *Evaluation) Result() (*Result, error) {
	n := e.units.len()
	r := &Result{Estimator: e.Estimator, Value: e.Value, Pages: e.pages, Weight: e.log.weight, Units: n, Skipped: e.skipped, bound: e.Bound, alone: e.Estimator == Direct, Weighed: e.weighed}
	if e.pages < 2 || !(r.Weight > 0) {
		return nil, errNoPages
	}
	for i := range n {
		r.heaviest = max(r.heaviest, e.units.at(i)[weightColumn])
	}
	own := e.units.column(logColumn, 1)
	r.Log = Estimate{Name: "log", Weight: 1, Largest: 1, Effective: float64(e.pages), EffectiveUnits: float64(n)}
	value := sum(own) / r.Weight
	logged := e.influence(func(row []float64) float64 { return row[logColumn] - float64(value*row[weightColumn]) }, r.Weight)
	r.Log.Difference = stats.Linear(value, logged, e.varianceOf(e.log.slope, r.Weight))
	if e.pages < LeastEffective || n < LeastUnits {
		r.Log.Refused, r.Log.Interval = FewPages, stats.Unbounded
	}
	for k := range e.Policies {
		r.estimate(e, k)
	}
	r.influences, r.slopes = append(r.influences, logged), append(r.slopes, e.slopes(e.log.slope, r.Weight))
	r.Checks = e.checks()
	if worst := r.Checks.wrong(); worst != nil && !e.IgnoreChecks {
		for k := range r.Policies {
			if p := &r.Policies[k]; !p.Void() {
				p.Refused, p.Interval, p.slot = WrongClicks, stats.Unbounded, worst
			}
		}
	}
	return r, nil
}

// influence returns f of the sums of each unit over the total.
func (e *Evaluation) influence(f func(row []float64) float64, total float64) []float64 {
	list := make([]float64, e.units.len())
	for i := range list {
		list[i] = f(e.units.at(i)) / total
	}
	return list
}

// estimate appends the estimate of policy k.
func (r *Result) estimate(e *Evaluation, k int) {
	s, at := &e.sums[k], policyColumn(k)
	value := s.value / r.Weight
	influence := e.influence(func(row []float64) float64 { return row[at+valueColumn] - float64(value*row[weightColumn]) }, r.Weight)
	if e.Normalise && s.norm != 0 {
		factor := s.mass / s.norm
		value *= factor
		influence = e.influence(func(row []float64) float64 {
			return float64(factor*row[at+valueColumn]) + float64(value*(float64(row[at+massColumn]*(r.Weight/s.mass))-float64(row[at+normColumn]*(r.Weight/s.norm))-row[weightColumn]))
		}, r.Weight)
	}
	m := Estimate{Name: e.Policies[k].Name, Weight: s.raw / r.Weight, Largest: s.largestRaw, Term: s.largest, Effective: effective(s.used, s.squares)}
	m.Difference = r.interval(value, influence, e.varianceOf(s.slope, r.Weight), e.Bound)
	if s.mass > 0 {
		m.Unsupported = s.missing / s.mass
	}
	used, squares := 0.0, 0.0
	for i := range e.units.len() {
		v := e.units.at(i)[at+usedColumn]
		used += v
		squares += float64(v * v)
	}
	m.EffectiveUnits = effective(used, squares)
	weights := stats.Linear(sum(e.units.column(at+excessColumn, 1/r.Weight)), e.units.influence(at+excessColumn, r.Weight), 0)
	m.WeightError = weights.Error
	wrong := !(math.Abs(weights.Mean) <= float64(MostErrors*weights.Error)+slack)
	switch {
	case m.Unsupported > e.MaxUnsupported && e.Estimator != DR && e.Estimator != Direct:
		m.Refused = Unsupported
	case wrong && !e.IgnoreWeights:
		m.Refused = WrongWeights
	case r.alone:
		m.Refused = NoError
	case m.Effective < LeastEffective || m.EffectiveUnits < LeastUnits:
		m.Refused = FewPages
	}
	if m.Refused != "" {
		m.Interval = stats.Unbounded
	}
	r.Policies, r.influences, r.slopes = append(r.Policies, m), append(r.influences, influence), append(r.slopes, e.slopes(s.slope, r.Weight))
}

// Log is the index of the log itself as the baseline of a difference.
const Log = -1

// Difference compares a policy with another one, or with the log itself.
func (r *Result) Difference(policy, baseline int) Difference {
	a, b, at := &r.Policies[policy], &r.Log, len(r.Policies)
	if baseline != Log {
		b, at = &r.Policies[baseline], baseline
	}
	other, variance := r.influences[at], 0.0
	for i, v := range r.slopes[policy] {
		variance += float64((v - r.slopes[at][i]) * (v - r.slopes[at][i]))
	}
	influence := make([]float64, len(other))
	for i, v := range r.influences[policy] {
		influence[i] = v - other[i]
	}
	d := Difference{Policy: a.Name, Baseline: b.Name, Difference: r.interval(a.Mean-b.Mean, influence, variance, 2*r.bound), Refused: a.Refused}
	if d.Refused == "" {
		d.Refused = b.Refused
	}
	if d.Refused != "" {
		d.Interval, d.P = stats.Unbounded, 1
	}
	d.Holm = d.P
	return d
}

// Differences compares all policies with one of them, or with the log. P values are corrected over those with
// intervals.
func (r *Result) Differences(baseline int) []Difference {
	var all []Difference
	var p []float64
	for k := range r.Policies {
		if k == baseline {
			continue
		}
		d := r.Difference(k, baseline)
		if d.Refused == "" {
			p = append(p, d.P)
		}
		all = append(all, d)
	}
	p = stats.Holm(p)
	for i := range all {
		if all[i].Refused == "" {
			all[i].Holm, p = p[0], p[1:]
		}
	}
	return all
}

// Reason says why a policy has no value or interval, "" if it has one.
func (e *Estimate) Reason() string {
	switch e.Refused {
	case Unsupported:
		return fmt.Sprintf("%.3g %% of its value is where the log never put the documents", 100*e.Unsupported)
	case WrongWeights:
		return fmt.Sprintf("the mean weight is %.4g with a standard error of %.2g, expected %.4g: the logging probabilities are wrong, or few pages weigh as much as many", e.Weight, e.WeightError, 1-e.Unsupported)
	case WrongClicks:
		c := e.slot
		return fmt.Sprintf("slot %s has %.4g clicks a page, and %.4g by the propensities and the clicks on its documents in all slots: the propensities are wrong, or clicks depend on more than the slot and the document", c.Name, c.Observed, c.Estimate)
	case FewPages:
		return fmt.Sprintf("the effective sample is %.3g pages of %.3g users, expected at least %d and %d for an interval", e.Effective, e.EffectiveUnits, LeastEffective, LeastUnits)
	case NoError:
		return "the error of the estimator model is that of its regression, which is unknown"
	}
	return ""
}

// Choose returns the index of the policy to deploy, or [Log] to keep the logging policy. It is the policy with the
// largest lower end of the one-sided interval of its difference to the log, if that is above 0. Intervals hold
// together, with level 1 − alpha over all policies (Bonferroni), so that the probability to deploy a policy that is
// worse than the log is at most alpha. No page may have been used in the training of a policy. lower has the
// lower ends, −Inf for a policy without an interval.
func (r *Result) Choose(alpha float64) (best int, lower []float64) {
	best = Log
	lower = make([]float64, len(r.Policies))
	each := alpha / float64(len(r.Policies))
	largest := 0.0
	for k := range r.Policies {
		d := r.Difference(k, Log)
		if lower[k] = math.Inf(-1); d.Refused == "" {
			lower[k] = d.Lower(each)
			if r.bound > 0 {
				lower[k] = d.Mean - r.half(d.Error, 2*r.bound, 2*each)
			}
		}
		if lower[k] > largest {
			best, largest = k, lower[k]
		}
	}
	return best, lower
}
