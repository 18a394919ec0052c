package train

import (
	"context"
	"math"

	"github.com/listwise/listwise/learn/loss"
	"github.com/listwise/listwise/learn/objective"
	"github.com/listwise/listwise/learn/optimize"
	"github.com/listwise/listwise/model/scorer"
)

// Classification learns the probabilities of a document's grades by maximum likelihood and
// ranks by the expected value of the grade (scorer.Classes). It minimises
//
//	−Σ log P(class of x) + ‖w‖²/C        or, with Ordinal,
//	−Σ Σ_k log P(class ≥ k, or < k, as it is) + ‖w‖²/C
//
// over all documents of all queries, biases included in w, to a certified gap. The classes
// are the grades of the training data. It takes no loss.
type Classification struct {
	Ordinal    bool
	Mapping    loss.Mapping // from a grade to the value of its class
	C          float64      // of the penalty ‖w‖²/C, above 0
	Iterations int          // of L-BFGS, at most; 0: 1000
	Tolerance  float64      // relative gap to the minimum at which to stop; 0: 1e-6
}

// Learn implements Learner.
func (c Classification) Learn(ctx context.Context, t *Task) (*Learned, error) {
	if err := t.NoCheckpoint(); err != nil {
		return nil, err
	}
	if !(c.C > 0) || math.IsInf(1/c.C, 1) {
		return nil, BadProblem("found C = %v, expected a positive number whose inverse is finite", c.C)
	}
	d := t.Normalized()
	grades, level := d.Levels()
	values := make([]float64, len(grades))
	for k, g := range grades {
		values[k] = c.Mapping.Score(g)
	}
	if err := scorer.CheckClasses(values); err != nil {
		return nil, BadProblem("grades as classes: %w", err)
	}
	s := scorer.Classes{Features: d.Features, Values: values, Ordinal: c.Ordinal}
	l := objective.NewLikelihood(d, s, level, c.C, t.Workers)
	solver := optimize.LBFGS{
		Memory: memory, MaxIterations: c.Iterations, StrongConvexity: l.StrongConvexity(), GapTolerance: c.Tolerance, Observe: t.observer(),
	}
	result, err := solver.Minimize(ctx, l, make([]float64, l.Dim()))
	if err != nil {
		return nil, err
	}
	return &Learned{s, result.X, training(result), len(d.Queries)}, nil
}
