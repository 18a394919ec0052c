package train

import (
	"fmt"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/learn/loss"
)

// Weighs says which weights of the training data count in a training: those of queries, those
// of documents. Queries and documents of weight 0 are left out of every training.
type Weighs struct{ Queries, Documents bool }

// Weigher is a Learner that says which weights it takes under a loss, nil for none. Data with
// weights that it does not take, or with any if it is no Weigher, are a *WeightsRefused.
type Weigher interface {
	Learner
	Weighs(l loss.Loss) Weighs
}

// WeightsRefused is the error of data with weights that a training does not take.
type WeightsRefused struct {
	Of      string // queries or documents
	Learner Learner
	Loss    loss.Loss // nil if there is none
}

// Error implements error.
func (e *WeightsRefused) Error() string {
	by := fmt.Sprintf("the learner %T", e.Learner)
	if w, ok := e.Learner.(Weigher); ok && e.Loss != nil && w.Weighs(e.Loss).Queries {
		by = fmt.Sprintf("the loss %T", e.Loss)
	}
	return fmt.Sprintf("found weights of %s, expected none: %s does not take them", e.Of, by)
}

// Weighs returns which weights the problem's learner takes under its loss.
func (p *Problem) Weighs() Weighs {
	if w, ok := p.Learner.(Weigher); ok {
		return w.Weighs(p.Loss)
	}
	return Weighs{}
}

// checkWeights returns an error unless all weights of the training data, if there are any, count.
func (p *Problem) checkWeights() error {
	if !p.Data.Weighted() {
		return nil
	}
	takes := p.Weighs()
	switch {
	case p.Data.QueryWeights() != nil && !takes.Queries:
		return &ProblemError{&WeightsRefused{"queries", p.Learner, p.Loss}}
	case p.Data.Weights() != nil && !takes.Documents:
		return &ProblemError{&WeightsRefused{"documents", p.Learner, p.Loss}}
	case !p.Weights.IsZero() && p.Data.Counting() != p.Data:
		return BadProblem("found weights of documents in pairs and queries or documents of weight 0, expected none of weight 0")
	}
	return nil
}

// weightsOf names the weights that data have, "" for none.
func weightsOf(d *dataset.Dataset) string {
	return weighted(d.QueryWeights() != nil, d.Weights() != nil)
}

// weighted names what has weights, "" if nothing does.
func weighted(queries, documents bool) string {
	switch {
	case queries && documents:
		return "queries and documents"
	case queries:
		return "queries"
	case documents:
		return "documents"
	}
	return ""
}

// underLoss are the weights that a learner takes which minimises a loss over an objective.Risk or
// Functional.
func underLoss(l loss.Loss) Weighs { return Weighs{Queries: true, Documents: loss.WeighsDocuments(l)} }

// Weighs implements Weigher.
func (LBFGS) Weighs(l loss.Loss) Weighs { return underLoss(l) }

// Weighs implements Weigher.
func (Descent) Weighs(l loss.Loss) Weighs { return underLoss(l) }

// Weighs implements Weigher.
func (Newton) Weighs(l loss.Loss) Weighs { return underLoss(l) }

// Weighs implements Weigher.
func (Smoothing) Weighs(l loss.Loss) Weighs { return underLoss(l) }

// Weighs implements Weigher.
func (Planes) Weighs(l loss.Loss) Weighs { return underLoss(l) }

// Weighs implements Weigher. Weights do not change bins, nor what counts documents, such as
// LeafDocuments.
func (Trees) Weighs(l loss.Loss) Weighs { return underLoss(l) }

// Weighs implements Weigher.
func (l Boosting) Weighs(loss.Loss) Weighs { return l.Takes }

// Weighs implements Weigher.
func (Classification) Weighs(loss.Loss) Weighs { return Weighs{true, true} }

// Weighs implements Weigher.
func (TreeClassification) Weighs(loss.Loss) Weighs { return Weighs{true, true} }
