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

// ensemble is a sum of regression trees, as other systems hold them:
//
//	s(x) = constant + Σ_t value of the leaf of tree t that x falls into
type ensemble struct {
	features   int
	names      []string              // one a feature, or nil
	categories []*dataset.Categories // as in model.Model
	constant   float64
	trees      []tree
}

// tree is a tree as [scorer.NewTrees] takes it, with a value for every leaf.
type tree struct {
	nodes  []scorer.TreeNode
	values []float64
}

// model returns the model of the trees, to be named after where they came from.
func (e *ensemble) model(method string, hyperparameters map[string]any) (*model.Model, error) {
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
	s, err := scorer.NewTrees(e.features, trees)
	if err != nil {
		return nil, err
	}
	m := imported(method, hyperparameters, s, values)
	m.FeatureNames, m.Missing, m.Categories = e.names, dataset.MissingKeep, e.categories
	return m, nil
}

// imported returns a model of another system.
func imported(method string, hyperparameters map[string]any, s scorer.Scorer, params []float64) *model.Model {
	if hyperparameters == nil {
		hyperparameters = map[string]any{}
	}
	return &model.Model{
		Method: method, Hyperparameters: hyperparameters, Scorer: s, Params: params,
		Training: model.Training{Status: "imported"},
	}
}

// treesOf returns a model as a sum of trees that does to features and missing values what the
// model does: trees as they are, stumps as trees of one split. Another model is an error.
func treesOf(m *model.Model) (*ensemble, error) {
	if err := checkOneDocument(m); err != nil {
		return nil, err
	}
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
	if err := e.foldFeatures(m); err != nil {
		return nil, err
	}
	e.gatherConstants()
	return e, nil
}

// checkOneDocument returns an error for a model that gives a document a score that depends on
// the other documents of its query: the programs that models are written for see one document.
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

// foldFeatures makes the nodes do to features and missing values what the model does before it
// scores: a transform never decreases, so a threshold on what it makes of a feature is one on
// the feature itself. A model without a rule for missing values takes them as 0, which is what
// features that data lack are.
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

// foldNode is foldFeatures for a node, which grow takes then.
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

// gatherConstants adds trees of one leaf to the constant.
func (e *ensemble) gatherConstants() {
	e.trees = slices.DeleteFunc(e.trees, func(t tree) bool {
		if len(t.nodes) == 0 {
			e.constant += t.values[0]
		}
		return len(t.nodes) == 0
	})
}

// shift makes the least score that the trees can give 0.
func (e *ensemble) shift() {
	var least float64
	for _, t := range e.trees {
		least += slices.Min(t.values)
	}
	e.constant = -least
}

// shiftLeaves is shift by the leaves: the least value of every tree is 0, so that no sum, in
// whatever precision and order, is negative.
func (e *ensemble) shiftLeaves() {
	e.constant = 0
	for _, t := range e.trees {
		least := slices.Min(t.values)
		for i := range t.values {
			t.values[i] -= least
		}
	}
}

// spreadConstant adds the constant to the leaves of the first tree, which is one leaf if there are
// no others.
func (e *ensemble) spreadConstant() {
	if len(e.trees) == 0 {
		e.trees = []tree{{values: []float64{0}}}
	}
	for i := range e.trees[0].values {
		e.trees[0].values[i] += e.constant
	}
	e.constant = 0
}

// featureNames returns a name for every feature: the model's, or from a function of its number,
// from 1.
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

// below32 returns the largest float32 that is at most t: x ≤ t and x ≤ below32(t) are the same
// for every float32 x. It is −Inf if there is no finite one.
func below32(t float64) float32 {
	f := float32(t)
	if float64(f) > t {
		f = math.Nextafter32(f, float32(math.Inf(-1)))
	}
	return min(f, math.MaxFloat32)
}
