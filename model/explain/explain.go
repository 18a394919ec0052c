// Package explain explains models. It computes the exact contribution of every feature to a document's
// score, and the loss of a measure when a feature's values are permuted.
//
// Start reading at [New]. An [Explainer] divides the scores of a query into contributions. Each method
// has its own file:
//
//	linear.go                  linear models and stumps
//	treepath.go, treesets.go   Shapley values of trees
//	gradients.go               networks
//	factors.go                 factorization machines
//	shapley.go                 any model with few features
//	fusion.go                  fusions
//
// [Permute] computes permutation importance. The package must not depend on how models are trained.
package explain

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/internal/suggest"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/model/scorer"
)

// Attribution is the name of a method that divides a score among features.
type Attribution string

// The attributions. All except Gradients compute Shapley values (Shapley 1953) of a game whose players
// are the features. They differ in the score that they assign to a subset of the features.
const (
	// Auto selects the exact attribution for the model: Path for trees, Gradients for networks
	// and factorization machines, and the only available attribution for other models.
	Auto Attribution = "auto"
	// Path is path-dependent TreeSHAP (Lundberg et al., Nature Machine Intelligence 2, 2020). At a
	// split by an absent feature, a document follows both branches. The weight of a branch is the
	// proportion of the background's documents that follow it.
	Path Attribution = "path"
	// Background replaces an absent feature by its values in a sample of background documents and
	// averages the scores (interventional Shapley values).
	Background Attribution = "background"
	// Gradients integrates the gradient of the score along the straight line from the background's mean
	// document to the document (Sundararajan, Taly and Yan, ICML 2017).
	Gradients Attribution = "gradients"
)

var attributions = []string{string(Auto), string(Path), string(Background), string(Gradients)}

// Attributions returns the names that ParseAttribution accepts.
func Attributions() []string { return slices.Clone(attributions) }

// ParseAttribution returns the attribution with the given name.
func ParseAttribution(name string) (Attribution, error) {
	if slices.Contains(attributions, name) {
		return Attribution(name), nil
	}
	return "", fmt.Errorf("found the attribution %q%s", name, suggest.Or(name, attributions, ", expected "+strings.Join(attributions, ", ")))
}

// DefaultSample is the default number of background documents for Background.
const DefaultSample = 100

// Options control how an Explainer divides scores. The zero value is valid.
type Options struct {
	Attribution Attribution // "" means Auto
	Sample      int         // number of documents drawn from a larger background; 0: DefaultSample
	Seed        uint64      // seed of the draw
}

// Explainer divides the scores of a model among its features. It is safe for concurrent use.
type Explainer struct {
	model   *model.Model
	columns []int // data column of each feature, as from [model.Model.Columns]; nil: the first columns
	terms   []Term
	how     attributor
	fusion  *fusionParts // nil unless the model is a fusion
}

// Term is a contributor to a score. It is a feature or, in a fusion that only members can explain, a
// member. See [Explainer.ByFeature].
type Term struct {
	Name   string
	Column int // column of the data; −1 for a member, or a feature that the data lack
}

// attributor divides the scores of one scorer among the scorer's inputs.
type attributor interface {
	// about describes the contributions.
	about() string

	// base returns the score that the contributions are added to.
	base() float64

	// add adds the contributions for the documents in the rows of x to dst. dst has the shape of x.
	add(dst []float64, x []float32)
}

// Query contains the contributions to the scores of a query's documents.
type Query struct {
	// Scores has a score per document, with the same bits as from [model.Model.Score].
	Scores []float64

	// Base is the score that the contributions are added to: the mean score of the background, or the
	// score of the background's mean document. For a fusion it depends on the query.
	Base float64

	// Parts is the row-major documents × terms matrix of contributions.
	Parts []float64

	// Remainder is the score minus Base and the contributions, for each document. It is a rounding
	// error, or the error of numerical integration for a deep network.
	Remainder []float64
}

// Row returns the contributions to a document's score, one per term.
func (q *Query) Row(doc int) []float64 {
	n := len(q.Parts) / len(q.Scores)
	return q.Parts[doc*n : (doc+1)*n]
}

// RefusedError is the error for a model without exact contributions.
type RefusedError struct {
	Kind   string // kind of the scorer
	Reason string
}

func (e *RefusedError) Error() string {
	return fmt.Sprintf("the scores of a model of the kind %s have no exact contributions here: %s; its features' importance by the loss of a measure can be had", e.Kind, e.Reason)
}

// New returns an Explainer for m. It explains scores relative to the documents of background. Data to
// explain must have the same features as background, in the same order. New returns a *[RefusedError]
// for a model without exact contributions, and an error if feature names do not match.
func New(m *model.Model, background *dataset.Dataset, o Options) (*Explainer, error) {
	if m.Scorer == nil {
		return nil, fmt.Errorf("found a model without a scorer, expected one that was trained or loaded")
	}
	if background.Docs() == 0 {
		return nil, fmt.Errorf("found no documents in the background, expected at least one")
	}
	columns, err := m.Columns(background)
	if err != nil {
		return nil, err
	}
	if err := checkWidth(m.Scorer.NumFeatures(), background); err != nil {
		return nil, err
	}
	if o.Sample <= 0 {
		o.Sample = DefaultSample
	}
	if o.Attribution == "" {
		o.Attribution = Auto
	}
	return newExplainer(m, background, columns, o)
}

// newExplainer returns an Explainer for m. The columns of the data are those of m's features.
func newExplainer(m *model.Model, background *dataset.Dataset, columns []int, o Options) (*Explainer, error) {
	e := &Explainer{model: m, columns: columns}
	if _, ok := m.Scorer.(*model.Fusion); ok {
		if err := e.takeApart(background, o); err != nil {
			return nil, err
		}
		return e, nil
	}
	for j := range m.NumFeatures() {
		e.terms = append(e.terms, termOf(m, background, columns, j))
	}
	var err error
	if e.how, err = newAttributor(m, &source{m, background, columns}, o); err != nil {
		return nil, err
	}
	return e, nil
}

// termOf returns the term for feature j of m.
func termOf(m *model.Model, d *dataset.Dataset, columns []int, j int) Term {
	t := Term{Column: j}
	if columns != nil {
		t.Column = columns[j]
	} else if j >= d.Features {
		t.Column = -1
	}
	switch {
	case m.FeatureNames != nil:
		t.Name = m.FeatureNames[j]
	case t.Column >= 0 && d.FeatureNames != nil:
		t.Name = d.FeatureNames[t.Column]
	default:
		t.Name = strconv.Itoa(j + 1)
	}
	return t
}

// newAttributor returns the attributor for a model that is not a fusion.
func newAttributor(m *model.Model, b *source, o Options) (attributor, error) {
	refuse := func(reason string) (attributor, error) {
		return nil, &RefusedError{m.Scorer.Kind(), reason}
	}
	if o.Attribution == Background {
		if t, ok := m.Scorer.(*scorer.Trees); ok {
			return newTreeSets(t, m.Params, b, o), nil
		}
		if additive := newAdditive(m, b); additive != nil {
			return additive, nil
		}
		return newEnumeration(m, b, o)
	}
	trees, isTrees := m.Scorer.(*scorer.Trees)
	switch additive := newAdditive(m, b); {
	case additive != nil:
		return additive, nil
	case isTrees && o.Attribution != Gradients:
		return newTreePaths(trees, m.Params, b), nil
	case isTrees:
		return refuse("trees have no gradient, but Shapley values (path, background)")
	case o.Attribution == Path:
		return refuse("path is for trees")
	}
	if g := newGradients(m, b); g != nil {
		return g, nil
	}
	if f, ok := m.Scorer.(scorer.FM); ok {
		return newFactors(f, m.Params, b), nil
	}
	if o.Attribution == Gradients {
		return refuse("no gradient of it by features is known")
	}
	return newEnumeration(m, b, o)
}

// About describes the contributions and the base in words.
func (e *Explainer) About() string {
	if e.fusion != nil {
		return e.fusion.about
	}
	return e.how.about()
}

// ByFeature reports whether the terms are features. They are not for a fusion with a nonlinear rule, or
// with a member that has no exact contributions; then they are the members.
func (e *Explainer) ByFeature() bool { return e.fusion == nil || e.fusion.place != nil }

// Terms returns the contributors to the scores, in the order of a [Query]'s columns.
func (e *Explainer) Terms() []Term { return slices.Clone(e.terms) }

// Explain returns the contributions to the scores of a query's documents. The query must have the same
// features as the background, in the same order.
func (e *Explainer) Explain(q *dataset.Query) (*Query, error) {
	n := len(e.terms)
	if err := checkCells("a query", q.Len(), n, 12); err != nil {
		return nil, err
	}
	out := &Query{Scores: make([]float64, q.Len()), Parts: make([]float64, q.Len()*n), Remainder: make([]float64, q.Len())}
	if e.fusion != nil {
		if err := e.explainFusion(out, q); err != nil {
			return nil, err
		}
	} else {
		x := e.model.Inputs(nil, q, e.columns)
		var ws scorer.Workspace
		e.model.Scorer.Score(out.Scores, e.model.Params, x, &ws)
		e.addUp(out.Parts, x)
		out.Base = e.how.base()
	}
	for i, s := range out.Scores {
		if math.IsNaN(s) || math.IsInf(s, 0) {
			return nil, fmt.Errorf("found the score %v for document %d of query %q, expected a finite one", s, i+1, q.ID)
		}
		out.Remainder[i] = s - out.Base - sum(out.Row(i))
	}
	return out, nil
}

// addUp adds the contributions of the features to dst. A feature's contribution is the sum of its
// views' contributions.
func (e *Explainer) addUp(dst []float64, x []float32) {
	views, n := e.model.Views, len(e.terms)
	if views.Raw() {
		e.how.add(dst, x)
		return
	}
	width := e.model.Scorer.NumFeatures()
	all := make([]float64, len(x))
	e.how.add(all, x)
	for i, v := range all {
		feature, _ := views.Source(i%width, n)
		dst[i/width*n+feature] += v
	}
}

// Pair explains why one document of a query ranks above another. It returns the difference of their
// contributions for each term, and the difference of their remainders. All differences together add up
// to the difference of the scores.
func (q *Query) Pair(above, below int) (parts []float64, remainder float64) {
	a, b := q.Row(above), q.Row(below)
	parts = make([]float64, len(a))
	for j := range parts {
		parts[j] = a[j] - b[j]
	}
	return parts, q.Scores[above] - q.Scores[below] - sum(parts)
}

// sum returns the sum of list by Neumaier's compensated summation (1974).
func sum(list []float64) float64 {
	var s, lost float64
	for _, v := range list {
		t := s + v
		if math.Abs(s) >= math.Abs(v) {
			lost += (s - t) + v
		} else {
			lost += (v - t) + s
		}
		s = t
	}
	return s + lost
}
