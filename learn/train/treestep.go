package train

import (
	"math"

	"github.com/listwise/listwise/learn/loss"
	"github.com/listwise/listwise/learn/objective"
)

// treeStep computes what a tree is fitted to, and how far the scores move along the tree. There are three kinds of
// losses:
//
//   - A loss with second derivatives by score (loss.Diagonal), unless Steps is GradientSteps: a tree approximates a
//     Newton step, and its values are taken as they are.
//   - A loss with a gradient but no or negative second derivatives: a tree is fitted to λ by least squares. A line
//     search finds the factor of its values that minimises the loss (Friedman, Greedy Function Approximation, Annals
//     of Statistics 2001, Algorithm 1, step 5).
//   - A loss whose λ is no gradient (loss.Traits.NonGradient): a tree is fitted to λ, and its values are taken as they
//     are, because there is no function for a line search.
//
// For the last two kinds, λ is divided by its root mean square at the start, so that values are near 1 in any unit of
// the loss. The curvature of a document is its weight times the weight of its query, 1 by default. So the least
// curvature of a leaf and L2 count documents.
type treeStep struct {
	loss    *objective.Functional
	newton  bool
	search  bool
	weight  []float64 // curvatures without Newton steps: each document's weight times its query's; 0 for documents left out
	scale   float64   // factor of λ; 0 before the start
	factor  float64   // factor that the last line search found; the next one begins there
	along   []float64 // the tree's value for each document
	scores  []float64 // scores on trial
	lambda  []float64
	reached float64 // objective at the scores
	ahead   bool    // lambda and reached are already those at the new scores
}

// A line search stops after searchTrials evaluations, or once the slope is at most searchSlope of the slope at its
// start. More precision would be of no use, because the step is multiplied by the learning rate.
const (
	searchTrials = 10
	searchSlope  = 0.5
)

// Steps selects the target that trees are fitted to.
type Steps int

// The kinds of steps.
const (
	AnySteps      Steps = iota // Newton steps if the loss has second derivatives, else along λ
	NewtonSteps                // Newton steps; an error if the loss has no second derivatives
	GradientSteps              // steps along λ
)

func newTreeStep(f *objective.Functional, t loss.Traits, steps Steps) (*treeStep, error) {
	lacking := f.Diagonal()
	if steps == NewtonSteps && lacking != nil {
		return nil, BadProblem("Newton steps: %w, expected a loss that has them", lacking)
	}
	s := &treeStep{loss: f, newton: lacking == nil && steps != GradientSteps, factor: 1}
	if s.newton {
		return s, nil
	}
	s.search = !t.NonGradient
	s.weight = make([]float64, f.Rows())
	f.Mark(s.weight)
	if s.search {
		s.along, s.scores, s.lambda = make([]float64, f.Rows()), make([]float64, f.Rows()), make([]float64, f.Rows())
	}
	return s, nil
}

// eval sets lambda and second to the target of the next tree at the given scores. It returns the objective there.
func (s *treeStep) eval(scores, lambda, second []float64) float64 {
	if s.newton {
		s.reached = s.loss.EvalSecond(scores, lambda, second)
		return s.reached
	}
	if s.ahead {
		copy(lambda, s.lambda)
	} else {
		s.reached = s.loss.Eval(scores, lambda)
	}
	s.ahead = false
	if s.scale == 0 {
		s.scale = s.inverseSize(lambda)
	}
	for i := range lambda {
		lambda[i] *= s.scale
	}
	copy(second, s.weight)
	return s.reached
}

// moved must be called if the scores changed other than by take.
func (s *treeStep) moved() { s.ahead = false }

// redraw repeats the random draws of the loss for the given round.
func (s *treeStep) redraw(round int) error {
	s.ahead = false
	return s.loss.Redraw(round)
}

// inverseSize returns 1 divided by the weighted root mean square of λ over the documents that are not left out. It
// returns 1 if λ is 0.
func (s *treeStep) inverseSize(lambda []float64) float64 {
	var squares, documents float64
	for i, w := range s.weight {
		if w > 0 { // lambda includes the factor w
			squares += lambda[i] * lambda[i] / w
			documents += w
		}
	}
	if size := math.Sqrt(squares / documents); size > 1e-300 {
		return 1 / size
	}
	return 1
}

// leavesAdder is a tree whose leaf values can be added to the documents' scores.
type leavesAdder interface {
	Add(scores, values []float64)
}

// take multiplies the leaf values of a tree by the rate and, if there is a line search, by the factor that it finds.
// Then it adds the tree to the scores. If the line search finds no lower loss, take adds nothing and returns false.
func (s *treeStep) take(g leavesAdder, rate float64, scores, lambda, values []float64) bool {
	if s.search {
		clear(s.along)
		g.Add(s.along, values)
		var slope float64
		for i, v := range s.along {
			slope -= float64(lambda[i] * v)
		}
		factor, ok := s.line(scores, slope/s.scale)
		if !ok {
			return false
		}
		s.factor = factor
		if rate, ok = s.lower(scores, rate*factor); !ok {
			return false
		}
	}
	for i := range values {
		values[i] *= rate
	}
	g.Add(scores, values)
	return true
}

// trial is a factor of the tree with the value and the slope of the loss there.
type trial struct{ factor, value, slope float64 }

// at evaluates the loss at scores + factor·tree.
func (s *treeStep) at(scores []float64, factor float64) trial {
	for i, v := range scores {
		s.scores[i] = v + float64(factor*s.along[i])
	}
	t := trial{factor: factor, value: s.loss.Eval(s.scores, s.lambda)}
	for i, v := range s.along {
		t.slope -= float64(s.lambda[i] * v)
	}
	return t
}

// line searches for a factor with a lower loss and a flat slope, starting with the factor of the last search. It
// returns the best factor tried. ok is false if no factor lowers the loss.
func (s *treeStep) line(scores []float64, slope float64) (factor float64, ok bool) {
	origin := trial{0, s.reached, slope}
	if !(slope < 0) {
		return 0, false
	}
	best, low, high, next := origin, origin, trial{factor: math.Inf(1)}, s.factor
	for range searchTrials {
		t := s.at(scores, next)
		if t.value < best.value {
			best = t
		}
		if t.value < origin.value && math.Abs(t.slope) <= -searchSlope*slope {
			return t.factor, true
		}
		if t.value <= low.value && t.slope < 0 {
			low = t
		} else {
			high = t
		}
		next = between(low, high)
	}
	return best.factor, best.factor > 0
}

// between returns the factor to try next. low is a point before the minimum and high a point behind it. The factor is
// the minimum of a parabola through both points: by their values if high has the higher value, otherwise by their
// slopes. It keeps a distance from both ends. If high is at infinity, the factor is four times that of low.
func between(low, high trial) float64 {
	if math.IsInf(high.factor, 1) {
		return float64(4 * low.factor)
	}
	width := high.factor - low.factor
	if high.value > low.value {
		fall := float64(-low.slope * width)
		return low.factor + float64(width*min(max(fall/(2*(high.value-low.value+fall)), 0.05), 0.5))
	}
	return low.factor + float64(width*min(max(low.slope/(low.slope-high.slope), 0.1), 0.9))
}

// lower returns the first of factor, factor/2, factor/4, … that lowers the loss. ok is false if none of them does. It
// leaves λ and the objective at the new scores for eval.
func (s *treeStep) lower(scores []float64, factor float64) (lower float64, ok bool) {
	for range searchTrials {
		if t := s.at(scores, factor); t.value < s.reached {
			s.reached, s.ahead = t.value, true
			return factor, true
		}
		factor /= 2
	}
	return 0, false
}
