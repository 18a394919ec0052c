package logrank

import (
	"fmt"

	"github.com/listwise/listwise/internal/elementary"
	"github.com/listwise/listwise/internal/poissonbinomial"
	"github.com/listwise/listwise/learn/loss"
	"github.com/listwise/listwise/learn/loss/bipartite"
)

// countLaw is the factored law of a query with a single good or a single bad document. Every
// labeling of the pairs is then a ranking, and its gain is a function G(m) of the number m of
// inverted pairs. m has a Poisson-binomial distribution. So
//
//	A(β) = A(0) + log E[exp(βΔ(m))]
//	     = A(0) + β(1−G(N)) + log(Σ_{m<T} P(m) exp(−β(G(m)−G(N))) + P(m ≥ T)),
//
// where N is the number of pairs and T is the smallest number from which on G is constant (k for
// NDCG@k). Time and memory are O(NT). The embedded orderLaw computes A(0) and the expected gain.
type countLaw struct {
	*orderLaw
	best, lowest float64   // G(0), G(N)
	above        []float64 // G(m) − G(N) for m < T
}

func newCountLaw(order *orderLaw, gains *bipartite.GainTable) *countLaw {
	goods, bads := len(order.Good), len(order.Bad)
	if goods > 1 && bads > 1 {
		panic(fmt.Sprintf("logrank: %d good and %d bad documents", goods, bads))
	}
	byCount := make([]float64, goods*bads+1)
	for m := range byCount {
		for i := range goods {
			a := m // of the only good
			if bads == 1 {
				a = 0
				if i >= goods-m { // the m lowest goods are below the only bad
					a = 1
				}
			}
			byCount[m] += gains.At(i, a)
		}
	}
	l := &countLaw{orderLaw: order, best: byCount[0], lowest: byCount[len(byCount)-1]}
	for m, gain := range byCount {
		if gain > l.lowest*(1+1e-12) {
			for len(l.above) <= m {
				l.above = append(l.above, byCount[len(l.above)]-l.lowest)
			}
		}
	}
	return l
}

func (l *countLaw) logPartition(beta float64, s, grad []float64, scratch *loss.Scratch) float64 {
	value := l.orderLaw.logPartition(0, s, grad, scratch)
	if beta == 0 {
		return value
	}
	n, width := len(l.Good)*len(l.Bad), len(l.above)
	p, q, _ := l.flipProbabilities(s, scratch)
	f := scratch.Floats(width + 1)
	countOrMore(f, p, q)
	mean := f[width]
	weights := scratch.Floats(width + 1)
	weights[width] = 1
	for m, gain := range l.above {
		weights[m] = elementary.Exp(-beta * gain)
		mean += float64(f[m] * weights[m])
	}
	if grad != nil {
		for m := range width {
			weights[m] = (weights[m+1] - weights[m]) / mean
		}
		flip := scratch.Floats(n)
		work := scratch.Floats(poissonbinomial.LeaveOneOutWork(n, width))
		poissonbinomial.LeaveOneOut(flip, weights[:width], p, q, 1, work)
		for i, v := range flip {
			v = float64(v * (l.Slope * p[i] * q[i]))
			grad[l.Good[i/len(l.Bad)]] -= v
			grad[l.Bad[i%len(l.Bad)]] += v
		}
	}
	return value + float64(beta*(1-l.lowest)) + elementary.Log(mean)
}

// countOrMore sets f[t] to the probability that t of several independent events occur. The last
// element of f gets the probability that len(f)−1 or more occur. Event i has the probability p[i] =
// 1 − q[i].
func countOrMore(f, p, q []float64) {
	last := len(f) - 1
	clear(f)
	f[0] = 1
	for j, pj := range p {
		more := f[last]
		if last > 0 {
			more += float64(f[last-1] * pj)
			poissonbinomial.AddEvent(f[:last], pj, q[j])
		}
		f[last] = more
	}
}
