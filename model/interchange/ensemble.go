package interchange

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/transform"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/model/scorer"
)

// ensemble is a sum of regression trees. Readers and writers of all formats for trees use it:
//
//	s(x) = constant + Σ_t value of the leaf of tree t that x falls into
type ensemble struct {
	features   int
	names      []string              // feature names, or nil
	categories []*dataset.Categories // as in model.Model
	constant   float64
	trees      []tree
}

// tree has the nodes of a tree, as [scorer.NewTrees] takes them, and the values of its leaves.
type tree struct {
	nodes  []scorer.TreeNode
	values []float64
}

// root returns the number of the root in the encoding of TreeNode.Left: 0 for node 0, or −1 for
// leaf 0 if the tree has no nodes.
func (t tree) root() int {
	if len(t.nodes) == 0 {
		return -1
	}
	return 0
}

// model returns the model of the ensemble. method names the system from which it was imported.
func (e *ensemble) model(method string, hyperparameters map[string]any) (_ *model.Model, err error) {
	defer catch(&err)
	trees, values := make([][]scorer.TreeNode, 0, len(e.trees)+1), []float64(nil)
	if e.constant != 0 {
		trees, values = append(trees, nil), append(values, e.constant)
	}
	for _, t := range e.trees {
		trees, values = append(trees, t.nodes), append(values, t.values...)
	}
	for _, v := range values {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("found the value %v of a leaf, expected a finite number", v)
		}
	}
	s := must(scorer.NewTrees(e.features, trees))
	m := imported(method, hyperparameters, s, values)
	m.FeatureNames, m.Missing, m.Categories = e.names, dataset.MissingKeep, e.categories
	return m, nil
}

// imported returns a model of another system. method names the system.
func imported(method string, hyperparameters map[string]any, s scorer.Scorer, params []float64) *model.Model {
	if hyperparameters == nil {
		hyperparameters = map[string]any{}
	}
	return &model.Model{
		Method: method, Hyperparameters: hyperparameters, Scorer: s, Params: params,
		Training: model.Training{Status: "imported"},
	}
}

// treesOf returns a model of trees or stumps as an ensemble. The thresholds and directions of its
// nodes include the model's transforms and its rule for missing values. A stump becomes a tree with
// one split. treesOf returns an error for all other models.
func treesOf(m *model.Model) (_ *ensemble, err error) {
	defer catch(&err)
	check(checkOneDocument(m))
	e := &ensemble{features: m.Scorer.NumFeatures(), names: m.FeatureNames}
	switch s := m.Scorer.(type) {
	case *scorer.Trees:
		params := m.Params
		for _, nodes := range s.Trees() {
			n := len(nodes) + 1
			e.trees = append(e.trees, tree{nodes, slices.Clone(params[:n])})
			params = params[n:]
		}
	case *scorer.Stumps:
		for i, stump := range s.Stumps() {
			nodes := []scorer.TreeNode{{Feature: stump.Feature, Threshold: stump.Threshold, Left: -1, Right: -2}}
			e.trees = append(e.trees, tree{nodes, []float64{0, m.Params[i]}})
		}
	default:
		return nil, fmt.Errorf("found the scorer %q, expected trees or stumps: the format holds sums of trees", s.Kind())
	}
	check(e.foldFeatures(m))
	e.gatherConstants()
	return e, nil
}

// checkOneDocument returns an error if a document's score depends on the other documents of its query.
// The programs that read exported models score one document at a time.
func checkOneDocument(m *model.Model) error {
	switch f, fusion := m.Scorer.(*model.Fusion); {
	case fusion:
		return fmt.Errorf("found a fusion by the rule %s, which rescales or ranks the scores of a query's documents: per-query rescaling cannot go into an engine that sees one document; fuse by combsum with --scale raw, or write its members", f.Rule.Kind)
	case m.Normalization != dataset.NoNormalization:
		return fmt.Errorf("found the normalization %s, which uses all documents of a query: per-query normalization cannot go into an engine that sees one document; train with --normalize none", m.Normalization)
	case !m.Views.Raw():
		return fmt.Errorf("found the views %s, which are made of all documents of a query: ranks and z-scores within a query cannot go into an engine that sees one document; train with --views raw", m.Views)
	case m.Missing == dataset.MissingMin:
		return errors.New("found that missing values become the least of their query (--missing min): what uses all documents of a query cannot go into an engine that sees one document; train with --missing zero or keep")
	}
	return nil
}

// foldFeatures changes the thresholds and directions of the nodes, such that the trees apply to
// features before the transforms and the rule for missing values of m. All transforms are
// nondecreasing, so a threshold on the output of a transform is equivalent to a threshold on its
// input. If m rejects missing values, foldFeatures treats them as 0, like features that the data
// lack.
func (e *ensemble) foldFeatures(m *model.Model) error {
	for k := range e.trees {
		t := &e.trees[k]
		for i := range t.nodes {
			if err := foldNode(&t.nodes[i], m); err != nil {
				return err
			}
		}
		var err error
		if *t, err = grow(t.nodes, t.values); err != nil {
			return fmt.Errorf("tree %d: %w", k+1, err)
		}
	}
	return nil
}

// foldNode does for a single node what foldFeatures does. It may leave a threshold or a direction
// that scorer.NewTrees does not accept but grow does.
func foldNode(n *scorer.TreeNode, m *model.Model) error {
	missing := float32(math.NaN())
	if m.Missing != dataset.MissingKeep {
		missing = 0
	}
	chain := m.Transforms.Chain(n.Feature)
	missing = chain.Apply(missing)
	if n.Categories != nil {
		if slices.ContainsFunc(chain, func(s transform.Step) bool { _, fills := s.(transform.Fill); return !fills }) {
			return fmt.Errorf("found categories of feature %d after its transform, expected none or fill alone: what is between two categories has no category", n.Feature+1)
		}
		n.MissingLeft = m.Missing != dataset.MissingError && slices.Contains(n.Categories, missing)
		return nil
	}
	if missing == missing {
		n.MissingLeft = missing <= n.Threshold
	}
	if chain != nil {
		var ok bool
		if n.Threshold, ok = chain.Largest(float64(n.Threshold)); !ok {
			n.Threshold = float32(math.Inf(-1))
		}
	}
	return nil
}

// gatherConstants removes trees with a single leaf and adds their values to the constant.
func (e *ensemble) gatherConstants() {
	e.trees = slices.DeleteFunc(e.trees, func(t tree) bool {
		if len(t.nodes) == 0 {
			e.constant += t.values[0]
		}
		return len(t.nodes) == 0
	})
}

// least returns the least possible sum of the trees, without the constant.
func (e *ensemble) least() (least float64) {
	for _, t := range e.trees {
		least += slices.Min(t.values)
	}
	return least
}

// shift sets the constant so that the sum of the constant and the least leaf of each tree is 0. So
// no score is negative.
func (e *ensemble) shift() { e.constant = -e.least() }

// shiftLeaves subtracts, from the leaf values of each tree, the least of them, and sets the
// constant to 0. So no sum of leaf values is negative, in any precision and order.
func (e *ensemble) shiftLeaves() {
	e.constant = 0
	for _, t := range e.trees {
		least := slices.Min(t.values)
		for i := range t.values {
			t.values[i] -= least
		}
	}
}

// spreadConstant adds the constant to the leaves of the first tree. If there are no trees, it adds a
// tree with one leaf.
func (e *ensemble) spreadConstant() {
	if len(e.trees) == 0 {
		e.trees = []tree{{values: []float64{0}}}
	}
	for i := range e.trees[0].values {
		e.trees[0].values[i] += e.constant
	}
	e.constant = 0
}

// featureNames returns the ensemble's names of the features. If it has none, featureNames returns
// otherwise(j) for each feature j, counted from 1.
func (e *ensemble) featureNames(otherwise func(number int) string) []string {
	if e.names != nil {
		return e.names
	}
	names := make([]string, e.features)
	for j := range names {
		names[j] = otherwise(j + 1)
	}
	return names
}

// below32 returns the largest float32 that is at most t. For every float32 x, x ≤ t is the same as x ≤
// below32(t). The result is −Inf if t is below all finite float32 values.
func below32(t float64) float32 {
	f := float32(t)
	if float64(f) > t {
		f = math.Nextafter32(f, float32(math.Inf(-1)))
	}
	return min(f, math.MaxFloat32)
}

// grow returns a valid tree for nodes in any order, with node 0 as the root. It accepts more than
// scorer.NewTrees: infinite thresholds, empty categories, and missing values that go left in a node
// with categories. It omits nodes that cannot be reached. grow returns an error if a child does not
// exist or two nodes share a child.
func grow(nodes []scorer.TreeNode, values []float64) (tree, error) {
	return growWith(nodes, values, nil)
}

// growWith does what grow does, and also accepts nodes with a direction for zeros. zeros has an
// entry for each such node, by its index. The node sends missing values, and values within lgbmZero
// of 0, left if the entry is true and right if it is false, regardless of its threshold.
func growWith(nodes []scorer.TreeNode, values []float64, zeros map[int]bool) (_ tree, err error) {
	defer catch(&err)
	if len(nodes) == 0 {
		if len(values) == 0 {
			return tree{}, errors.New("found a tree without leaves, expected at least one")
		}
		return tree{values: values[:1:1]}, nil
	}
	check(checkReached(nodes, len(values)))
	if len(zeros) == 0 && usual(nodes, len(values)) {
		return tree{nodes, values}, nil
	}
	g := grower{nodes: nodes, values: values, zeros: zeros}
	g.pending = append(g.pending, place{node: 0, parent: -1})
	for len(g.pending) > 0 {
		last := len(g.pending) - 1
		p := g.pending[last]
		g.pending = g.pending[:last]
		check(g.put(p))
	}
	return g.tree, nil
}

// checkReached returns an error unless the nodes that can be reached from node 0 form a tree.
func checkReached(nodes []scorer.TreeNode, leaves int) error {
	seen, pending := make([]bool, len(nodes)), []int{0}
	seen[0] = true
	for len(pending) > 0 {
		i := pending[len(pending)-1]
		pending = pending[:len(pending)-1]
		for _, c := range [2]int{nodes[i].Left, nodes[i].Right} {
			switch {
			case c >= len(nodes) || c < -leaves:
				return fmt.Errorf("found the child %d of node %d, expected one of %d nodes or %d leaves", c, i, len(nodes), leaves)
			case c < 0:
				continue
			case seen[c]:
				return fmt.Errorf("found node %d a second time, as a child of node %d, expected a tree", c, i)
			}
			seen[c] = true
			pending = append(pending, c)
		}
	}
	return nil
}

// usual reports whether scorer.NewTrees accepts the nodes of a tree as they are.
func usual(nodes []scorer.TreeNode, leaves int) bool {
	if leaves != len(nodes)+1 {
		return false
	}
	seen := make([]bool, len(nodes)+leaves) // of nodes, then of leaves
	for i := range nodes {
		n := &nodes[i]
		if t := float64(n.Threshold); math.IsNaN(t) || math.IsInf(t, 0) || n.Categories != nil && (len(n.Categories) == 0 || n.MissingLeft) {
			return false
		}
		for _, c := range [2]int{n.Left, n.Right} {
			at := c
			if c < 0 {
				at = len(nodes) - 1 - c
			}
			if c >= 0 && c <= i || c >= len(nodes) || at >= len(seen) || seen[at] {
				return false
			}
			seen[at] = true
		}
	}
	return true
}

// mostCopies is the largest number of nodes that grow may add to a tree.
const mostCopies = 1 << 20

// grower is the state of growWith.
type grower struct {
	nodes   []scorer.TreeNode
	values  []float64
	zeros   map[int]bool
	tree    tree
	pending []place
}

// place is a pending step of growWith. The old node with the index node, or leaf −1−node if node is
// negative, becomes a child of the node with the index parent in the new tree.
type place struct {
	node, parent int
	right        bool
	known        bool // documents that reach the place have a value of the node's feature
	path         *sign
}

// sign is the sign that documents have in a feature, as the path from the root to a place shows:
// −1, 0 for zero or missing, or 1. before is the previous sign on the path.
type sign struct {
	feature, sign int
	before        *sign
}

// of returns the sign of a feature. ok is false if the path does not determine the sign.
func (s *sign) of(feature int) (sign int, ok bool) {
	for ; s != nil; s = s.before {
		if s.feature == feature {
			return s.sign, true
		}
	}
	return 0, false
}

// put performs a pending step: it adds a node or a leaf to the new tree, and steps for the children
// to g.pending.
func (g *grower) put(p place) error {
	p, unknown := g.decided(p)
	own := len(g.tree.nodes)
	if p.node < 0 {
		own = -1 - len(g.tree.values)
		g.tree.values = append(g.tree.values, g.values[-1-p.node])
	}
	if p.parent >= 0 {
		if parent := &g.tree.nodes[p.parent]; p.right {
			parent.Right = own
		} else {
			parent.Left = own
		}
	}
	if p.node < 0 {
		return nil
	}
	if own >= len(g.nodes)+mostCopies {
		return fmt.Errorf("found a tree that takes more than %d nodes where zeros or missing values go ways of their own, expected fewer", own)
	}
	n := g.nodes[p.node]
	switch {
	case unknown:
		g.divideBySign(p, own)
		return nil
	case n.Categories != nil && len(n.Categories) == 0:
		n.Categories, n.Threshold = nil, float32(math.Inf(-1))
	case n.Categories != nil && n.MissingLeft && !p.known:
		// values go to the node, missing values to a copy of its left side
		g.tree.nodes = append(g.tree.nodes, scorer.TreeNode{Feature: n.Feature, Threshold: math.MaxFloat32})
		g.pending = append(g.pending, place{n.Left, own, true, false, p.path}, place{p.node, own, false, true, p.path})
		return nil
	}
	if n.Categories != nil {
		n.MissingLeft = false
	}
	switch t := float64(n.Threshold); {
	case math.IsNaN(t):
		return fmt.Errorf("found the threshold %v in node %d, expected a number", t, p.node)
	case math.IsInf(t, -1): // no value is at most −Inf
		n.Threshold, n.Left, n.Right, n.MissingLeft = math.MaxFloat32, n.Right, n.Left, !n.MissingLeft
	case math.IsInf(t, 1):
		n.Threshold = math.MaxFloat32
	}
	g.tree.nodes = append(g.tree.nodes, n)
	g.pending = append(g.pending, place{n.Right, own, true, false, p.path}, place{n.Left, own, false, false, p.path})
	return nil
}

// decided replaces a node in zeros by one of its children, repeatedly, as long as the path
// determines to which child documents go. unknown is true if it stopped at a node in zeros because
// the path does not determine the sign of the node's feature.
func (g *grower) decided(p place) (at place, unknown bool) {
	for p.node >= 0 {
		zeroLeft, ok := g.zeros[p.node]
		if !ok {
			return p, false
		}
		n := &g.nodes[p.node]
		sign, known := p.path.of(n.Feature)
		switch {
		case !known:
			return p, true
		case sign == 0 && zeroLeft || sign < 0 && n.Threshold >= 0:
			p.node = n.Left
		case sign == 0 || sign > 0 && n.Threshold < 0:
			p.node = n.Right
		default:
			return p, false
		}
	}
	return p, false
}

// divideBySign replaces a node in zeros by two nodes, which divide documents by the sign of the
// feature. The first sends negative values left, and the second sends positive values right. Below
// them are three copies of the replaced node, one for each sign.
func (g *grower) divideBySign(p place, own int) {
	n := &g.nodes[p.node]
	g.tree.nodes = append(g.tree.nodes,
		scorer.TreeNode{Feature: n.Feature, Threshold: before(-lgbmZero), Right: own + 1},
		scorer.TreeNode{Feature: n.Feature, Threshold: lgbmZero, MissingLeft: true})
	g.pending = append(g.pending,
		place{p.node, own + 1, true, false, &sign{n.Feature, 1, p.path}},
		place{p.node, own + 1, false, false, &sign{n.Feature, 0, p.path}},
		place{p.node, own, false, false, &sign{n.Feature, -1, p.path}})
}
