package loss

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/internal/kernel"
	"github.com/listwise/listwise/internal/suggest"
)

// LambdaLoss is the pairwise logistic loss with weights that depend on the current ranking (Wang, Li,
// Golbandi, Bendersky and Najork, The LambdaLoss Framework for Ranking Metric Optimization, CIKM 2018),
//
//	L(s) = Σ_{l_i > l_j} w_ij log2(1 + exp(−σ(s_i − s_j))),   λ_ij = w_ij (σ/ln 2)/(1 + exp(σ(s_i − s_j))).
//
// Each pair adds λ_ij to λ_i and subtracts it from λ_j. Let g_i be the gain of document i divided by the
// ideal DCG, D the discount and r_i the rank by score. The weights are
//
//	ndcg1       w_ij = g_i D(r_i)
//	ndcg2       w_ij = (g_i − g_j) δ_ij,             δ_ij = D(|r_i − r_j|) − D(|r_i − r_j| + 1)
//	lambdarank  w_ij = (g_i − g_j) ρ_ij,             ρ_ij = |D(r_i) − D(r_j)|
//	ndcg2++     w_ij = (g_i − g_j) (ρ_ij + μ δ_ij)
//
// λ treats the weights as constants. So it is the negative gradient of the value as long as the ranking
// does not change. Where two documents swap ranks, the value jumps, so a line search on it fails
// ([Traits].NonGradient).
//
// Documents with equal scores rank by ascending grade, which makes the loss largest. Among documents
// with equal scores and grades, λ is the mean over all orders. An evaluation takes a sort and O(n⁺n) for
// n⁺ documents with gain.
//
// Bind returns a [Diagonal], or [Nothing] if all documents have the same grade.
type LambdaLoss struct {
	// Convention determines gain and discount. LambdaLoss ignores its other rules.
	Convention measure.Convention

	// Weights is the formula of the weights w_ij. The zero value is NDCGLoss2PP.
	Weights LambdaWeights

	// Sigma is the slope σ of the logistic loss; 0 means 1.
	Sigma float64

	// Mu is the factor μ of δ in ndcg2++; 0 means 10, the paper's value. For weights without δ, use
	// lambdarank.
	Mu float64
}

// LambdaWeights identifies the formula of the weights w_ij.
type LambdaWeights int

// The weights. [LambdaLoss] has their formulas.
const (
	NDCGLoss2PP       LambdaWeights = iota // ndcg2++
	NDCGLoss2                              // ndcg2
	NDCGLoss1                              // ndcg1
	LambdaRankWeights                      // lambdarank
)

var lambdaWeightsNames = [...]string{"ndcg2++", "ndcg2", "ndcg1", "lambdarank"}

// ParseLambdaWeights returns the weights with the given name: ndcg2++, ndcg2, ndcg1 or lambdarank.
func ParseLambdaWeights(name string) (LambdaWeights, error) {
	i := slices.Index(lambdaWeightsNames[:], name)
	if i < 0 {
		return 0, fmt.Errorf("weights %q, expected %s", name, suggest.OneOf(lambdaWeightsNames[:]))
	}
	return LambdaWeights(i), nil
}

// String returns the name that ParseLambdaWeights reads.
func (w LambdaWeights) String() string { return lambdaWeightsNames[w] }

var _ Loss = LambdaLoss{}

const (
	defaultLambdaSigma = 1
	defaultLambdaMu    = 10
)

// Validate returns an error for options that fit no query.
func (l LambdaLoss) Validate() error {
	if l.Weights < 0 || int(l.Weights) >= len(lambdaWeightsNames) {
		return fmt.Errorf("weights %d, expected %s", int(l.Weights), suggest.OneOf(lambdaWeightsNames[:]))
	}
	if err := positiveOrZero("mu", l.Mu); err != nil {
		return err
	}
	return positiveOrZero("sigma", l.Sigma)
}

// Bind implements [Loss].
func (l LambdaLoss) Bind(grades []float64, _ *rand.Rand) (QueryLoss, error) {
	if err := l.Validate(); err != nil {
		return nil, err
	}
	if constant(grades) {
		return Nothing, nil
	}
	n := len(grades)
	b := boundLambdaLoss{
		order:    make([]int32, n),
		gains:    make([]float64, n),
		discount: make([]float64, n),
		sigma:    orDefault(l.Sigma, defaultLambdaSigma),
		first:    l.Weights == NDCGLoss1,
	}
	for i := range b.order {
		b.order[i] = int32(i)
	}
	sortByGrade(b.order, grades)
	slices.Reverse(b.order)
	kernel.Gather(b.gains, normalGains(l.Convention, grades, 0), b.order, 1)
	for r := range b.discount {
		b.discount[r] = l.Convention.Discount(r + 1)
	}
	var delta float64
	switch l.Weights {
	case NDCGLoss2:
		delta = 1
	case NDCGLoss2PP:
		b.rho, delta = 1, orDefault(l.Mu, defaultLambdaMu)
	case LambdaRankWeights:
		b.rho = 1
	}
	b.apart = distanceWeights(l.Convention, n, delta)
	return b, nil
}

// distanceWeights returns scale·δ for all differences of ranks, from −(n−1) to n−1.
func distanceWeights(c measure.Convention, n int, scale float64) []float64 {
	apart := make([]float64, 2*n-1)
	for d := 1; d < n; d++ {
		v := scale * (c.Discount(d) - c.Discount(d+1))
		apart[n-1-d], apart[n-1+d] = v, v
	}
	return apart
}

// Traits implements [Loss].
func (LambdaLoss) Traits() Traits { return Traits{ShiftInvariant: true, NonGradient: true} }

// boundLambdaLoss stores a query's documents by ascending grade. A stable sort by score then ranks ties
// by ascending grade.
type boundLambdaLoss struct {
	order    []int32
	gains    []float64 // indexed like order
	discount []float64 // of ranks 1, 2, …
	rho      float64   // factor of ρ
	apart    []float64 // δ times its factor, for differences of ranks −(n−1) … n−1
	first    bool      // the weights are ndcg1
	sigma    float64
}

func (b boundLambdaLoss) Eval(scores, lambda []float64, scratch *Scratch) float64 {
	return b.EvalSecond(scores, lambda, nil, scratch)
}

// EvalSecond implements [Diagonal]. The derivatives treat the weights as constants.
func (b boundLambdaLoss) EvalSecond(scores, lambda, second []float64, scratch *Scratch) float64 {
	scratch.Reset()
	n := len(scores)
	x, place, gains := scratch.Floats(n), scratch.Floats(n), scratch.Floats(n)
	b.rank(x, place, gains, scores, scratch)
	w, odds, slope, byRank := scratch.Floats(n), scratch.Floats(n), scratch.Floats(n), scratch.Floats(n)
	clear(byRank)
	curvature := scratch.Floats(len(second))
	clear(curvature)
	var value float64
	for r, g := range gains {
		if g == 0 {
			continue
		}
		b.pairWeights(w, gains, r)
		for q, v := range x {
			odds[q] = min(b.sigma*(v-x[r]), -lowestScore)
		}
		if lambda != nil {
			kernel.Logistic(slope, odds)
			own := subtractWeighted(byRank, w, slope)
			byRank[r] += own
		}
		if second != nil {
			addCurvature(curvature, w, slope, r)
		}
		kernel.Softplus(odds, odds)
		value += kernel.Dot(w, odds)
	}
	if lambda != nil {
		averageAlike(byRank, x, gains)
		for r, v := range byRank {
			lambda[b.order[int(place[r])]] = b.sigma / math.Ln2 * v
		}
	}
	if second != nil {
		averageAlike(curvature, x, gains)
		for r, v := range curvature {
			second[b.order[int(place[r])]] = b.sigma * b.sigma / math.Ln2 * v
		}
	}
	return value / math.Ln2
}

// rank sorts the documents by score. In the order of ranks, it sets x to the scores, place to the
// indices in b.order, and gains to the gains.
func (b boundLambdaLoss) rank(x, place, gains, scores []float64, scratch *Scratch) {
	kernel.Gather(x, scores, b.order, 1)
	for i := range place {
		place[i] = float64(i)
	}
	work := scratch.Floats(len(x))
	kernel.SortDescending(x, place, work, gains)
	for r, p := range place {
		gains[r] = b.gains[int(p)]
	}
}

// pairWeights sets w[q] to the weight of the pair of documents at the ranks r and q, counted from 0. The
// weight is 0 unless the document at rank q is worse.
func (b boundLambdaLoss) pairWeights(w, gains []float64, r int) {
	g, d := gains[r], b.discount[r]
	w = w[:len(gains)]
	if b.first {
		for q, other := range gains {
			w[q] = 0
			if other < g {
				w[q] = g * d
			}
		}
		return
	}
	discount, apart := b.discount[:len(gains)], b.apart[len(gains)-1-r:][:len(gains)]
	for q, other := range gains {
		w[q] = max(g-other, 0) * (float64(b.rho*math.Abs(d-discount[q])) + apart[q])
	}
}

// subtractWeighted subtracts w[q]·slope[q] from lambda[q] and returns Σ w[q]·slope[q].
func subtractWeighted(lambda, w, slope []float64) float64 {
	w, slope = w[:len(lambda)], slope[:len(lambda)]
	var sum float64
	for q, v := range w {
		f := float64(v * slope[q])
		lambda[q] -= f
		sum += f
	}
	return sum
}

// addCurvature adds w[q]·slope[q](1 − slope[q]) to curvature[q] and to curvature[r].
func addCurvature(curvature, w, slope []float64, r int) {
	w, slope = w[:len(curvature)], slope[:len(curvature)]
	var own float64
	for q, v := range w {
		c := float64(v * slope[q] * (1 - slope[q]))
		curvature[q] += c
		own += c
	}
	curvature[r] += own
}

// averageAlike replaces the λ of documents with equal score and gain by their mean. Such documents have
// adjacent ranks.
func averageAlike(lambda, x, gains []float64) {
	for from := 0; from < len(x); {
		to := from + 1
		for to < len(x) && x[to] == x[from] && gains[to] == gains[from] {
			to++
		}
		kernel.AverageTies(lambda[from:to], x[from:to])
		from = to
	}
}
