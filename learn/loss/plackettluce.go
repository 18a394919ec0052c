package loss

import (
	"github.com/listwise/listwise/internal/elementary"
	"github.com/listwise/listwise/internal/kernel"
	"github.com/listwise/listwise/internal/logspace"
)

// picks is a sequence of picks from one query's documents. Each pick is a softmax of the scores of the
// remaining documents. The negative log likelihood is
//
//	L(s) = Σ_i c_i L_i − Σ_{i<m} x_i,   L_i = log Σ_{k≥i} exp(x_k),   x_i = s_order(i)
//	λ_k = [k < m] − Σ_{i≤k} c_i p_ik,   p_ik = exp(x_k − L_i)
//	∂²L/∂x_k² = Σ_{i≤k} c_i p_ik (1 − p_ik)
//
// where m is the number of documents counted, and c_i is the number of picks from the documents i,
// i+1, …. c_i is 0 for i ≥ m, and Σ_i c_i = m.
type picks struct {
	order   []int32
	repeat  []float64 // c; nil means all 1
	counted int       // m
}

// maxPlainSpread bounds the differences of scores for which sums of exponentials are used without
// logarithms. Sums of the reciprocals are then far from overflow.
const maxPlainSpread = 600

// eval returns L. If lambda is not nil, it is overwritten with the negative gradient. If second is not
// nil either, it is overwritten with the second derivatives.
func (p *picks) eval(scores, lambda, second []float64, scratch *Scratch) float64 {
	n := len(p.order)
	x, relative, logs := scratch.Floats(n), scratch.Floats(n), scratch.Floats(n)
	relativeScores(relative, scores)
	kernel.Gather(x, relative, p.order, 1)
	bottom := 0.0
	for _, v := range x {
		if v < bottom {
			bottom = v
		}
	}
	// From here on, scores are relative to the largest one. This does not change the value, because
	// there are as many picks as documents counted.
	value := -kernel.Sum(x[:p.counted])
	if bottom >= -maxPlainSpread {
		return value + p.plain(x, logs, lambda, second, scratch)
	}
	return value + p.wide(x, logs, lambda, second)
}

// plain returns Σ c_i L_i and sets lambda and second, for scores with differences of at most
// maxPlainSpread. It takes an exponential, a logarithm and a division for each document. logs has the
// length of x.
func (p *picks) plain(x, logs, lambda, second []float64, scratch *Scratch) float64 {
	n := len(x)
	e := x
	kernel.Exp(e, x)
	sums := scratch.Floats(n)
	var sum float64
	for i := n - 1; i >= 0; i-- {
		sum += e[i]
		sums[i] = sum
	}
	logs = logs[:p.counted]
	kernel.Log(logs, sums[:p.counted])
	value := p.weigh(logs)
	if lambda == nil {
		return value
	}
	var inverse float64
	for i, d := range p.order {
		if i < p.counted {
			inverse += p.times(i) / sums[i]
		}
		lambda[d] = -e[i] * inverse
	}
	if second != nil {
		p.curvature(e, sums, lambda, second)
	}
	p.addCounted(lambda)
	return value
}

// curvature sets second. sums contains Σ_{k≥i} exp(x_k), and lambda contains −Σ_{i≤k} c_i p_ik. Sums of
// squares are relative to the current element of sums, so they do not overflow.
func (p *picks) curvature(e, sums, lambda, second []float64) {
	var squares float64
	for i, d := range p.order {
		if i > 0 {
			fall := sums[i] / sums[i-1]
			squares *= fall * fall
		}
		if i < p.counted {
			squares += p.times(i)
		}
		own := e[i] / sums[i]
		second[d] = max(-lambda[d]-float64(own*own*squares), 0)
	}
}

// wide is plain for scores of any size, with logarithms of sums. L_i decreases with i, so nothing
// overflows in
//
//	Σ_{i≤k} c_i exp(x_k − L_i) = exp(x_k − L_k) Σ_{i≤k} c_i exp(L_k − L_i).
//
// From one k to the next, the last sum is multiplied by a factor and gets one more term.
func (p *picks) wide(x, logs, lambda, second []float64) float64 {
	logspace.SuffixLogSumExp(logs, x)
	value := p.weigh(logs[:p.counted])
	if lambda == nil {
		return value
	}
	var sum, squares float64 // sums of c_i exp(L_k − L_i) and of c_i exp(L_k − L_i)²
	for k, d := range p.order {
		if k > 0 {
			fall := elementary.Exp(logs[k] - logs[k-1])
			sum *= fall
			squares *= fall * fall
		}
		if k < p.counted {
			sum += p.times(k)
			squares += p.times(k)
		}
		own := elementary.Exp(x[k] - logs[k])
		lambda[d] = -own * sum
		if second != nil {
			second[d] = max(float64(own*sum)-float64(own*own*squares), 0)
		}
	}
	p.addCounted(lambda)
	return value
}

// times returns c_i.
func (p *picks) times(i int) float64 {
	if p.repeat == nil {
		return 1
	}
	return p.repeat[i]
}

// weigh returns Σ c_i L_i.
func (p *picks) weigh(logs []float64) float64 {
	if p.repeat == nil {
		return kernel.Sum(logs)
	}
	return kernel.Dot(p.repeat[:len(logs)], logs)
}

// addCounted adds [k < m] to every λ_k.
func (p *picks) addCounted(lambda []float64) {
	for _, d := range p.order[:p.counted] {
		lambda[d]++
	}
}
