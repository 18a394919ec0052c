package scorer

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/listwise/listwise/internal/kernel"
	"github.com/listwise/listwise/internal/strictjson"
)

// TreeClasses scores a document by the expected value of its class. The classes are grades in order.
// Their probabilities follow from sums of trees u_k:
//
//	s(x) = T_1 + Σ_{k>1} (T_k − T_{k−1})·P(class ≥ k),   P(class ≥ k) = 1/(1 + exp(−u_k(x)))
//
// This is McRank (Li, Burges and Wu, NIPS 2007, section 3.3). [Classes] is the same with linear
// functions in place of trees. The parameters are the values of the leaves, function by function.
type TreeClasses struct {
	values    []float64
	functions []*Trees // one for each value except the first
	leaves    int
}

var _ Scorer = (*TreeClasses)(nil)

// NewTreeClasses returns the scorer of classes with the values T_1, T_2 and so on, which [CheckClasses]
// must accept. There must be one function for each value except the first. All functions must have the
// same number of features.
func NewTreeClasses(values []float64, functions []*Trees) (*TreeClasses, error) {
	if err := CheckClasses(values); err != nil {
		return nil, err
	}
	if len(functions) != len(values)-1 {
		return nil, fmt.Errorf("found %d functions for %d classes, expected one less than classes", len(functions), len(values))
	}
	c := &TreeClasses{values: slices.Clone(values), functions: slices.Clone(functions)}
	for k, f := range functions {
		if f.features != functions[0].features {
			return nil, fmt.Errorf("found %d features in function %d, expected %d", f.features, k+1, functions[0].features)
		}
		c.leaves += f.leaves
	}
	return c, nil
}

// Kind returns "treeclasses".
func (*TreeClasses) Kind() string { return "treeclasses" }

// NumFeatures returns the number of features.
func (c *TreeClasses) NumFeatures() int { return c.functions[0].features }

// NumParams returns the number of leaves of all trees.
func (c *TreeClasses) NumParams() int { return c.leaves }

// TakesMissing returns true, since every node defines the side for missing values.
func (*TreeClasses) TakesMissing() bool { return true }

// Values returns a copy of the classes' values.
func (c *TreeClasses) Values() []float64 { return slices.Clone(c.values) }

// Functions returns the sums of trees, one for each value except the first.
func (c *TreeClasses) Functions() []*Trees { return slices.Clone(c.functions) }

// Init sets all leaves to 0.
func (*TreeClasses) Init(params []float64, _ *rand.Rand) { clear(params) }

// Prepare implements [Preparer]. It prepares all functions.
func (c *TreeClasses) Prepare() {
	for _, f := range c.functions {
		f.Prepare()
	}
}

// each calls do for each function k. from is the index of the function's first parameter in params. p
// contains each document's probability that its class is at least values[k+1]; do may change p.
func (c *TreeClasses) each(params []float64, x []float32, docs int, ws *Workspace, do func(k, from int, p []float64)) {
	mustMatch("parameters", len(params), c.leaves)
	p, from := ws.Hold(x, docs), 0
	for k, f := range c.functions {
		f.Score(p, params[from:from+f.leaves], x, ws)
		kernel.Logistic(p, p)
		do(k, from, p)
		from += f.leaves
	}
}

// Score implements [Scorer].
func (c *TreeClasses) Score(dst, params []float64, x []float32, ws *Workspace) {
	clear(dst)
	addConstant(dst, c.values[0])
	c.each(params, x, len(dst), ws, func(k, _ int, p []float64) {
		kernel.Axpy(c.values[k+1]-c.values[k], p, dst)
	})
}

// Backward implements [Scorer]. The derivative ∂s/∂u_k is
// (T_k − T_{k−1})·P(class ≥ k)·(1 − P(class ≥ k)).
func (c *TreeClasses) Backward(grad, params []float64, x []float32, lambda []float64, ws *Workspace) {
	mustMatch("derivatives", len(grad), c.leaves)
	c.each(params, x, len(lambda), ws, func(k, from int, p []float64) {
		weight, f := c.values[k+1]-c.values[k], c.functions[k]
		for i, v := range p {
			p[i] = lambda[i] * weight * v * (1 - v)
		}
		f.Backward(grad[from:from+f.leaves], nil, x, p, ws)
	})
}

// treeClassesFile is the form of TreeClasses in a model file.
type treeClassesFile struct {
	Type      string       `json:"type"`
	Features  int          `json:"features"`
	Values    []float64    `json:"values"`
	Functions [][]treeFile `json:"functions"`
}

func (c *TreeClasses) encode(params []float64) ([]byte, error) {
	f := treeClassesFile{Type: c.Kind(), Features: c.NumFeatures(), Values: c.values}
	for _, trees := range c.functions {
		f.Functions = append(f.Functions, trees.files(params[:trees.leaves]))
		params = params[trees.leaves:]
	}
	return strictjson.Marshal(f)
}

func decodeTreeClasses(o strictjson.Object) (Scorer, []float64, error) {
	var f struct {
		Features  int                `json:"features"`
		Values    strictjson.Numbers `json:"values"`
		Functions [][]treeRead       `json:"functions"`
	}
	if err := o.Decode(&f); err != nil {
		return nil, nil, err
	}
	if len(f.Functions) == 0 {
		return nil, nil, errors.New("found no functions, expected one less than classes")
	}
	functions, params := make([]*Trees, len(f.Functions)), []float64(nil)
	for k, list := range f.Functions {
		trees, values, err := readTrees(f.Features, list)
		if err != nil {
			return nil, nil, fmt.Errorf("function %d: %w", k+1, err)
		}
		functions[k], params = trees, append(params, values...)
	}
	c, err := NewTreeClasses(f.Values, functions)
	if err != nil {
		return nil, nil, err
	}
	return c, params, nil
}
