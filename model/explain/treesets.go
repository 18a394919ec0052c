package explain

import (
	"fmt"
	"sync"

	"github.com/listwise/listwise/internal/parallel"
	"github.com/listwise/listwise/model/scorer"
)

// treeSets computes Shapley values of a sum of trees by interventional TreeSHAP (Lundberg et al. 2020,
// algorithm 3). An absent feature has the value of a background document. The result is the mean over a
// sample of background documents.
//
// The path to a leaf with the value v follows the document at splits by X features and the background
// document at splits by Z features. The leaf then contributes v·(X−1)!Z!/(X+Z)! to each of the X
// features, and −v·X!(Z−1)!/(X+Z)! to each of the Z features.
type treeSets struct {
	features int
	trees    [][]scorer.TreeNode
	values   [][]float64 // values of each tree's leaves
	first    []int       // index of each tree's first node in a list of all trees' nodes
	nodes    int         // number of nodes of all trees
	sample   int         // number of background documents
	left     []bool      // sample × nodes: whether the background document goes left
	weights  [][]float64 // weights[a][b] = a!·b!/(a+b+1)!
	mean     float64
	pool     sync.Pool
}

// setsMemory is the memory of one goroutine.
type setsMemory struct {
	left  []bool // for each node: whether the document goes left
	chose []int8 // for each feature: the document that the path follows, 0 if the path has no such split
}

// The values of setsMemory.chose: the path follows the document, or the background document.
const (
	byDocument   = 1
	byBackground = 2
)

func newTreeSets(t *scorer.Trees, params []float64, b *source, o Options) *treeSets {
	s := &treeSets{features: t.NumFeatures(), trees: t.Trees()}
	most := 0
	for _, nodes := range s.trees {
		s.values, params = append(s.values, params[:len(nodes)+1]), params[len(nodes)+1:]
		s.first = append(s.first, s.nodes)
		s.nodes += len(nodes)
		most = max(most, min(len(nodes), s.features))
	}
	s.weights = setWeights(most)
	rows := b.sample(o.Sample, o.Seed)
	s.sample = len(rows) / s.features
	s.left = make([]bool, s.sample*s.nodes)
	scores := make([]float64, s.sample)
	for i := range s.sample {
		s.decide(s.left[i*s.nodes:(i+1)*s.nodes], rows[i*s.features:(i+1)*s.features])
	}
	var ws scorer.Workspace
	t.Score(scores, b.model.Params, rows, &ws)
	s.mean = sum(scores) / float64(s.sample)
	s.pool.New = func() any {
		return &setsMemory{make([]bool, s.nodes), make([]int8, s.features)}
	}
	return s
}

// setWeights returns a!·b!/(a+b+1)! for a + b < n.
func setWeights(n int) [][]float64 {
	w := make([][]float64, n)
	for a := range w {
		w[a] = make([]float64, n-a)
		w[a][0] = 1 / float64(a+1)
		for b := 1; b < n-a; b++ {
			w[a][b] = w[a][b-1] * float64(b) / float64(a+b+1)
		}
	}
	return w
}

// decide sets left for every node of all trees: whether document x goes left.
func (s *treeSets) decide(left []bool, x []float32) {
	for k, nodes := range s.trees {
		own := left[s.first[k]:]
		for i := range nodes {
			own[i] = nodes[i].GoesLeft(x[nodes[i].Feature])
		}
	}
}

func (s *treeSets) about() string {
	return fmt.Sprintf("exact Shapley values of trees against %d of the background's documents (interventional TreeSHAP)", s.sample)
}

func (s *treeSets) base() float64 { return s.mean }

func (s *treeSets) add(dst []float64, x []float32) {
	parallel.For(len(x)/s.features, 0, func(_, i int) {
		m := s.pool.Get().(*setsMemory)
		defer s.pool.Put(m)
		s.decide(m.left, x[i*s.features:(i+1)*s.features])
		sums := make([]float64, s.features)
		for k, nodes := range s.trees {
			if len(nodes) == 0 {
				continue
			}
			w := setsWalk{nodes, s.values[k], m.left[s.first[k]:], nil, m.chose, s.weights, sums}
			for z := range s.sample {
				w.other = s.left[z*s.nodes+s.first[k]:]
				w.from(0, 0, 0)
			}
		}
		for j, v := range sums {
			dst[i*s.features+j] += v / float64(s.sample)
		}
	})
}

// setsWalk visits the leaves of a tree for one document and one background document.
type setsWalk struct {
	nodes      []scorer.TreeNode
	values     []float64
	own, other []bool // whether the document and the background document go left
	chose      []int8
	weights    [][]float64
	sums       []float64
}

// from visits the leaves below a node or leaf. own and other are the numbers of features on the path
// for which it follows the document and the background document. from returns the contribution of the
// leaves to each feature of the first kind, and to each feature of the second kind.
func (w *setsWalk) from(at, own, other int) (gain, loss float64) {
	for at >= 0 {
		n := &w.nodes[at]
		mine, theirs := n.Right, n.Right
		if w.own[at] {
			mine = n.Left
		}
		if w.other[at] {
			theirs = n.Left
		}
		switch {
		case mine == theirs || w.chose[n.Feature] == byDocument:
			at = mine
		case w.chose[n.Feature] == byBackground:
			at = theirs
		default:
			w.chose[n.Feature] = byDocument
			gain, loss = w.from(mine, own+1, other)
			w.sums[n.Feature] += gain
			w.chose[n.Feature] = byBackground
			more, less := w.from(theirs, own, other+1)
			w.sums[n.Feature] += less
			w.chose[n.Feature] = 0
			return gain + more, loss + less
		}
	}
	v := w.values[-1-at]
	if own > 0 {
		gain = v * w.weights[own-1][other]
	}
	if other > 0 {
		loss = -v * w.weights[other-1][own]
	}
	return gain, loss
}
