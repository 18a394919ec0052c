package loss

import (
	"math"

	"github.com/listwise/listwise/internal/elementary"
	"github.com/listwise/listwise/internal/kernel"
)

// topCrossEntropy is ListNet for the first two or three documents. It sums over
// the sets A of at most two documents,
//
//	q_{} = 1,  q_{a} = p_a,  q_{a,b} = p_a p_b/(1−p_a) + p_b p_a/(1−p_b),  p = softmax(ψ),
//
// of the logarithms of what is left, S_A = Σ_{i∉A} exp(s_i) = S − Σ_{a∈A} exp(s_a).
//
// The difference does not cancel as long as the document t of the highest score is
// not in A: it is at least exp(s_t). The sets with t are sets of one document
// less, taken from the documents without t, whose scores are exponentiated anew. That
// is one recursion, whose depth is the size of the sets.
type topCrossEntropy struct {
	top   int       // k
	among []float64 // m_i

	first []float64 // p
	odds  []float64 // p_a/(1−p_a), except for the lead
	// lead is the document of the highest p, whose 1 − p may cancel, and second
	// the law of the second pick after it.
	lead   int
	second []float64
}

// maxSetSize is the size of the largest sets summed over one by one.
const maxSetSize = 2

func newTopCrossEntropy(ideal []float64, top int) *topCrossEntropy {
	n := len(ideal)
	b := &topCrossEntropy{
		top: top, among: make([]float64, n),
		first: make([]float64, n), odds: make([]float64, n), second: make([]float64, n),
	}
	var scratch Scratch
	l := newRemaining(ideal, &scratch)
	copy(b.first, l.e)
	kernel.Scale(1/l.sum, b.first)
	b.lead = l.top
	for i, p := range b.first {
		if i != b.lead {
			b.odds[i] = p / (1 - p)
		}
	}
	l.removeTop(b.first, nil)
	copy(b.second, l.e)
	kernel.Scale(1/l.sum, b.second)
	// The m_i are the gradient of the first sum at ψ, where the cross entropy is
	// least.
	b.addLogs(ideal, b.among, &scratch)
	return b
}

func (b *topCrossEntropy) Eval(scores, lambda []float64, scratch *Scratch) float64 {
	scratch.Reset()
	clear(lambda)
	value := b.addLogs(scores, lambda, scratch)
	x := scratch.Floats(len(scores))
	relativeScores(x, scores)
	value -= kernel.Dot(b.among, x)
	for i, v := range lambda {
		lambda[i] = b.among[i] - v
	}
	return value
}

// addLogs returns Σ_A q_A log S_A, of scores relative to the highest, and adds its
// gradient to grad, if that is not nil.
func (b *topCrossEntropy) addLogs(scores, grad []float64, scratch *Scratch) float64 {
	l := newRemaining(scores, scratch)
	value := l.all(1, grad) + l.withoutOne(b.first, grad)
	if b.top == 2 {
		return value + l.removeTop(b.first, grad)
	}
	row := scratch.Floats(len(scores))
	value += b.withoutTwo(&l, row, grad, scratch)
	b.pairWeights(row, l.top)
	value += l.removeTop(b.first, grad)
	value += l.withoutOne(row, grad)
	return value + l.removeTop(row, grad)
}

// pairWeights sets w[i] to the weight q of the set {a, i}, and w[a] to 0.
func (b *topCrossEntropy) pairWeights(w []float64, a int) {
	p, odds := b.first[a], b.odds[a]
	if a == b.lead {
		for i := range w {
			w[i] = p * (b.second[i] + b.odds[i])
		}
	} else {
		for i, pi := range b.first {
			w[i] = float64(odds*pi) + float64(p*b.odds[i])
		}
		w[b.lead] = b.first[b.lead] * (b.second[a] + odds)
	}
	w[a] = 0
}

// withoutTwo is the part of addLogs of sets of two documents, neither of them the
// top one; w has an element a document. Most of the time is spent here: a logarithm
// and a division a pair.
func (b *topCrossEntropy) withoutTwo(l *remaining, w, grad []float64, scratch *Scratch) float64 {
	n := len(w)
	left, logs, with := scratch.Floats(n), scratch.Floats(n), scratch.Floats(n)
	clear(with)
	var value, total float64
	for a := range n - 1 {
		if a == l.top {
			continue
		}
		b.pairWeights(w, a)
		w[l.top] = 0
		from, sum := a+1, l.sum-l.e[a]
		left, logs, w := left[from:], logs[from:], w[from:]
		for i, e := range l.e[from:] {
			left[i] = sum - e
		}
		if l.top >= from {
			left[l.top-from] = 1 // of no weight
		}
		kernel.Log(logs, left)
		value += kernel.Dot(w, logs)
		if grad != nil {
			shares := divide(w, left, with[from:])
			with[a] += shares
			total += shares
		}
	}
	for i := range grad {
		grad[i] += float64(l.e[i] * (total - with[i]))
	}
	return value
}

// divide adds w[i]/left[i] to each of sums and returns their sum.
func divide(w, left, sums []float64) float64 {
	left, sums = left[:len(w)], sums[:len(w)]
	var total float64
	for i, v := range w {
		share := v / left[i]
		sums[i] += share
		total += share
	}
	return total
}

// remaining is a list of documents some of which may be removed, and the
// exponentials of its scores.
type remaining struct {
	x     []float64 // scores relative to the highest of all; −Inf for the removed
	e     []float64 // exp(x − shift)
	top   int       // the document of the highest remaining score
	shift float64   // that score, x[top]
	sum   float64   // Σ e ≥ 1
	left  []float64 // working memory
	logs  []float64
}

func newRemaining(scores []float64, scratch *Scratch) remaining {
	n := len(scores)
	l := remaining{x: scratch.Floats(n), e: scratch.Floats(n), left: scratch.Floats(n), logs: scratch.Floats(n)}
	relativeScores(l.x, scores)
	l.exponentiate()
	return l
}

func (l *remaining) exponentiate() {
	l.top, l.shift = 0, l.x[0]
	for i, v := range l.x {
		if v > l.shift {
			l.top, l.shift = i, v
		}
	}
	l.sum = kernel.ExpSum(l.e, l.x, l.shift)
}

// all returns weight·log Σ exp(x) and adds its gradient to grad.
func (l *remaining) all(weight float64, grad []float64) float64 {
	if grad != nil {
		kernel.Axpy(weight/l.sum, l.e, grad)
	}
	return weight * (l.shift + elementary.Log(l.sum))
}

// removeTop removes the top document and returns all of the rest with that document's
// weight.
func (l *remaining) removeTop(weights, grad []float64) float64 {
	t := l.top
	l.x[t] = math.Inf(-1)
	l.exponentiate()
	return l.all(weights[t], grad)
}

// withoutOne returns Σ_a weights[a]·log(Σ exp(x) − exp(x_a)) over all documents
// but the top one, and adds its gradient to grad. Documents that are removed have
// no weight.
func (l *remaining) withoutOne(weights, grad []float64) float64 {
	var sum float64
	for i, e := range l.e {
		l.left[i] = l.sum - e
		if i != l.top {
			sum += weights[i]
		}
	}
	l.left[l.top] = 1
	kernel.Log(l.logs, l.left)
	value := kernel.Dot(weights, l.logs) + float64(sum*l.shift)
	if grad == nil {
		return value
	}
	shares := l.left
	var total float64
	for i, w := range weights {
		shares[i] = w / l.left[i]
		if i != l.top {
			total += shares[i]
		}
	}
	shares[l.top] = 0
	for i, e := range l.e {
		grad[i] += float64(e * (total - shares[i]))
	}
	return value
}
