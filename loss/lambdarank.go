package loss

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/listwise/listwise/measure"
)

// LambdaRank sorts a query's documents by score and pulls at them by the rule of a
// λ function,
//
//	value = 1 − M(ranking),   λ = Σ of forces between pairs of documents, in the
//	chosen function λ_ij = |ΔM_ij| σ/(1 + exp(σ(s_i − s_j)))
//
// where ΔM_ij is the change of the measure M if documents i, the better, and j
// change places (Burges, Ragno and Le, Learning to Rank with Nonsmooth Cost
// Functions, NIPS 2006, eq. 9, with M = NDCG@10; section 6.2 for the others). The
// value is what the paper's schedule watches; λ is a field of forces and not its
// gradient, which is zero or undefined everywhere.
//
// Every measure will do, under its own convention: NDCG, AP, MRR and ERR take O(1)
// a pair, others compute the measure anew for each. A query whose measure is the
// same for all rankings (without relevant documents, say) teaches nothing and its
// value is 0. Documents of equal score stand in a random order that is drawn once,
// in Bind.
type LambdaRank struct {
	// Measure is M. It must have a value between 0 and 1 if the loss is to lie
	// there, and must not grow when a worse document moves up.
	Measure measure.Measure

	// Kind is the λ function.
	Kind Lambda

	// Truncation, if not 0, leaves out pairs with both documents below that many
	// ranks. The cut-off of the measure does that anyway, as ΔM is 0 there: time
	// is O(Tn) with T the smaller of the two. LambdaDifference does not have it.
	Truncation int

	// Sigma is the slope σ of the logistic kinds; 0 stands for the paper's 1.
	Sigma float64

	// Margin is a difference of scores. 0 stands for the λ function's own: none
	// for the logistic kinds, 1 for steps and springs, and the mean gap between
	// neighbouring scores for the step of LambdaDifference.
	Margin float64
}

var _ Loss = LambdaRank{}

// Validate tells of options that no query can be trained with.
func (l LambdaRank) Validate() error {
	switch {
	case l.Measure == nil:
		return errors.New("no measure to train for")
	case !l.Kind.known():
		return fmt.Errorf("lambda function %d, expected %s", int(l.Kind), lambdaNames())
	case l.Truncation < 0:
		return fmt.Errorf("truncation %d, expected a number of ranks, or 0 for none", l.Truncation)
	case !(l.Margin >= 0) || math.IsInf(l.Margin, 1):
		return fmt.Errorf("margin %v, expected a finite non-negative number", l.Margin)
	}
	law := lambdas[l.Kind].law
	if law != logisticKind && l.Sigma != 0 {
		return fmt.Errorf("sigma %v: the lambda function %s has no slope", l.Sigma, l.Kind)
	}
	if law == differenceKind && l.Truncation != 0 {
		return fmt.Errorf("truncation %d: the lambda function %s has no pairs to leave out", l.Truncation, l.Kind)
	}
	return validateSigma(l.Sigma)
}

// Bind implements [Loss]. For the logistic kinds and the springs, whose forces change
// with the scores, what it returns is a [Diagonal].
func (l LambdaRank) Bind(grades []float64, rng *rand.Rand) (QueryLoss, error) {
	if err := l.Validate(); err != nil {
		return nil, err
	}
	if len(grades) == 0 || settled(l.Measure, grades) {
		return Nothing, nil
	}
	field, err := l.field(grades)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", l.Measure.Name(), err)
	}
	b := &boundLambdaRank{measure: l.Measure, grades: grades, order: make([]int32, len(grades)), field: field}
	b.depth = len(grades)
	if cut := depthOf(l.Measure); lambdas[l.Kind].law != differenceKind && cut < b.depth {
		b.depth = cut + 1 // the last of the ranks that count has a neighbour below
	}
	for place, d := range rng.Perm(len(grades)) {
		b.order[place] = int32(d)
	}
	if pairs, ok := field.(*pairField); ok {
		if law, ok := pairs.law.(bendingLaw); ok {
			return &boundBendingLambdaRank{b, pairs, law}, nil
		}
	}
	return b, nil
}

// field returns the forces on a query's documents.
func (l LambdaRank) field(grades []float64) (forceField, error) {
	entry := lambdas[l.Kind]
	margin := l.Margin
	if margin == 0 {
		margin = entry.margin
	}
	var law forceLaw
	switch entry.law {
	case logisticKind:
		law = newLogisticLaw(sigmaOr1(l.Sigma), margin)
	case stepKind:
		law = stepLaw{margin}
	case springKind:
		law = springLaw{margin}
	case differenceKind:
		return &differenceField{l.Measure, margin, depthOf(l.Measure)}, nil
	}
	swaps, err := measure.SwapsOf(l.Measure, grades)
	if err != nil {
		return nil, err
	}
	truncation := l.Truncation
	if truncation == 0 {
		truncation = len(grades)
	}
	return &pairField{swaps, law, entry.nearest, truncation}, nil
}

// Traits implements [Loss].
func (LambdaRank) Traits() Traits { return Traits{ShiftInvariant: true, NonGradient: true} }

// forceField is a λ function bound to a query. It is immutable.
type forceField interface {
	// forces overwrites forces with the λ of the document at each rank of the
	// ranking r, whose grades are ranked.
	forces(forces []float64, r byScore, ranked []float64, scratch *Scratch)
}

type boundLambdaRank struct {
	measure measure.Measure
	grades  []float64
	order   []int32 // in which documents of equal score stand
	depth   int     // of the ranks in order that the measure and the field need
	field   forceField
}

func (b *boundLambdaRank) Eval(scores, lambda []float64, scratch *Scratch) float64 {
	scratch.Reset()
	r := rankByScore(scores, b.order, b.depth, scratch)
	ranked := scratch.Floats(len(scores))
	r.gather(ranked, b.grades)
	value, _ := b.measure.Value(ranked)
	if lambda != nil {
		forces := scratch.Floats(len(scores))
		b.field.forces(forces, r, ranked, scratch)
		r.scatter(lambda, forces)
	}
	return 1 - value
}

// boundBendingLambdaRank is a boundLambdaRank whose forces change with the scores.
type boundBendingLambdaRank struct {
	*boundLambdaRank
	pairs *pairField
	law   bendingLaw
}

// EvalSecond implements [Diagonal], with the ranking held fixed.
func (b *boundBendingLambdaRank) EvalSecond(scores, lambda, second []float64, scratch *Scratch) float64 {
	scratch.Reset()
	n := len(scores)
	r := rankByScore(scores, b.order, b.depth, scratch)
	ranked, forces, bends := scratch.Floats(n), scratch.Floats(n), scratch.Floats(n)
	r.gather(ranked, b.grades)
	value, _ := b.measure.Value(ranked)
	b.pairs.pairs(forces, bends, r, b.law, scratch)
	r.scatter(lambda, forces)
	r.scatter(second, bends)
	return 1 - value
}
