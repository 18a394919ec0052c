package loss

import (
	"math"
	"math/bits"

	"github.com/listwise/listwise/internal/elementary"
	"github.com/listwise/listwise/internal/kernel"
	"github.com/listwise/listwise/internal/logspace"
)

// subsetCrossEntropy is ListNet for the first k documents, whole permutations
// included, of a query with few documents. A set of documents is a number whose bit i stands for
// document i. The logarithms of the sums of all 2ⁿ sets follow from each other,
//
//	log Σ_{i∈M} exp(s_i) = log(exp(s_b) + Σ_{i∈M∖b} exp(s_i)),   b the lowest of M,
//
// and so do their derivatives, backwards.
type subsetCrossEntropy struct {
	docs   int
	weight []float64 // of every set M: q_A of its complement A
	among  []float64 // m_i
}

func newSubsetCrossEntropy(ideal []float64, top int) *subsetCrossEntropy {
	n := len(ideal)
	b := &subsetCrossEntropy{docs: n, weight: make([]float64, 1<<n), among: make([]float64, n)}
	x, logs := make([]float64, n), make([]float64, 1<<n)
	b.logSums(logs, x, ideal)
	everything := uint(len(logs) - 1)
	b.weight[everything] = 1
	for left := everything; left > 0; left-- {
		picked := n - bits.OnesCount(left)
		for set := left; set > 0 && picked < top; set &= set - 1 {
			i := bits.TrailingZeros(set)
			p := float64(b.weight[left] * elementary.Exp(x[i]-logs[left]))
			b.among[i] += p
			if picked+1 < top {
				b.weight[left&^(1<<i)] += p
			}
		}
	}
	return b
}

// logSums sets x to the scores relative to the highest and logs[M] for every set
// M but the empty one.
func (b *subsetCrossEntropy) logSums(logs, x, scores []float64) {
	relativeScores(x, scores)
	logs[0] = math.Inf(-1)
	for m := 1; m < len(logs); m++ {
		logs[m] = logspace.AddExp(logs[m&(m-1)], x[bits.TrailingZeros(uint(m))])
	}
}

func (b *subsetCrossEntropy) Eval(scores, lambda []float64, scratch *Scratch) float64 {
	scratch.Reset()
	x, logs := scratch.Floats(b.docs), scratch.Floats(len(b.weight))
	b.logSums(logs, x, scores)
	var value float64
	for m, w := range b.weight[1:] {
		value += float64(w * logs[m+1])
	}
	value -= kernel.Dot(b.among, x)
	if lambda == nil {
		return value
	}
	copy(lambda, b.among)
	flow := scratch.Floats(len(logs))
	copy(flow, b.weight)
	for m := len(flow) - 1; m > 0; m-- {
		if flow[m] == 0 {
			continue
		}
		rest, low := m&(m-1), bits.TrailingZeros(uint(m))
		p, q := logspace.Bernoulli(x[low] - logs[rest])
		lambda[low] -= float64(flow[m] * p)
		flow[rest] += float64(flow[m] * q)
	}
	return value
}
