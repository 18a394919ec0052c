package loss

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/internal/elementary"
)

// LambdaRank sorts a query's documents by score and computes λ by a λ function; with
// the default one,
//
//	value = 1 − M(ranking),   λ_i += λ_ij and λ_j −= λ_ij for all l_i > l_j,
//	λ_ij = |ΔM_ij| σ/(1 + exp(σ(s_i − s_j)))
//
// where l are grades and ΔM_ij is the change of the measure M if documents i and j change places (Burges,
// Ragno and Le, Learning to Rank with Nonsmooth Cost Functions, NIPS 2006, eq. 9, with M = NDCG@10;
// section 6.2 for the others). The paper's learning rate schedule watches the value. λ is not its negative
// gradient, which is zero or undefined everywhere. With Alpha above 0, ½Σα_i s_i² is added to the value
// and −α_i s_i to λ (section 4 there).
//
// M is any measure, under its own convention. NDCG, AP, MRR and ERR take O(1) a pair; other measures are
// computed again for each pair. The loss is [Nothing] if the measure is the same for all rankings (without
// relevant documents, say). Documents of equal score are in a random order that Bind draws once.
type LambdaRank struct {
	// Measure is M. It must have a value between 0 and 1 if the loss is to lie
	// there, and must not grow when a worse document moves up.
	Measure measure.Measure

	// Kind is the λ function.
	Kind Lambda

	// Truncation, if not 0, leaves out pairs with both documents below that many
	// ranks. The cutoff of the measure does that anyway, as ΔM is 0 there: time
	// is O(Tn) with T the smaller of the two. LambdaDifference does not have it.
	Truncation int

	// Sigma is the slope σ of the logistic kinds; 0 means the paper's 1.
	Sigma float64

	// Margin is a difference of scores. 0 means the λ function's default: 0
	// for the logistic kinds, 1 for steps and springs, and for LambdaDifference,
	// whose step it is, the mean gap between neighbouring scores.
	Margin float64

	// GapNorm divides the size of ΔM_ij by 0.01 + |s_i − s_j|, unless all scores are equal:
	// LightGBM's lambdarank_norm together with SumNorm, XGBoost's
	// lambdarank_score_normalization. Pairs that are far apart then pull less.
	//
	// SumNorm multiplies λ with log2(1 + S)/S, S = 2Σ|λ_ij| over the pairs of the query, so
	// that queries with many pairs do not outweigh others: XGBoost's
	// lambdarank_normalization with pairs by rank.
	//
	// With either, a Truncation T under NDCG of whole lists divides ΔDCG by the ideal DCG of
	// the first T ranks, as both programs do. Second derivatives take what these multiply
	// and divide by as constants (XGBoost's are twice as large). LambdaDifference has neither.
	GapNorm, SumNorm bool

	// Alpha is the α of the regularisation of section 4: λ_i becomes λ_i − αs_i. (The paper writes λ_i +
	// α_i s_i. It has −λ for the cost's gradient in eq. 3 and λ in eq. 4; with the latter the Jacobian of
	// −λ is positive definite.) It adds α to every eigenvalue of that Jacobian's symmetric part, and pulls
	// every score to 0, so that Σλ is no longer 0.
	Alpha float64

	// AlphaRatio gives each document an α_i of its own, as that section has it: that of a
	// document of grade g is Alpha·AlphaRatio^g. 0 means 1, the same α for all. An α of a
	// rank would not do: λ would jump where documents change places.
	AlphaRatio float64
}

var _ Loss = LambdaRank{}

// Validate returns an error for options that fit no query.
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
	case !(l.Alpha >= 0) || math.IsInf(l.Alpha, 1):
		return fmt.Errorf("alpha %v, expected a finite non-negative number", l.Alpha)
	case !(l.AlphaRatio >= 0) || math.IsInf(l.AlphaRatio, 1):
		return fmt.Errorf("alpharatio %v, expected a finite positive number", l.AlphaRatio)
	case l.AlphaRatio != 0 && l.AlphaRatio != 1 && l.Alpha == 0:
		return fmt.Errorf("alpharatio %v: alpha is 0, expected a positive number", l.AlphaRatio)
	}
	law := lambdas[l.Kind].law
	if law != logisticKind && l.Sigma != 0 {
		return fmt.Errorf("sigma %v: the lambda function %s has no slope", l.Sigma, l.Kind)
	}
	if law == differenceKind && (l.GapNorm || l.SumNorm) {
		return fmt.Errorf("normalisation of pairs: the lambda function %s has none", l.Kind)
	}
	if law == differenceKind && l.Truncation != 0 {
		return fmt.Errorf("truncation %d: the lambda function %s has no pairs to leave out", l.Truncation, l.Kind)
	}
	return validateSigma(l.Sigma)
}

// Bind implements [Loss]. For the logistic kinds and the springs, whose λ changes with
// the scores of a ranking, what it returns is a [Diagonal].
func (l LambdaRank) Bind(grades []float64, rng *rand.Rand) (QueryLoss, error) {
	return l.BindWeighted(grades, PairWeights{}, rng)
}

// BindWeighted implements [PairWeighted]. Weights are an error for LambdaDifference, which has
// no pairs.
func (l LambdaRank) BindWeighted(grades []float64, w PairWeights, rng *rand.Rand) (QueryLoss, error) {
	if err := l.Validate(); err != nil {
		return nil, err
	}
	if err := w.Validate(len(grades)); err != nil {
		return nil, err
	}
	if len(grades) == 0 || settled(l.Measure, grades) {
		return Nothing, nil
	}
	field, err := l.field(grades, w)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", l.Measure.Name(), err)
	}
	b := &boundLambdaRank{measure: l.Measure, grades: grades, order: newPermutation(len(grades), rng), field: field}
	if b.alphas, err = l.alphas(grades); err != nil {
		return nil, err
	}
	b.depth = len(grades)
	if cut := depthOf(l.Measure); lambdas[l.Kind].law != differenceKind && cut < b.depth {
		b.depth = cut + 1 // the last of the ranks that count has a neighbour below
	}
	if pairs, ok := field.(*pairField); ok {
		if law, ok := pairs.law.(secondLaw); ok {
			return &boundSecondLambdaRank{b, pairs, law}, nil
		}
	}
	return b, nil
}

// WeighsDocuments implements [DocumentWeighted]: LambdaDifference has no pairs.
func (l LambdaRank) WeighsDocuments() bool {
	return l.Kind.known() && lambdas[l.Kind].law != differenceKind
}

// BindDocuments implements [DocumentWeighted]: a pair is weighed by the product of the weights of
// its documents. The change of the measure does not depend on these weights, nor do the value and
// the term of Alpha.
func (l LambdaRank) BindDocuments(grades, weights []float64, rng *rand.Rand) (QueryLoss, error) {
	if err := checkDocumentWeights(weights, len(grades)); err != nil {
		return nil, err
	}
	return l.BindWeighted(grades, PairWeights{weights, weights}, rng)
}

// field returns the λ function, bound to a query.
func (l LambdaRank) field(grades []float64, w PairWeights) (lambdaField, error) {
	entry := lambdas[l.Kind]
	margin := l.Margin
	if margin == 0 {
		margin = entry.margin
	}
	var law pairLaw
	switch entry.law {
	case logisticKind:
		law = newLogisticLaw(sigmaOr1(l.Sigma), margin)
	case stepKind:
		law = stepLaw{margin}
	case springKind:
		law = springLaw{margin}
	case differenceKind:
		if !w.IsZero() {
			return nil, fmt.Errorf("weights of documents in pairs: the lambda function %s has none", l.Kind)
		}
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
	return &pairField{swaps, law, entry.nearest, truncation, newLambdaNorm(l, grades, w)}, nil
}

// Traits implements [Loss].
func (l LambdaRank) Traits() Traits { return Traits{ShiftInvariant: l.Alpha == 0, NonGradient: true} }

// lambdaField is a λ function bound to a query. It is immutable.
type lambdaField interface {
	// eval overwrites lambda with the λ of the document at each rank of the ranking
	// r, whose grades are ranked.
	eval(lambda []float64, r byScore, ranked []float64, scratch *Scratch)
}

type boundLambdaRank struct {
	measure measure.Measure
	grades  []float64
	order   permutation // in which documents of equal score stand
	depth   int         // of the ranks in order that the measure and the field need
	field   lambdaField
	alphas  []float64 // of the documents; nil for none
}

// alphas returns the α of each document.
func (l LambdaRank) alphas(grades []float64) ([]float64, error) {
	if l.Alpha == 0 {
		return nil, nil
	}
	alphas := make([]float64, len(grades))
	for i, g := range grades {
		alphas[i] = l.Alpha
		if l.AlphaRatio != 0 {
			alphas[i] *= elementary.Pow(l.AlphaRatio, g)
		}
		if math.IsInf(alphas[i], 1) {
			return nil, fmt.Errorf("alpha %v with alpharatio %v: the α of grade %v is infinite", l.Alpha, l.AlphaRatio, g)
		}
	}
	return alphas, nil
}

func (b *boundLambdaRank) Eval(scores, lambda []float64, scratch *Scratch) float64 {
	scratch.Reset()
	r := rankByScore(scores, b.order, b.depth, scratch)
	ranked := scratch.Floats(len(scores))
	r.gather(ranked, b.grades)
	value, _ := b.measure.Value(ranked)
	if lambda != nil {
		byRank := scratch.Floats(len(scores))
		b.field.eval(byRank, r, ranked, scratch)
		r.scatter(lambda, byRank)
	}
	return 1 - value + b.regularise(scores, lambda)
}

// regularise returns ½Σα_i s_i² and, if lambda is not nil, adds −α_i s_i to it.
func (b *boundLambdaRank) regularise(scores, lambda []float64) float64 {
	var sum float64
	for i, alpha := range b.alphas {
		s := scores[i]
		sum += float64(float64(alpha*s) * s)
		if lambda != nil {
			lambda[i] -= float64(alpha * s)
		}
	}
	return float64(sum / 2)
}

// boundSecondLambdaRank is a boundLambdaRank with second derivatives.
type boundSecondLambdaRank struct {
	*boundLambdaRank
	pairs *pairField
	law   secondLaw
}

// EvalSecond implements [Diagonal], with the ranking held fixed.
func (b *boundSecondLambdaRank) EvalSecond(scores, lambda, second []float64, scratch *Scratch) float64 {
	scratch.Reset()
	n := len(scores)
	r := rankByScore(scores, b.order, b.depth, scratch)
	ranked, first, diagonal := scratch.Floats(n), scratch.Floats(n), scratch.Floats(n)
	r.gather(ranked, b.grades)
	value, _ := b.measure.Value(ranked)
	b.pairs.pairs(first, diagonal, r, b.law, scratch)
	r.scatter(lambda, first)
	r.scatter(second, diagonal)
	for i, alpha := range b.alphas {
		second[i] += alpha
	}
	return 1 - value + b.regularise(scores, lambda)
}
