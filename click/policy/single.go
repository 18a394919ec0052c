package policy

import (
	"errors"
	"fmt"
	"math"

	"github.com/listwise/listwise/eval/stats"
	"github.com/listwise/listwise/internal/suggest"
)

// Choice is a decision about a single slot: the logging policy drew an action, which had a reward.
type Choice struct {
	User   string  // empty: the choice is independent of all others
	Reward float64 // of the action

	Logging   float64 // probability of the action under the logging policy, above 0
	Evaluated float64 // probability of the action under the evaluated policy

	// Predicted is q̂(x, a), the reward that a regression predicts for the action. Expected is Σ_a π(a|x) q̂(x, a),
	// the mean of the prediction under the evaluated policy.
	Predicted, Expected float64
}

// SingleEstimator names an estimator of the mean reward of a policy for single slots. In the formulas,
// w = π(a|x)/μ(a|x), r is the reward and q̂(x, π) = Σ_a π(a|x) q̂(x, a). Sums of means are over all choices.
type SingleEstimator string

const (
	// IPS is the mean of min(w, τ) r, with τ = ∞ by default (Horvitz, Thompson 1952).
	IPS SingleEstimator = "ips"
	// SNIPS is Σ w r / Σ w (Swaminathan, Joachims, NIPS 2015).
	SNIPS SingleEstimator = "snips"
	// DM is the mean of q̂(x, π). It has no interval.
	DM SingleEstimator = "dm"
	// DoublyRobust is the mean of q̂(x, π) + w (r − q̂(x, a)) (Dudík, Langford, Li, ICML 2011).
	DoublyRobust SingleEstimator = "dr"
	// SNDR is the mean of q̂(x, π), plus Σ w (r − q̂) / Σ w (Thomas, Brunskill, ICML 2016).
	SNDR SingleEstimator = "sndr"
	// Switch is DoublyRobust with weights above τ set to 0 (Wang, Agarwal, Dudík, ICML 2017).
	Switch SingleEstimator = "switch"
	// Shrinkage is DoublyRobust with the weights λw/(w² + λ) (Su, Dimakopoulou, Krishnamurthy, Dudík, ICML 2020).
	Shrinkage SingleEstimator = "dros"
)

// SingleEstimators lists the estimators of single slots.
var SingleEstimators = []SingleEstimator{IPS, SNIPS, DM, DoublyRobust, SNDR, Switch, Shrinkage}

// SingleConfig says how a policy for single slots is evaluated.
type SingleConfig struct {
	Estimator SingleEstimator
	// Parameter is τ or λ of the estimator. Switch and Shrinkage need one; 0 is none for IPS.
	Parameter     float64
	IgnoreWeights bool // accepts weights whose mean is not 1
}

// weight returns the weight that the estimator gives in place of w.
func (c *SingleConfig) weight(w float64) float64 {
	switch {
	case c.Estimator == IPS && c.Parameter > 0:
		return min(w, c.Parameter)
	case c.Estimator == Switch && w > c.Parameter:
		return 0
	case c.Estimator == Shrinkage:
		return float64(c.Parameter*w) / (float64(w*w) + c.Parameter)
	}
	return w
}

func (c *SingleConfig) check() error {
	known := false
	for _, e := range SingleEstimators {
		known = known || e == c.Estimator
	}
	needs := c.Estimator == Switch || c.Estimator == Shrinkage
	switch {
	case !known:
		return fmt.Errorf("found the estimator %q, expected %s", c.Estimator, suggest.OneOf(names(SingleEstimators)))
	case !(c.Parameter >= 0) || math.IsInf(c.Parameter, 0):
		return fmt.Errorf("found the parameter %v, expected a number of 0 or more", c.Parameter)
	case needs && c.Parameter == 0:
		return fmt.Errorf("found no parameter, which the estimator %s needs", c.Estimator)
	case c.Parameter > 0 && !needs && c.Estimator != IPS:
		return fmt.Errorf("found a parameter, which the estimator %s does not have", c.Estimator)
	}
	return nil
}

// check returns an error unless all numbers of the choice are possible.
func (c *Choice) check() error {
	if !(c.Logging > 0 && c.Logging <= 1) {
		return fmt.Errorf("found the logging probability %v, expected a number above 0 and at most 1", c.Logging)
	}
	if !(c.Evaluated >= 0 && c.Evaluated <= 1) {
		return fmt.Errorf("found the evaluated probability %v, expected a number from 0 to 1", c.Evaluated)
	}
	for _, v := range []float64{c.Reward, c.Predicted, c.Expected, c.Evaluated / c.Logging} {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("found the reward, prediction, expectation and weight %v, %v, %v and %v, expected finite numbers", c.Reward, c.Predicted, c.Expected, c.Evaluated/c.Logging)
		}
	}
	return nil
}

// Columns of a unit.
const (
	choicesColumn = iota
	directColumn  // Σ q̂(x, π)
	gainColumn    // Σ of weighted rewards or residuals
	rawColumn     // Σ w
	finalColumn   // Σ of the estimator's weights
	singleColumns
)

// Single estimates the mean reward of a policy for single slots, with an interval by user. It is refused as
// rankings are: if the mean of w is not 1 within MostErrors standard errors, or the effective sample is too small.
func Single(choices []Choice, c SingleConfig) (Estimate, error) {
	e := Estimate{Name: string(c.Estimator)}
	if err := c.check(); err != nil {
		return e, err
	}
	if len(choices) < 2 {
		return e, errors.New("found fewer than two choices, expected more")
	}
	var u units
	var total [singleColumns]float64
	used, squares := 0.0, 0.0
	for i := range choices {
		x := &choices[i]
		if err := x.check(); err != nil {
			return e, fmt.Errorf("choice %d: %w", i+1, err)
		}
		row, err := u.row(x.User, singleColumns, nil)
		if err != nil {
			return e, err
		}
		raw := x.Evaluated / x.Logging
		w := c.weight(raw)
		var direct, gain float64
		switch c.Estimator {
		case IPS, SNIPS:
			gain = w * x.Reward
		case DM:
			direct = x.Expected
		default:
			direct, gain = x.Expected, w*(x.Reward-x.Predicted)
		}
		for k, v := range [singleColumns]float64{1, direct, gain, raw, w} {
			row[k] += v
			total[k] += v
		}
		used += w
		squares += float64(w * w)
		e.Largest = max(e.Largest, raw)
		e.Term = max(e.Term, math.Abs(direct+gain))
	}
	n := total[choicesColumn]
	over := choicesColumn // of the gains
	if c.Estimator == SNIPS || c.Estimator == SNDR {
		over = finalColumn
	}
	direct, gain := total[directColumn]/n, 0.0
	if total[over] > 0 {
		gain = total[gainColumn] / total[over]
	}
	influence := make([]float64, u.len())
	excess := make([]float64, u.len())
	byUnit, unitSquares := 0.0, 0.0
	for i := range influence {
		row := u.at(i)
		influence[i] = (row[directColumn] - float64(direct*row[choicesColumn])) / n
		if total[over] > 0 {
			influence[i] += (row[gainColumn] - float64(gain*row[over])) / total[over]
		}
		excess[i] = (row[rawColumn] - float64(total[rawColumn]/n*row[choicesColumn])) / n
		byUnit += row[finalColumn]
		unitSquares += float64(row[finalColumn] * row[finalColumn])
	}
	e.Difference = stats.Linear(direct+gain, influence, 0)
	weights := stats.Linear(total[rawColumn]/n-1, excess, 0)
	e.Weight, e.WeightError = total[rawColumn]/n, weights.Error
	e.Effective, e.EffectiveUnits = effective(used, squares), effective(byUnit, unitSquares)
	switch {
	case !(math.Abs(weights.Mean) <= MostErrors*weights.Error+slack) && !c.IgnoreWeights:
		e.Refused = WrongWeights
	case c.Estimator == DM:
		e.Refused = NoError
	case e.Effective < LeastEffective || e.EffectiveUnits < LeastUnits:
		e.Refused = FewPages
	}
	if e.Refused != "" {
		e.Interval = stats.Unbounded
	}
	return e, nil
}
