package scorer

import (
	"math"
	"math/rand/v2"

	"github.com/listwise/listwise/internal/kernel"
)

// PairNetwork is the scorer of BoltzRank2 (Volkovs and Zemel, BoltzRank: Learning to Rank with Pairwise
// Potentials, ICML 2009). It compares a document with all others of its query:
//
//	s_j = φ(x_j) + Σ_{k≠j} ϕ(x_j, x_k)
//	φ(x)    = Σ_t v_t·f(w_t·x + b_t),            t = 1 … h    (a [Network])
//	ϕ(x, y) = Σ_t u_t·f(A_t·x + B_t·y + c_t),    t = 1 … g
//
// A_t and B_t apply to one document each, so the products A·x and B·x are computed once per document. A
// query of m documents with p features costs O(m(h + 2g)p) for the features and O(m²g) for the pairs.
// Evaluating m² networks would cost O(m²gp). The sum over k is not divided by m.
//
// The parameters are φ's, in the order of [Network], followed by
//
//	A_1 … A_g   p weights each, feature 1 first
//	B_1 … B_g   p weights each
//	c_1 … c_g   biases
//	u_1 … u_g   weights of the output
//
// Backward computes the activations of the pairs again. Storing them would take m²g numbers, which
// exceed the caches, and reading a number from memory costs as much as an exponential. The workspace
// contains O(m(h + g)) numbers. With tanh and sigmoid, the exponential for a pair is a product of one
// exponential for each document.
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

// single returns φ.
func (n PairNetwork) single() Network {
	return Network{Features: n.Features, Hidden: n.Hidden, Activation: n.Activation}
}

// usualDocs is the number of other documents for which Init scales the output weights of ϕ.
const usualDocs = 100

// Init draws weights and biases uniformly from ±1/√n, where n is the number of inputs of the unit. n is
// p for φ's hidden units, h for its output, 2p for ϕ's hidden units and g for its output. Init divides
// the output weights of ϕ by usualDocs, because a score is the sum of ϕ over a query's documents.
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

// Score implements [Scorer]. x must contain all documents of the query, since each score depends on all
// of them.
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

// sum sets sums[j] to Σ_{k≠j} f(z_tjk) for the current unit t.
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

// backwardPairs adds the gradient of Σ_j lambda_j Σ_{k≠j} ϕ(x_j, x_k) to grad. With δ_tjk = lambda_j
// u_t f'(z_tjk) for k ≠ j and δ_tjj = 0, the derivatives are
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

// sumSlopes sets bySelf[j] to Σ_k δ_tjk and adds Σ_j δ_tjk to byOther[k], for the current unit t and
// the δ of backwardPairs.
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

// addSlopes adds document j's part to the sums of sumSlopes. row contains f'(z_tjk) for all k, and c is
// lambda_j u_t.
func (s pairSpace) addSlopes(j int, c float64, row []float64) {
	row[j] = 0
	s.bySelf[j] = c * kernel.Sum(row)
	kernel.Axpy(c, row, s.byOther)
}

// pairLayers are views of ϕ's parameters A, B, c and u.
type pairLayers struct{ a, b, bias, out []float64 }

func (n PairNetwork) pairLayers(params []float64) pairLayers {
	own, first, g := params[n.single().NumParams():], n.PairHidden*n.Features, n.PairHidden
	return pairLayers{own[:first], own[first : 2*first], own[2*first : 2*first+g], own[2*first+g:]}
}

// pairBlock is the approximate number of pairs in a block. A block of this size fits the first cache,
// and fills vector registers even for short queries.
const pairBlock = 2048

// PairWeights returns views of ϕ's parameters. self and other are A and B, with p weights for each of
// the g units. bias is c and out is u.
func (n PairNetwork) PairWeights(params []float64) (self, other, bias, out []float64) {
	mustMatch("parameters", len(params), n.NumParams())
	l := n.pairLayers(params)
	return l.a, l.b, l.bias, l.out
}

// pairSpace is the memory for the pairs of m documents. z_tjk = A_t·x_j + B_t·x_k + c_t is the input of
// unit t for the documents j and k.
type pairSpace struct {
	sums            []float64 // g × m: Σ_{k≠j} f(z_tjk), kept between Score and Backward
	self, other     []float64 // m each: A_t·x_j + c_t and B_t·x_k, for one unit t
	bySelf, byOther []float64 // m each: Σ_k δ_tjk and Σ_j δ_tjk
	rows            int       // documents per block
	block           []float64 // rows × m: z or f(z), for the pairs of a block
}

// pairRows returns the number of documents whose pairs form a block.
func pairRows(docs int) int { return min(docs, pairBlock/max(docs, 1)+1) }

func (n PairNetwork) pairMemory(docs int) int { return (n.PairHidden + 4 + pairRows(docs)) * docs }

// pairSpace divides the memory after φ's into the slices of a pairSpace.
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

// project sets self to A_t·x + c_t and other to B_t·x, for all documents.
func (s pairSpace) project(t int, x []float32, l pairLayers) {
	p := len(l.a) / len(l.out)
	project(s.self, x, l.a[t*p:(t+1)*p], l.bias[t])
	project(s.other, x, l.b[t*p:(t+1)*p], 0)
}

// activate returns f(z_tjk) for the current unit t and the documents from ≤ j < to, as a row of all k
// for each j.
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
