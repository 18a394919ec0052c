package loss

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"

	"github.com/listwise/listwise/internal/elementary"
	"github.com/listwise/listwise/internal/kernel"
	"github.com/listwise/listwise/internal/logspace"
)

// ListNet is the cross entropy of two Plackett–Luce distributions of the first k documents, one from the
// grades and one from the scores,
//
//	L(s) = −Σ_y P(y|ψ) log P(y|s),   P(y|s) = Π_{t≤k} exp(s_y(t)) / Σ_{j∉{y(1)…y(t−1)}} exp(s_j)
//
// over the n!/(n−k)! sequences y of k documents, where ψ_i is the mapped grade of document i (Cao, Qin,
// Liu, Tsai and Li, Learning to Rank: From Pairwise Approach to Listwise Approach, ICML 2007). The paper
// defines the loss for k = n and uses k = 1. Only the sets A of documents before each pick affect the
// terms, so
//
//	L(s) = Σ_{|A|<k} q_A log Σ_{i∉A} exp(s_i) − Σ_i m_i s_i,   λ_i = m_i − Σ_{A∌i} q_A exp(s_i)/Σ_{j∉A} exp(s_j)
//
// where q_A is the probability under ψ that the first |A| picks are A, and m_i the probability that
// document i is among the first k. The loss is convex and smooth, and does not change if a constant is
// added to all scores.
//
// With k = 1, a document's weight multiplies its share of both distributions. Larger k accept no
// weights, since a sequence could contain several copies of a document.
//
// Bind returns [Nothing] if all documents have the same grade.
type ListNet struct {
	// Mapping is ψ. Bind returns an error if a mapped grade overflows (from grade 710 on under exp).
	Mapping Mapping

	// Top is k, the number of first documents compared; 0 means 1. An evaluation takes O(n) for k of 1
	// and 2, and O(n²) for 3. Larger k take O(2ⁿ), and Bind returns an error for more than 12 documents.
	// From k = n−1 on, ListNet compares whole permutations.
	Top int
}

var _ Loss = ListNet{}

// maxWholeList is the largest number of documents for which ListNet sums over all subsets.
const maxWholeList = 12

// Validate returns an error for options that fit no query.
func (l ListNet) Validate() error {
	if l.Top < 0 {
		return fmt.Errorf("top %d, expected a positive number", l.Top)
	}
	return l.Mapping.validate()
}

// Bind implements [Loss].
func (l ListNet) Bind(grades []float64, rng *rand.Rand) (QueryLoss, error) {
	return l.BindDocuments(grades, nil, rng)
}

// WeighsDocuments implements [DocumentWeighted].
func (l ListNet) WeighsDocuments() bool { return l.Top <= 1 }

// BindDocuments implements [DocumentWeighted]. Weights are an error if Top is above 1.
func (l ListNet) BindDocuments(grades, weights []float64, _ *rand.Rand) (QueryLoss, error) {
	if err := l.Validate(); err != nil {
		return nil, err
	}
	if err := checkDocumentWeights(weights, len(grades)); err != nil {
		return nil, err
	}
	if weights != nil && !l.WeighsDocuments() {
		return nil, fmt.Errorf("weights of documents with top %d, expected top 1", l.Top)
	}
	if constant(grades) {
		return Nothing, nil
	}
	ideal, err := l.Mapping.scores(grades)
	if err != nil {
		return nil, err
	}
	n := len(grades)
	// The last document of a permutation is certain, so k = n is the same as k = n−1.
	switch k := min(max(l.Top, 1), n-1); {
	case k == 1:
		for i, w := range weights {
			ideal[i] += elementary.Log(w)
		}
		logspace.Softmax(ideal, ideal)
		return newCrossEntropy(ideal, weights), nil
	case k <= maxSetSize+1:
		return newTopCrossEntropy(ideal, k), nil
	case n <= maxWholeList:
		return newSubsetCrossEntropy(ideal, k), nil
	default:
		return nil, fmt.Errorf("top %d of a query with %d documents: beyond the first %d, lists of at most %d documents can be compared",
			l.Top, n, maxSetSize+1, maxWholeList)
	}
}

// Traits implements [Loss].
func (ListNet) Traits() Traits { return Traits{Convex: true, ShiftInvariant: true, Smooth: true} }

// topCrossEntropy is ListNet for the first two or three documents. It sums q_A log S_A over the sets A
// of at most two documents, where
//
//	q_{} = 1,  q_{a} = p_a,  q_{a,b} = p_a p_b/(1−p_a) + p_b p_a/(1−p_b),  p = softmax(ψ),
//
// and S_A = Σ_{i∉A} exp(s_i) = S − Σ_{a∈A} exp(s_a).
//
// Let t be the document with the highest score. The difference S − Σ_{a∈A} exp(s_a) loses no digits if A
// does not contain t, since S_A is at least exp(s_t). For sets with t, the sums are computed from the
// documents without t, whose scores are exponentiated again. The depth of this recursion is the size of
// the sets.
type topCrossEntropy struct {
	top   int       // k
	among []float64 // m_i

	first []float64 // p
	odds  []float64 // p_a/(1−p_a), except for lead
	// lead is the document with the highest p, whose 1 − p may cancel. second is the distribution of the
	// second pick if lead is the first.
	lead   int
	second []float64
}

// maxSetSize is the size of the largest sets in the sum of topCrossEntropy.
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
	// The cross entropy is least at ψ, so the m_i are the gradient of the first sum there.
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

// addLogs returns Σ_A q_A log S_A for scores relative to the highest one. It adds the gradient to grad,
// unless grad is nil.
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

// pairWeights sets w[i] to q_{a,i} and w[a] to 0.
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

// withoutTwo is the part of addLogs for the sets of two documents that do not contain the top one. w
// must have an element for each document. Most of the time is spent here, on a logarithm and a division
// for each pair.
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
			left[l.top-from] = 1 // its weight is 0
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

// divide adds w[i]/left[i] to sums[i] and returns the sum of all quotients.
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

// remaining is a list of documents, some of which may be removed, and the exponentials of their scores.
type remaining struct {
	x     []float64 // scores relative to the highest of all; −Inf if removed
	e     []float64 // exp(x − shift)
	top   int       // the remaining document with the highest score
	shift float64   // x[top]
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

// all returns weight·log Σ exp(x). It adds the gradient to grad, unless grad is nil.
func (l *remaining) all(weight float64, grad []float64) float64 {
	if grad != nil {
		kernel.Axpy(weight/l.sum, l.e, grad)
	}
	return weight * (l.shift + elementary.Log(l.sum))
}

// removeTop removes the top document. It then returns the value of all for the remaining documents, with
// the removed document's weight.
func (l *remaining) removeTop(weights, grad []float64) float64 {
	t := l.top
	l.x[t] = math.Inf(-1)
	l.exponentiate()
	return l.all(weights[t], grad)
}

// withoutOne returns Σ_a weights[a]·log(Σ exp(x) − exp(x_a)) over all documents a except the top one. It
// adds the gradient to grad, unless grad is nil. Removed documents must have weight 0.
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

// subsetCrossEntropy is ListNet for the first k documents of a query with few documents, including whole
// permutations. A set of documents is a number whose bit i means document i. A recursion gives the
// logarithms of the sums of all 2ⁿ sets:
//
//	log Σ_{i∈M} exp(s_i) = log(exp(s_b) + Σ_{i∈M∖b} exp(s_i)),   b the lowest document of M.
//
// The reverse recursion gives their derivatives.
type subsetCrossEntropy struct {
	docs   int
	weight []float64 // by set M: q_A of the complement A of M
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

// logSums sets x to the scores relative to the highest one, and logs[M] to log Σ_{i∈M} exp(x_i) for
// every set M.
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
