package loss

import (
	"github.com/listwise/listwise/internal/elementary"
	"github.com/listwise/listwise/internal/kernel"
)

// crossEntropy is the cross entropy of a target distribution t over one query's documents and the
// softmax of the scores,
//
//	L(s) = −Σ_i t_i log softmax(s)_i = log Σ_i exp(s_i) − t·s,   λ = t − softmax(s).
//
// It is a QueryLoss of O(n), and a [Diagonal].
//
// A document of weight w_i counts as w_i copies. The copies together have the target t_i and the
// probability w_i exp(s_i)/Σ_j w_j exp(s_j), which is the softmax of the scores s + log w. Each copy has
// a share of 1/w_i, so
//
//	L(s) = −Σ_i t_i log (exp(s_i)/Σ_j w_j exp(s_j)),   λ = t − softmax(s + log w)
type crossEntropy struct {
	target []float64

	shift  []float64 // log w; nil without weights
	offset float64   // Σ t·log w
}

// newCrossEntropy returns the loss of documents with the given weights. Nil weights mean 1.
func newCrossEntropy(target, weights []float64) crossEntropy {
	b := crossEntropy{target: target}
	if weights != nil {
		b.shift = make([]float64, len(weights))
	}
	for i, w := range weights {
		b.shift[i] = elementary.Log(w)
		b.offset += float64(target[i] * b.shift[i])
	}
	return b
}

func (b crossEntropy) Eval(scores, lambda []float64, scratch *Scratch) float64 {
	scratch.Reset()
	p := lambda
	if p == nil {
		p = scratch.Floats(len(scores))
	}
	value, scale := b.softmax(p, scores, scratch)
	for i := range lambda {
		lambda[i] = b.target[i] - float64(scale*p[i])
	}
	return value
}

// EvalSecond implements [Diagonal]. The second derivatives are p_i(1 − p_i) with p = softmax(s + log w).
func (b crossEntropy) EvalSecond(scores, lambda, second []float64, scratch *Scratch) float64 {
	scratch.Reset()
	value, scale := b.softmax(second, scores, scratch)
	for i, v := range second {
		p := min(scale*v, 1)
		lambda[i] = b.target[i] - float64(scale*v)
		second[i] = p * (1 - p)
	}
	return value
}

// softmax returns the value. It sets p so that scale·p is softmax(s + log w).
func (b crossEntropy) softmax(p, scores []float64, scratch *Scratch) (value, scale float64) {
	x := scratch.Floats(len(scores))
	if b.shift != nil {
		s := scratch.Floats(len(scores))
		for i, v := range scores {
			s[i] = v + b.shift[i]
		}
		scores = s
	}
	relativeScores(x, scores)
	sum := kernel.ExpSum(p, x, 0)
	return elementary.Log(sum) - kernel.Dot(b.target, x) + b.offset, 1 / sum
}

// lowestScore is a lower bound of relative scores. It keeps sums of differences finite at all finite
// scores.
const lowestScore = -1e300

// relativeScores sets x to the scores minus the highest one, for losses that depend only on differences
// of scores.
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
