package explain

import (
	"sync"

	"github.com/listwise/listwise/internal/parallel"
	"github.com/listwise/listwise/model/scorer"
)

// treePaths computes path-dependent Shapley values of a sum of trees (TreeSHAP: Lundberg et al. 2020,
// algorithm 2) in time linear in the number of leaves.
//
// The game of a tree is a sum over its leaves. A leaf with the value v contributes
// v·Π_f (f present ? o_f : r_f), a product over the d features f of its path. o_f is 1 if the document
// passes all splits by f on the path, otherwise 0. r_f is the product, over these splits, of the share
// of the background's documents that pass. The Shapley value of such a product is a one-dimensional
// integral, because the Shapley weights k!(d−1−k)!/d! of subsets with k features are Beta functions:
//
//	φ_f = v·(o_f − r_f)·∫₀¹ Π_{g≠f} (o_g·t + r_g·(1−t)) dt
//
// The integrand is a polynomial of degree d − 1, which a Gauss–Legendre rule with ⌈d/2⌉ nodes
// integrates exactly. One pass down a tree multiplies a factor for every edge, at each node of the
// rule. One pass up adds the products of the leaves, as in Linear TreeSHAP (Yu et al., NeurIPS 2022).
// All factors are positive, so evaluating the polynomials loses no digits by subtraction.
//
// If a path splits by the same feature twice, r and o of the later edge replace those of the earlier
// edge. The pass down divides by the earlier factor where the later edge begins.
type treePaths struct {
	features int
	trees    []pathTree
	mean     float64 // mean score of the background
	pool     sync.Pool
}

// pathTree is a tree in the form of its edges. An edge follows its parent in the list. Each table has a
// row of chunks for each edge.
type pathTree struct {
	nodes  []scorer.TreeNode
	edges  []pathEdge
	chunks int // number of chunks per row: the rule's nodes, padded with nodes of weight 0

	passed, failed []chunk // an edge's factor divided by the factor of its edge before, which was passed
	divisor        []chunk // 1/(t + r(1−t))
	rest           []chunk // one row: 1/(1−t)
	weights        []chunk // one row: weights of the rule
}

// width is the number of nodes of a rule that are processed together.
const width = 4

type chunk [width]float64

// pathEdge leads from a node to a child.
type pathEdge struct {
	node    int32 // the node at the edge's start
	parent  int32 // the edge into node; −1 if node is the root
	before  int32 // the last edge above by the same feature; −1 if there is none
	feature int32
	left    bool
	leaf    bool
	value   float64 // value of the leaf
	share   float64 // r: the product over this edge and all edges before by the feature
	step    float64 // share of the node's background documents that follow this edge
}

// pathMemory is the memory of one goroutine.
type pathMemory struct {
	left   []bool  // for each node: whether the document goes left
	passed []bool  // for each edge: o
	down   []chunk // for each edge: the product of the factors on its path
	up     []chunk // for each edge: the sum of value · product · weight over the leaves below
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

// countLeaves returns the number of background documents in each leaf.
func countLeaves(t *scorer.Trees, leaves int, b *source) []int {
	features, trees := t.NumFeatures(), len(t.Trees())
	workers := parallel.Workers(0, trees)
	counts := make([]int, leaves) // only one goroutine at a time changes the counts of a tree
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
	below := make([]int, len(nodes)) // number of documents at each node
	count := func(child int) int {
		if child < 0 {
			return counts[-1-child]
		}
		return below[child]
	}
	for i := len(nodes) - 1; i >= 0; i-- {
		below[i] = count(nodes[i].Left) + count(nodes[i].Right)
	}
	into := make([]int32, len(nodes)) // the edge that leads to each node
	into[0] = -1
	deepest := make([]int, 0, 2*len(nodes)) // number of features on the path down to each edge
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

// link sets the edge before e by the same feature, and the share of both edges.
func (t *pathTree) link(e *pathEdge) {
	e.before, e.share = e.parent, e.step
	for e.before >= 0 && t.edges[e.before].feature != e.feature {
		e.before = t.edges[e.before].parent
	}
	if e.before >= 0 {
		e.share *= t.edges[e.before].share
	}
}

// tabulate fills the tables for the rule with n nodes.
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

// together is the number of documents that are explained for one tree before the next tree.
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

// fit resizes the memory for tree t.
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

// add adds the contributions of the tree's features for document x to dst.
func (t *pathTree) add(dst []float64, x []float32, m *pathMemory) {
	for i := range t.nodes {
		n := &t.nodes[i]
		m.left[i] = n.GoesLeft(x[n.Feature])
	}
	t.goDown(m)
	t.goUp(dst, m)
}

// goDown and goUp pass over a tree's edges. They take most of the time, so they process four numbers at
// a time.

// one is the product of no factors.
var one = chunk{1, 1, 1, 1}

// goDown computes, at every node of the rule, the products along the paths to all edges, and the
// products of the leaves.
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

// goUp adds the contribution of each edge to its feature in dst. The contribution is (o − r) times the
// integral over the leaves below, without the edge's own factor. goUp subtracts the contribution of the
// edge before by the same feature.
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
			continue // an earlier split by the feature already failed
		default: // the edge's factor is r(1−t)
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
