package loss

import (
	"math"

	"github.com/listwise/listwise/internal/kernel"
)

// crossEntropy is the cross entropy of the distribution that the scores imply,
// by the softmax, with a target distribution t over one query's documents,
//
//	L(s) = −Σ_i t_i log softmax(s)_i = log Σ_i exp(s_i) − t·s,   λ = t − softmax(s).
//
// It is a Bound of O(n).
type crossEntropy struct{ target []float64 }

func (b crossEntropy) Eval(scores, lambda []float64, scratch *Scratch) float64 {
	scratch.Reset()
	x, p := scratch.Floats(len(scores)), lambda
	if p == nil {
		p = scratch.Floats(len(scores))
	}
	relativeScores(x, scores)
	sum := kernel.ExpSum(p, x, 0)
	value := math.Log(sum) - kernel.Dot(b.target, x)
	scale := 1 / sum
	for i := range lambda {
		lambda[i] = b.target[i] - scale*p[i]
	}
	return value
}

// lowestScore bounds how far below the highest score another one counts, so that
// sums of differences stay finite at all finite scores.
const lowestScore = -1e300

// relativeScores sets x to the scores less the highest of them, for losses that
// depend on their differences alone.
func relativeScores(x, scores []float64) {
	top := kernel.Max(scores)
	x = x[:len(scores)]
	for i, s := range scores {
		v := s - top
		if v < lowestScore {
			v = lowestScore
		}
		x[i] = v
	}
}
