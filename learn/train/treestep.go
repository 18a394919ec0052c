package train

import (
	"math"

	"github.com/listwise/listwise/learn/loss"
	"github.com/listwise/listwise/learn/objective"
)

// treeStep decides what a tree is fitted to and how far the sum moves along it. There are three
// kinds of losses:
//
//   - A loss with second derivatives by score (loss.Diagonal), unless gradient steps are asked
//     for: a tree approximates a Newton step, and its values are taken as they are.
//   - A loss without them, or with negative ones, as where it is not convex: a tree is fitted to
//     λ by least squares. A line search finds the factor of its values that minimises the loss
//     (Friedman, Greedy Function Approximation, Annals of Statistics 2001, Algorithm 1, step 5).
//   - A loss whose λ is no gradient (loss.Traits.NonGradient): a tree is fitted to λ, and its
//     values are taken as they are, because there is nothing to search on.
//
// The last two divide λ by its root mean square at the start, so that values are of the order
// of 1 for any unit of the loss. Every document of a query that teaches has the curvature 1,
// times its weights. So least curvature and L2 count documents.
type treeStep struct {
	loss    *objective.Functional
	newton  bool
	search  bool
	weight  []float64 // where not newton: of documents that teach their weight times their query's, else 0
	scale   float64   // that λ is multiplied with; 0 before the start
	factor  float64   // of the last tree's values, with which the next search begins
	along   []float64 // the tree's value of each document
	scores  []float64 // on trial
	lambda  []float64
	reached float64 // the objective at the scores
	ahead   bool    // lambda is that of the scores after take, and reached their objective
}

// searchTrials are the evaluations of a line search, at most; searchSlope is the part of the
// slope at its start that ends it. As the step is multiplied by the rate, more digits would
// be of no use.
const (
	searchTrials = 10
	searchSlope  = 0.5
)

// Steps say what trees are fitted to.
type Steps int

// The kinds of steps.
const (
	AnySteps      Steps = iota // Newton steps if the loss has second derivatives, else along λ
	NewtonSteps                // an error if it has none
	GradientSteps              // along λ
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

// eval overwrites lambda and second with what the next tree is fitted to at the scores, and
// returns the objective there.
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

// moved says that the scores have changed in another way than by the last tree.
func (s *treeStep) moved() { s.ahead = false }

// redraw repeats the random draws of the loss.
func (s *treeStep) redraw(round int) error {
	s.ahead = false
	return s.loss.Redraw(round)
}

// inverseSize returns one over the root mean square, by weights, of λ over the documents that teach, and 1
// where all are 0.
func (s *treeStep) inverseSize(lambda []float64) float64 {
	var squares, documents float64
	for i, w := range s.weight {
		if w > 0 { // λ has the weight in it
			squares += lambda[i] * lambda[i] / w
			documents += w
		}
	}
	if size := math.Sqrt(squares / documents); size > 1e-300 {
		return 1 / size
	}
	return 1
}

// leavesAdder adds to scores the values of the leaves of a tree.
type leavesAdder interface {
	Add(scores, values []float64)
}

// take multiplies the values of a tree with the rate, and with the factor that
// the search finds, and adds them to the scores. It reports false, and adds nothing, if the
// search finds none that lowers the loss.
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

// trial is a factor with the loss and its slope there.
type trial struct{ factor, value, slope float64 }

// at evaluates the loss at the scores plus factor times the tree.
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

// line looks for a factor at which the loss is lower and its slope is flat, beginning with the
// last factor. It returns the best one that it meets; ok is false if none lowers the loss.
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

// between returns the factor to try between a point where the loss falls and one behind its
// minimum. It is the minimum of the parabola through both points: by their values if the second
// is higher, else by their slopes. It stays away from both ends.
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

// lower returns the first of factor, factor/2, factor/4, … at which the loss is lower than at
// the scores: the first, if it is convex. ok is false if none is. It leaves what eval needs.
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
