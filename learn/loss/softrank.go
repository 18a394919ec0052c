package loss

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/internal/elementary"
	"github.com/listwise/listwise/internal/kernel"
	"github.com/listwise/listwise/internal/poissonbinomial"
)

// SoftRank is 1 minus SoftNDCG, the expected NDCG of documents whose scores are uncertain. With
// independent S_i ~ N(s_i, σ²), document i ranks above j with probability
//
//	p_ij = P(S_i > S_j) = Φ((s_i − s_j)/(σ√2)),
//
// The rank of j is approximated by one plus a Poisson-binomial variable R_j, as if the events S_i > S_j
// of different i were independent:
//
//	L(s) = 1 − Σ_j g_j E[D(1 + R_j)],   ∂E/∂p_ij = Σ_r P(R_j − X_ij = r) (D(r+2) − D(r+1))
//
// (Taylor, Guiver, Robertson and Minka, SoftRank: Optimizing Non-Smooth Rank Metrics, WSDM 2008). g_j is
// the gain of document j divided by the ideal DCG, D the discount, and X_ij is 1 if i is above j. The
// distribution of R_j − X_ij is computed from two partial distributions, over the documents before i and
// after i. Dividing X_ij out of the distribution of R_j instead would lose digits. L is between 0 and 1.
// It is smooth and not convex.
//
// An evaluation takes O(n⁺nk) for n⁺ documents with gain and k ranks that count (n without a cutoff). It
// needs nk numbers of working memory.
//
// Bind returns [Nothing] if all documents have the same grade.
type SoftRank struct {
	// Convention determines gain and discount. SoftRank ignores its other rules.
	Convention measure.Convention

	// Sigma is the standard deviation σ of the scores; 0 means 1.
	Sigma float64

	// Cutoff is the last rank that counts; 0 means all.
	Cutoff int
}

var _ Loss = SoftRank{}

const defaultScoreDeviation = 1

// Validate returns an error for options that fit no query.
func (l SoftRank) Validate() error {
	if l.Cutoff < 0 {
		return fmt.Errorf("cutoff %d, expected a positive number", l.Cutoff)
	}
	return positiveOrZero("sigma", l.Sigma)
}

// Bind implements [Loss].
func (l SoftRank) Bind(grades []float64, _ *rand.Rand) (QueryLoss, error) {
	if err := l.Validate(); err != nil {
		return nil, err
	}
	if constant(grades) {
		return Nothing, nil
	}
	n := len(grades)
	ranks := n
	if l.Cutoff > 0 {
		ranks = min(n, l.Cutoff)
	}
	b := boundSoftRank{
		gains:    normalGains(l.Convention, grades, l.Cutoff),
		discount: make([]float64, ranks),
		steps:    make([]float64, min(ranks, n-1)),
		sigma:    orDefault(l.Sigma, defaultScoreDeviation),
	}
	for r := range b.discount {
		b.discount[r] = l.Convention.Discount(r + 1)
	}
	for r := range b.steps {
		b.steps[r] = -b.discount[r]
		if r+1 < ranks {
			b.steps[r] += b.discount[r+1]
		}
	}
	return b, nil
}

// Traits implements [Loss].
func (SoftRank) Traits() Traits { return Traits{ShiftInvariant: true, Smooth: true} }

type boundSoftRank struct {
	gains    []float64
	discount []float64 // discounts of the ranks 1, 2, … that count
	steps    []float64 // differences of the discount from one rank to the next
	sigma    float64
}

func (b boundSoftRank) Eval(scores, lambda []float64, scratch *Scratch) float64 {
	scratch.Reset()
	clear(lambda)
	n := len(scores)
	above, below, slope := scratch.Floats(n-1), scratch.Floats(n-1), scratch.Floats(n-1)
	law := scratch.Floats(len(b.discount))
	partial := slope
	var work []float64
	if lambda != nil {
		partial, work = scratch.Floats(n-1), scratch.Floats(poissonbinomial.LeaveOneOutWork(n-1, len(b.steps)))
	}
	var ndcg float64
	for j, g := range b.gains {
		if g == 0 {
			continue
		}
		b.beats(above, below, slope, scores, j)
		poissonbinomial.Distribution(law, above, below, g)
		for r, p := range law {
			ndcg += float64(p * b.discount[r])
		}
		if lambda != nil {
			poissonbinomial.LeaveOneOut(partial, b.steps, above, below, g, work)
			own := addOthers(lambda, partial, slope, j)
			lambda[j] -= own
		}
	}
	return 1 - ndcg
}

// beats sets above to the probabilities p_ij that each other document i is above j, in the order of i.
// It sets below to 1 − p_ij, and slope to ∂p_ij/∂s_i.
func (b boundSoftRank) beats(above, below, slope, scores []float64, j int) {
	scale := 1 / (2 * b.sigma)
	o := 0
	for i, s := range scores {
		if i == j {
			continue
		}
		z := float64(scale * (s - scores[j]))
		slope[o] = float64(-z * z)
		unlikely := float64(elementary.Erfc(math.Abs(z)) / 2)
		above[o], below[o] = unlikely, 1-unlikely
		if z > 0 {
			above[o], below[o] = below[o], above[o]
		}
		o++
	}
	kernel.Exp(slope, slope)
	kernel.Scale(scale/math.SqrtPi, slope)
}

// addOthers adds partial·slope to lambda for all documents except j, and returns the sum of these
// products.
func addOthers(lambda, partial, slope []float64, j int) float64 {
	var sum float64
	o := 0
	for i := range lambda {
		if i == j {
			continue
		}
		d := float64(partial[o] * slope[o])
		lambda[i] += d
		sum += d
		o++
	}
	return sum
}
