package train

import (
	"cmp"
	"context"
	"errors"

	"github.com/listwise/listwise/loss"
	"github.com/listwise/listwise/objective"
	"github.com/listwise/listwise/tree"
)

// Trees adds regression trees to a sum, round by round: each approximates a step of the loss as
// a function of the documents' scores (Friedman, Greedy Function Approximation, Annals of
// Statistics 2001). It is a Newton step if the loss has second derivatives by score
// (loss.Diagonal; Chen and Guestrin, XGBoost, KDD 2016); else one along λ, by a line search if
// λ is the gradient of the loss. The round that is best on the validation data is kept, without
// these the last. It writes checkpoints.
type Trees struct {
	Rounds   int     // trees at most; 0 means 300
	Patience int     // rounds without a better one, by the validation data, before the end; 0: all are made
	Rate     float64 // factor of a tree's values; 0 means 0.1
	Bins     int     // of a feature's values, 2 to 255; 0 means 255

	// QueryFraction of the queries, drawn anew each round, teach a tree, at least one; of the
	// features that FeatureFraction, at least one, is there to divide by. Of the documents of
	// these queries DocumentFraction, at least one, teach it. 0 means all.
	QueryFraction, FeatureFraction, DocumentFraction float64

	// GOSSTop of the documents of these queries, those with the largest |λ|·second, and
	// GOSSRest of them, drawn from the others, whose λ and second derivatives stand for all the
	// others', teach a tree, at least one (gradient-based one-side sampling: Ke et al., LightGBM,
	// NIPS 2017, Algorithm 2). Both 0, or a top of 1, is no such sampling.
	GOSSTop, GOSSRest float64

	Redraw bool // draw what the loss draws before every tree, not once

	tree.Options // Workers is set by the task
}

// Learn implements Learner.
func (l Trees) Learn(ctx context.Context, t *Task) (*Learned, error) {
	for _, f := range []struct {
		what  string
		value float64
	}{
		{"fraction of queries", l.QueryFraction}, {"fraction of features", l.FeatureFraction}, {"fraction of documents", l.DocumentFraction},
		{"fraction of top documents", l.GOSSTop}, {"fraction of the rest", l.GOSSRest}, {"rate", l.Rate},
	} {
		if !(f.value >= 0 && f.value <= 1) {
			return nil, BadProblem("found the %s %v, expected a number from 0 to 1", f.what, f.value)
		}
	}
	switch {
	case l.GOSSTop+l.GOSSRest > 1:
		return nil, BadProblem("found the fractions %v of top documents and %v of the rest, expected a sum of at most 1", l.GOSSTop, l.GOSSRest)
	case (0 < l.GOSSTop && l.GOSSTop < 1 || l.GOSSRest > 0) && 0 < l.DocumentFraction && l.DocumentFraction < 1:
		return nil, BadProblem("found a fraction of documents, %v, and one of top documents, %v, expected one of them: both draw documents", l.DocumentFraction, l.GOSSTop)
	}
	return Boosting{Rounds: l.Rounds, Patience: l.Patience, Start: l.start}.Learn(ctx, t)
}

func (l Trees) start(t *Task) (Booster, error) {
	if t.Loss == nil {
		return nil, errors.New("found no loss, expected one: this learner minimises a loss")
	}
	coster, _ := t.Loss.(loss.Coster)
	if err := t.CheckWork(nil, coster); err != nil {
		return nil, err
	}
	d := t.Normalized()
	f, err := objective.NewFunctional(d, t.Loss, t.Seed, t.Workers, t.done)
	if err != nil {
		return nil, err
	}
	if f.Queries() == 0 {
		return nil, t.nothingToLearn()
	}
	l.Rate, l.Bins = cmp.Or(l.Rate, 0.1), cmp.Or(l.Bins, tree.MaxBins)
	l.QueryFraction, l.FeatureFraction = cmp.Or(l.QueryFraction, 1), cmp.Or(l.FeatureFraction, 1)
	l.DocumentFraction = cmp.Or(l.DocumentFraction, 1)
	if l.GOSSRest == 0 {
		l.GOSSTop = cmp.Or(l.GOSSTop, 1)
	}
	l.Workers = t.Workers
	bins, err := tree.NewBins(d.X(), d.Features, l.Bins, t.Workers)
	if err != nil {
		return nil, err
	}
	g, err := tree.NewGrower(tree.NewMatrix(d.X(), bins, t.Workers), l.Options)
	if err != nil {
		return nil, err
	}
	n := d.Docs()
	r := &treeRounds{
		Trees: l, seed: t.Seed, data: d, loss: f, step: newTreeStep(f, t.Loss.Traits()), grower: g,
		treesState: treesState{scores: make([]float64, n)}, lambda: make([]float64, n), second: make([]float64, n),
	}
	for i := range d.Queries {
		r.queries = append(r.queries, i)
	}
	r.step.eval(r.scores, r.lambda, r.second)
	return r, nil
}
