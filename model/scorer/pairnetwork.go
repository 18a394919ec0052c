package scorer

import (
	"math"
	"math/rand/v2"

	"github.com/listwise/listwise/internal/kernel"
)

// PairNetwork is the scorer of BoltzRank2 (Volkovs and Zemel, BoltzRank: Learning to Rank with
// Pairwise Potentials, ICML 2009), which compares a document with all others of its query:
//
//	s_j = φ(x_j) + Σ_{k≠j} ϕ(x_j, x_k)
//	φ(x)    = Σ_t v_t·f(w_t·x + b_t),            t = 1 … h    (a [Network])
//	ϕ(x, y) = Σ_t u_t·f(A_t·x + B_t·y + c_t),    t = 1 … g
//
// The first layer of ϕ is a sum of a layer on each document, so A·x and B·x are computed once per
// document. A query of m documents with p features costs O(m(h + 2g)p) for the features and O(m²g)
// for the pairs. Evaluating m² networks would cost O(m²gp). The sum is not divided by m.
//
// The parameters are φ's, laid out as in [Network], then
//
//	A_1 … A_g   p weights each, feature 1 first
//	B_1 … B_g   p weights each
//	c_1 … c_g   biases
//	u_1 … u_g   weights of the output
//
// The backward pass computes the activations of the pairs again. m²g numbers would not fit the
// caches, and reading them costs as much as an exponential. The workspace holds O(m(h + g))
// numbers. With tanh and sigmoid, the exponential of a pair is a product of one exponential per
// document.
type PairNetwork struct {
	Features   int // p ≥ 1
	Hidden     int // h ≥ 1, units of φ
	PairHidden int // g ≥ 1, units of ϕ
	Activation Activation
}

var _ Scorer = PairNetwork{}

// Kind returns "pairnet".
func (PairNetwork) Kind() string { return "pairnet" }

// NumFeatures returns the number of features.
func (n PairNetwork) NumFeatures() int { return n.Features }

// Validate returns an error for an architecture without features, or without hidden units
// for documents or for pairs.
func (n PairNetwork) Validate() error {
	if err := n.single().Validate(); err != nil {
		return err
	}
	return atLeastOne("pair_hidden", n.PairHidden)
}

// NumParams returns h·(p + 2) + g·(2p + 2).
func (n PairNetwork) NumParams() int {
	return n.single().NumParams() + n.PairHidden*(2*n.Features+2)
}

// single is φ.
func (n PairNetwork) single() Network {
	return Network{Features: n.Features, Hidden: n.Hidden, Activation: n.Activation}
}

// usualDocs is the number of other documents that Init prepares the sum of the
// pairs for.
const usualDocs = 100

// Init draws weights and biases uniformly from ±1/√(number of inputs): p of φ's
// hidden units, h of its output, 2p of ϕ's hidden units, g of its output. The last
// are divided by 100, because that output is added up over a query's documents.
func (n PairNetwork) Init(params []float64, rng *rand.Rand) {
	mustMatch("parameters", len(params), n.NumParams())
	single := n.single()
	single.Init(params[:single.NumParams()], rng)
	l := n.pairLayers(params)
	limit := 1 / math.Sqrt(float64(2*n.Features))
	uniform(l.a, limit, rng)
	uniform(l.b, limit, rng)
	uniform(l.bias, limit, rng)
	uniform(l.out, 1/(usualDocs*math.Sqrt(float64(n.PairHidden))), rng)
}

// Score implements [Scorer]. x must be the whole query: a score depends on all its
// documents.
func (n PairNetwork) Score(dst, params []float64, x []float32, ws *Workspace) {
	mustMatch("features", len(x), len(dst)*n.Features)
	mustMatch("parameters", len(params), n.NumParams())
	docs, single := len(dst), n.single()
	memory := ws.Hold(x, n.Held(docs))
	clear(dst)
	single.forward(dst, params[:single.NumParams()], x, memory)
	n.forwardPairs(dst, params, x, n.pairSpace(memory, docs))
}

// Backward implements [Scorer].
func (n PairNetwork) Backward(grad, params []float64, x []float32, lambda []float64, ws *Workspace) {
	mustMatch("features", len(x), len(lambda)*n.Features)
	mustMatch("parameters", len(params), n.NumParams())
	mustMatch("derivatives", len(grad), n.NumParams())
	memory, single := ws.Held(x), n.single()
	size := single.NumParams()
	single.backward(grad[:size], params[:size], x, lambda, memory)
	n.backwardPairs(grad, params, x, lambda, n.pairSpace(memory, len(lambda)))
}

// forwardPairs adds Σ_{k≠j} ϕ(x_j, x_k) to dst.
func (n PairNetwork) forwardPairs(dst, params []float64, x []float32, s pairSpace) {
	l, docs := n.pairLayers(params), len(dst)
	for t, u := range l.out {
		s.project(t, x, l)
		sums := s.sums[t*docs : (t+1)*docs]
		if s.toOdds(n.Activation) {
			s.sumByOdds(sums, n.Activation)
		} else {
			s.sum(sums, n.Activation)
		}
		kernel.Axpy(u, sums, dst)
	}
}

// sum sets sums to Σ_{k≠j} f(z_tjk).
func (s pairSpace) sum(sums []float64, f Activation) {
	docs := len(sums)
	for from := 0; from < docs; from += s.rows {
		to := min(from+s.rows, docs)
		z := s.activate(f, from, to)
		for j := from; j < to; j++ {
			row := z[(j-from)*docs : (j-from+1)*docs]
			row[j] = 0
			sums[j] = kernel.Sum(row)
		}
	}
}

// backwardPairs adds the gradient of Σ lambda_j Σ_{k≠j} ϕ(x_j, x_k): with δ_tjk =
// lambda_j u_t f'(z_tjk) for k ≠ j, 0 for k = j,
//
//	∂/∂A_t = Σ_j (Σ_k δ_tjk) x_j    ∂/∂B_t = Σ_k (Σ_j δ_tjk) x_k
//	∂/∂c_t = Σ_jk δ_tjk             ∂/∂u_t = Σ_j lambda_j Σ_{k≠j} f(z_tjk)
func (n PairNetwork) backwardPairs(grad, params []float64, x []float32, lambda []float64, s pairSpace) {
	l, g, docs, p := n.pairLayers(params), n.pairLayers(grad), len(lambda), n.Features
	for t, u := range l.out {
		g.out[t] += kernel.Dot(lambda, s.sums[t*docs:(t+1)*docs])
		s.project(t, x, l)
		clear(s.byOther)
		if s.toOdds(n.Activation) {
			s.sumSlopesByOdds(u, lambda, n.Activation)
		} else {
			s.sumSlopes(u, lambda, n.Activation)
		}
		g.bias[t] += kernel.Sum(s.bySelf)
		kernel.GemvT(g.a[t*p:(t+1)*p], x, s.bySelf)
		kernel.GemvT(g.b[t*p:(t+1)*p], x, s.byOther)
	}
}

// sumSlopes sets bySelf, and adds to byOther, the sums of δ_tjk.
func (s pairSpace) sumSlopes(u float64, lambda []float64, f Activation) {
	docs := len(lambda)
	for from := 0; from < docs; from += s.rows {
		to := min(from+s.rows, docs)
		z := s.activate(f, from, to)
		f.Slope(z, z)
		for j := from; j < to; j++ {
			s.addSlopes(j, u*lambda[j], z[(j-from)*docs:(j-from+1)*docs])
		}
	}
}

// addSlopes adds up document j's row of slopes f'(z_tjk), times c.
func (s pairSpace) addSlopes(j int, c float64, row []float64) {
	row[j] = 0
	s.bySelf[j] = c * kernel.Sum(row)
	kernel.Axpy(c, row, s.byOther)
}

// pairLayers are the parts of ϕ's parameters.
type pairLayers struct{ a, b, bias, out []float64 }

func (n PairNetwork) pairLayers(params []float64) pairLayers {
	own, first, g := params[n.single().NumParams():], n.PairHidden*n.Features, n.PairHidden
	return pairLayers{own[:first], own[first : 2*first], own[2*first : 2*first+g], own[2*first+g:]}
}

// pairBlock is about how many pairs are worked on at a time: few enough for the
// first cache, and enough for short queries to fill vectors.
const pairBlock = 2048

// PairWeights returns ϕ's part of the parameters, as views. self and other are A and B, with p
// weights for each of the g units. bias is c and out is u.
func (n PairNetwork) PairWeights(params []float64) (self, other, bias, out []float64) {
	mustMatch("parameters", len(params), n.NumParams())
	l := n.pairLayers(params)
	return l.a, l.b, l.bias, l.out
}

// pairSpace is the memory of the pairs of m documents.
type pairSpace struct {
	sums            []float64 // g × m: Σ_{k≠j} f(z_tjk), kept between Score and Backward
	self, other     []float64 // m each: A_t·x_j + c_t and B_t·x_k of the unit at hand
	bySelf, byOther []float64 // m each: Σ_k δ_tjk and Σ_j δ_tjk
	rows            int       // documents a block
	block           []float64 // rows × m
}

// pairRows returns the number of documents whose pairs make a block.
func pairRows(docs int) int { return min(docs, pairBlock/max(docs, 1)+1) }

func (n PairNetwork) pairMemory(docs int) int { return (n.PairHidden + 4 + pairRows(docs)) * docs }

// pairSpace cuts up the memory behind φ's.
func (n PairNetwork) pairSpace(memory []float64, docs int) pairSpace {
	memory = memory[n.single().memory(docs):]
	next := func(size int) []float64 {
		part := memory[:size]
		memory = memory[size:]
		return part
	}
	s := pairSpace{sums: next(n.PairHidden * docs), self: next(docs), other: next(docs), bySelf: next(docs), byOther: next(docs), rows: pairRows(docs)}
	s.block = next(s.rows * docs)
	return s
}

// project works out A_t·x + c_t and B_t·x of all documents.
func (s pairSpace) project(t int, x []float32, l pairLayers) {
	p := len(l.a) / len(l.out)
	project(s.self, x, l.a[t*p:(t+1)*p], l.bias[t])
	project(s.other, x, l.b[t*p:(t+1)*p], 0)
}

// activate returns f(z_tjk) for the documents from ≤ j < to, a row of all k each.
func (s pairSpace) activate(f Activation, from, to int) []float64 {
	docs := len(s.other)
	z := s.block[:(to-from)*docs]
	for j, v := range s.self[from:to] {
		row := z[j*docs : (j+1)*docs]
		copy(row, s.other)
		addConstant(row, v)
	}
	f.Apply(z)
	return z
}
