package loss

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/internal/elementary"
)

// LambdaRank sorts a query's documents by score and computes λ with a λ function. With the default
// function,
//
//	value = 1 − M(ranking),   λ_i += λ_ij and λ_j −= λ_ij for all l_i > l_j,
//	λ_ij = |ΔM_ij| σ/(1 + exp(σ(s_i − s_j)))
//
// where l are grades and ΔM_ij is the change of the measure M if documents i and j swap ranks (Burges,
// Ragno and Le, Learning to Rank with Nonsmooth Cost Functions, NIPS 2006, eq. 9, with M = NDCG@10).
// Section 6.2 describes the other functions. The paper's learning rate schedule uses the value. λ is not
// the negative gradient of the value, which is zero or undefined everywhere. With Alpha above 0, ½Σα_i
// s_i² is added to the value and −α_i s_i to λ (section 4).
//
// M is any measure, under its own convention. A pair takes constant time for NDCG, AP, MRR and ERR.
// Other measures are computed again for each pair. Bind returns [Nothing] if the measure is the same for
// all rankings, for example without relevant documents. Documents with equal scores are in a random
// order, which Bind draws once.
type LambdaRank struct {
	// Measure is M. It must not increase when a worse document moves up. The loss is between 0 and 1 if
	// M is and Alpha is 0.
	Measure measure.Measure

	// Kind is the λ function.
	Kind Lambda

	// Truncation limits the pairs: at least one document must be among the first Truncation ranks. 0
	// means no limit. A cutoff of the measure has the same effect, because ΔM is 0 below it. Time is
	// O(Tn), where T is the smaller of Truncation and cutoff. Truncation is an error for
	// LambdaDifference.
	Truncation int

	// Sigma is the slope σ of the logistic kinds; 0 means the paper's 1.
	Sigma float64

	// Margin is a difference of scores. 0 means the default of the λ function: 0 for the logistic kinds
	// and 1 for steps and springs. For LambdaDifference, Margin is the step; its default is the mean gap
	// between neighbouring scores.
	Margin float64

	// GapNorm divides |ΔM_ij| by 0.01 + |s_i − s_j|, unless all scores are equal. Pairs with distant
	// scores then have less effect. XGBoost has this option as lambdarank_score_normalization.
	// LightGBM's lambdarank_norm is GapNorm and SumNorm together.
	//
	// SumNorm multiplies λ by log2(1 + S)/S, where S = 2Σ|λ_ij| over the pairs of the query. Queries
	// with many pairs then do not outweigh others. XGBoost has this option as lambdarank_normalization,
	// for pairs by rank.
	//
	// If GapNorm or SumNorm is set, Truncation is T and M is NDCG of whole lists, then ΔDCG is divided
	// by the ideal DCG of the first T ranks. LightGBM and XGBoost do the same. Second derivatives treat
	// the factors of both options as constants; XGBoost's second derivatives are twice as large. Both
	// options are errors for LambdaDifference.
	GapNorm, SumNorm bool

	// Alpha is the α of the regularisation in section 4: λ_i becomes λ_i − αs_i. It adds α to every
	// eigenvalue of the symmetric part of the Jacobian of −λ. It pulls every score to 0, so Σλ is no
	// longer 0. The paper writes λ_i + α_i s_i, because λ is the gradient of the cost in its eq. 4. In
	// eq. 3, as here, λ is the negative gradient.
	Alpha float64

	// AlphaRatio gives each document its own α_i, as section 4 does: Alpha·AlphaRatio^g for a document
	// of grade g. 0 means 1, so all α_i are the same. α_i must not depend on the rank, because λ would
	// jump where documents swap ranks.
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

// Bind implements [Loss]. For the logistic kinds and the springs, the result is a [Diagonal].
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
		b.depth = cut + 1 // the last rank that counts can form a pair with the next one
	}
	if pairs, ok := field.(*pairField); ok {
		if law, ok := pairs.law.(secondLaw); ok {
			return &boundSecondLambdaRank{b, pairs, law}, nil
		}
	}
	return b, nil
}

// WeighsDocuments implements [DocumentWeighted]. It returns false for LambdaDifference, which has no
// pairs.
func (l LambdaRank) WeighsDocuments() bool {
	return l.Kind.known() && lambdas[l.Kind].law != differenceKind
}

// BindDocuments implements [DocumentWeighted]. The weights of both documents multiply λ_ij of a pair.
// They do not affect the change of the measure, the value or the term of Alpha.
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
	// eval overwrites lambda with the λ of the document at each rank of r. ranked contains the grades by
	// rank.
	eval(lambda []float64, r byScore, ranked []float64, scratch *Scratch)
}

type boundLambdaRank struct {
	measure measure.Measure
	grades  []float64
	order   permutation // order of documents with equal scores
	depth   int         // number of first ranks that the measure and the field need sorted
	field   lambdaField
	alphas  []float64 // by document; nil if Alpha is 0
}

// alphas returns the α of each document, or nil if Alpha is 0.
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

// PairCosts implements [PairCosts]. With the default λ function, the cost of a pair is
//
//	|ΔM_ij| log(1 + exp(−σ(s_i − s_j))),
//
// where |ΔM_ij| includes the factor of GapNorm but not that of SumNorm. It panics for LambdaDifference, which
// has no pairs.
func (b *boundLambdaRank) PairCosts(scores, better, worse []float64, scratch *Scratch) {
	scratch.Reset()
	n := len(scores)
	r := rankByScore(scores, b.order, b.depth, scratch)
	above, below := scratch.Floats(n), scratch.Floats(n)
	b.field.(*pairField).costs(above, below, r, scratch)
	r.scatter(better, above)
	r.scatter(worse, below)
}

// regularise returns ½Σα_i s_i². If lambda is not nil, it adds −α_i s_i to lambda.
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

// EvalSecond implements [Diagonal]. The derivatives treat the ranking as constant.
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
