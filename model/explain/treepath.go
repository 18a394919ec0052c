package explain

import (
	"sync"

	"github.com/listwise/listwise/internal/parallel"
	"github.com/listwise/listwise/model/scorer"
)

// treePaths are the path-dependent Shapley values of a sum of trees (TreeSHAP: Lundberg et al.
// 2020, algorithm 2) in time linear in the number of leaves.
//
// The game of a tree is a sum over its leaves, v·Π_f (f present ? o_f : r_f) over the features f of
// the leaf's path. o_f is 1 if the document passes all splits by f on the path, else 0. r_f is the
// product of the shares of the background's documents that pass each. The Shapley value of a
// product has a one-dimensional integral, by the Beta function's for the weights k!(d−1−k)!/d!:
//
//	φ_f = v·(o_f − r_f)·∫₀¹ Π_{g≠f} (o_g·t + r_g·(1−t)) dt
//
// The integrand is a polynomial of degree d − 1, for which a Gauss–Legendre rule of ⌈d/2⌉ nodes is
// exact. One pass down a tree multiplies a factor for every edge, at each of the rule's nodes. One
// pass up adds the leaves' products, as in Linear TreeSHAP (Yu et al., NeurIPS 2022). Evaluating
// the polynomials at these nodes subtracts nothing: all factors are positive. If a path divides by
// a feature again, the later edge's r and o replace the earlier's, whose factor is divided out
// where the later edge begins.
type treePaths struct {
	features int
	trees    []pathTree
	mean     float64 // score of the background
	pool     sync.Pool
}

// pathTree is a tree as its edges, in an order in which parents precede. Tables have a row of
// chunks for each edge.
type pathTree struct {
	nodes  []scorer.TreeNode
	edges  []pathEdge
	chunks int // of width numbers: the rule's nodes, filled up with weights 0

	passed, failed []chunk // factor of an edge by that of the one before by its feature, which was passed
	divisor        []chunk // 1/(t + r(1−t))
	rest           []chunk // of one row: 1/(1−t)
	weights        []chunk // of one row
}

// width is the number of nodes of a rule that are worked on together.
const width = 4

type chunk [width]float64

// pathEdge leads from a node to a child.
type pathEdge struct {
	node    int32 // that it leaves
	parent  int32 // the edge that leads there, −1 for none
	before  int32 // the last edge above that leaves a node of the same feature, −1 for none
	feature int32
	left    bool
	leaf    bool
	value   float64 // of the leaf
	share   float64 // r, of all splits by the feature down to here
	step    float64 // share by that of the edge before
}

// pathMemory is what one goroutine works in.
type pathMemory struct {
	left   []bool  // of each node: the document goes there
	passed []bool  // of each edge: o
	down   []chunk // of each edge: product of its path
	up     []chunk // of each edge: sum of v times product times weight over its leaves
}

func newTreePaths(t *scorer.Trees, params []float64, b *source) *treePaths {
	p := &treePaths{features: t.NumFeatures()}
	trees := t.Trees()
	counts := countLeaves(t, len(params), b)
	docs := float64(b.data.Docs())
	products := make([]float64, len(params))
	for leaf, n := range counts {
		products[leaf] = params[leaf] * (float64(n) / docs)
	}
	p.mean = sum(products)
	p.trees = make([]pathTree, 0, len(trees))
	for _, nodes := range trees {
		leaves := len(nodes) + 1
		if len(nodes) > 0 {
			p.trees = append(p.trees, newPathTree(nodes, params[:leaves], counts[:leaves]))
		}
		params, counts = params[leaves:], counts[leaves:]
	}
	p.pool.New = func() any { return new(pathMemory) }
	return p
}

// countLeaves returns how many documents of the background fall into each leaf.
func countLeaves(t *scorer.Trees, leaves int, b *source) []int {
	features, trees := t.NumFeatures(), len(t.Trees())
	workers := parallel.Workers(0, trees)
	counts := make([]int, leaves) // those of a tree belong to one goroutine
	b.each(func(x []float32, docs int) {
		parallel.For(trees, workers, func(_, tree int) {
			for i := range docs {
				counts[t.Leaf(tree, x[i*features:(i+1)*features])]++
			}
		})
	})
	return counts
}

func newPathTree(nodes []scorer.TreeNode, values []float64, counts []int) pathTree {
	t := pathTree{nodes: nodes, edges: make([]pathEdge, 0, 2*len(nodes))}
	below := make([]int, len(nodes)) // documents at each node
	count := func(child int) int {
		if child < 0 {
			return counts[-1-child]
		}
		return below[child]
	}
	for i := len(nodes) - 1; i >= 0; i-- {
		below[i] = count(nodes[i].Left) + count(nodes[i].Right)
	}
	into := make([]int32, len(nodes)) // edge that leads to each node
	into[0] = -1
	deepest := make([]int, 0, 2*len(nodes)) // features of the path down to each edge
	most := 0
	for i := range nodes {
		n := &nodes[i]
		for _, child := range [2]int{n.Left, n.Right} {
			e := pathEdge{node: int32(i), parent: into[i], feature: int32(n.Feature), left: child == n.Left, leaf: child < 0, step: 0.5}
			if below[i] > 0 {
				e.step = float64(count(child)) / float64(below[i])
			}
			t.link(&e)
			depth := 0
			if e.parent >= 0 {
				depth = deepest[e.parent]
			}
			if e.before < 0 {
				depth++
			}
			deepest, most = append(deepest, depth), max(most, depth)
			if e.leaf {
				e.value = values[-1-child]
			} else {
				into[child] = int32(len(t.edges))
			}
			t.edges = append(t.edges, e)
		}
	}
	t.tabulate((most + 1) / 2)
	return t
}

// link finds the edge before by the same feature, and the share of both.
func (t *pathTree) link(e *pathEdge) {
	e.before, e.share = e.parent, e.step
	for e.before >= 0 && t.edges[e.before].feature != e.feature {
		e.before = t.edges[e.before].parent
	}
	if e.before >= 0 {
		e.share *= t.edges[e.before].share
	}
}

// tabulate fills the tables for the rule of n nodes.
func (t *pathTree) tabulate(n int) {
	nodes, weights := legendre(n)
	t.chunks = (n + width - 1) / width
	row := func() []chunk { return make([]chunk, len(t.edges)*t.chunks) }
	t.passed, t.failed, t.divisor = row(), row(), row()
	t.rest, t.weights = make([]chunk, t.chunks), make([]chunk, t.chunks)
	for q := range t.chunks * width {
		c, k := q/width, q%width
		at := 0.5
		if q < n {
			at, t.weights[c][k] = nodes[q], weights[q]
		}
		t.rest[c][k] = 1 / (1 - at)
		for i := range t.edges {
			e := &t.edges[i]
			factor, before := at+float64(e.share*(1-at)), 1.0
			if e.before >= 0 {
				before = at + float64(t.edges[e.before].share*(1-at))
			}
			t.passed[i*t.chunks+c][k] = factor / before
			t.failed[i*t.chunks+c][k] = e.share * (1 - at) / before
			t.divisor[i*t.chunks+c][k] = 1 / factor
		}
	}
}

func (*treePaths) about() string {
	return "path-dependent Shapley values of trees (TreeSHAP), by the shares of the background's documents at every split"
}

func (p *treePaths) base() float64 { return p.mean }

// together is how many documents pass a tree before the next one is looked at.
const together = 64

func (p *treePaths) add(dst []float64, x []float32) {
	docs := len(x) / p.features
	parallel.For((docs+together-1)/together, 0, func(_, block int) {
		m := p.pool.Get().(*pathMemory)
		defer p.pool.Put(m)
		from, to := block*together, min((block+1)*together, docs)
		for k := range p.trees {
			t := &p.trees[k]
			m.fit(t)
			for i := from; i < to; i++ {
				t.add(dst[i*p.features:(i+1)*p.features], x[i*p.features:(i+1)*p.features], m)
			}
		}
	})
}

// fit gives the memory the sizes of a tree.
func (m *pathMemory) fit(t *pathTree) {
	if n := len(t.nodes); cap(m.left) < n {
		m.left = make([]bool, n)
	}
	if n := len(t.edges); cap(m.passed) < n {
		m.passed = make([]bool, n)
	}
	if n := len(t.edges) * t.chunks; cap(m.down) < n {
		m.down, m.up = make([]chunk, n), make([]chunk, n)
	}
	m.left, m.passed = m.left[:len(t.nodes)], m.passed[:len(t.edges)]
	m.down, m.up = m.down[:len(t.edges)*t.chunks], m.up[:len(t.edges)*t.chunks]
}

// add adds the contributions to the tree's value for a document to dst.
func (t *pathTree) add(dst []float64, x []float32, m *pathMemory) {
	for i := range t.nodes {
		n := &t.nodes[i]
		m.left[i] = n.GoesLeft(x[n.Feature])
	}
	t.goDown(m)
	t.goUp(dst, m)
}

// The two passes over a tree's edges, in which all time goes: four numbers at a time.

// one is the product of no factors.
var one = chunk{1, 1, 1, 1}

// goDown computes the products along the paths to all edges, and the leaves' products, at every
// node of the rule.
func (t *pathTree) goDown(m *pathMemory) {
	n, edges := t.chunks, t.edges
	passed, weights := m.passed[:len(edges)], t.weights[:n]
	for i := range edges {
		e := &edges[i]
		open := e.before < 0 || passed[e.before]
		passed[i] = open && m.left[e.node] == e.left
		table := t.failed
		if passed[i] {
			table = t.passed
		}
		factors, down, up := table[i*n:(i+1)*n], m.down[i*n:(i+1)*n], m.up[i*n:(i+1)*n]
		for c := range down {
			above, d := &one, &down[c]
			if e.parent >= 0 {
				above = &m.down[int(e.parent)*n+c]
			}
			if open {
				f := &factors[c]
				*d = chunk{above[0] * f[0], above[1] * f[1], above[2] * f[2], above[3] * f[3]}
			} else {
				*d = chunk{above[0] * e.step, above[1] * e.step, above[2] * e.step, above[3] * e.step}
			}
			if e.leaf {
				v, w := e.value, &weights[c]
				up[c] = chunk{v * d[0] * w[0], v * d[1] * w[1], v * d[2] * w[2], v * d[3] * w[3]}
			} else {
				up[c] = chunk{}
			}
		}
	}
}

// goUp adds the contribution of each edge to its feature in dst: (o − r) times the integral over
// the leaves below, without the edge's own factor. It subtracts the contribution of the edge before
// by the same feature.
func (t *pathTree) goUp(dst []float64, m *pathMemory) {
	n, edges := t.chunks, t.edges
	for i := len(edges) - 1; i >= 0; i-- {
		e, up := &edges[i], m.up[i*n:(i+1)*n]
		if e.parent >= 0 {
			parent := m.up[int(e.parent)*n : (int(e.parent)+1)*n]
			for c := range up {
				p, u := &parent[c], &up[c]
				p[0] += u[0]
				p[1] += u[1]
				p[2] += u[2]
				p[3] += u[3]
			}
		}
		var gain float64
		switch {
		case m.passed[i]:
			gain = (1 - e.share) * product(up, t.divisor[i*n:(i+1)*n])
		case e.before >= 0 && !m.passed[e.before]:
			continue // the feature had failed before
		default: // the factor is r(1−t)
			gain = -product(up, t.rest)
		}
		if e.before >= 0 {
			before := int(e.before)
			gain -= float64((1 - edges[before].share) * product(up, t.divisor[before*n:(before+1)*n]))
		}
		dst[e.feature] += gain
	}
}

// product returns the inner product of two lists of chunks.
func product(a, b []chunk) float64 {
	b = b[:len(a)]
	var s chunk
	for c := range a {
		x, y := &a[c], &b[c]
		s[0] += float64(x[0] * y[0])
		s[1] += float64(x[1] * y[1])
		s[2] += float64(x[2] * y[2])
		s[3] += float64(x[3] * y[3])
	}
	return (s[0] + s[1]) + (s[2] + s[3])
}
