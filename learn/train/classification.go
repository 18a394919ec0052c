package train

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/internal/elementary"
	"github.com/listwise/listwise/learn/loss"
	"github.com/listwise/listwise/learn/objective"
	"github.com/listwise/listwise/learn/optimize"
	"github.com/listwise/listwise/model/scorer"
)

// Classification learns the probabilities of a document's grades by maximum likelihood. It ranks by the expected
// value of the grade (scorer.Classes). The classes are the grades of the training data. Over all documents of all
// queries, it minimises to a certified gap
//
//	−Σ log P(class of x) + ‖w‖²/C        or, with Ordinal,
//	−Σ Σ_k log P(class ≥ k, or < k, whichever is true) + ‖w‖²/C
//
// The penalty includes the biases. Classification takes no loss.
type Classification struct {
	Ordinal    bool         // learn P(class ≥ k) for every class k, not P(class = k)
	Mapping    loss.Mapping // maps a grade to the value of its class
	C          float64      // factor of the penalty ‖w‖²/C; must be positive
	Iterations int          // largest number of iterations of L-BFGS; 0 means 2000
	Tolerance  float64      // relative gap to the minimum at which to stop; 0 means 1e-6
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
		Memory: memory, MaxIterations: cmp.Or(c.Iterations, 2000), StrongConvexity: l.StrongConvexity(), GapTolerance: c.Tolerance, Observe: t.observer(),
	}
	result, err := solver.Minimize(ctx, l, make([]float64, l.Dim()))
	if err != nil {
		return nil, err
	}
	return &Learned{s, result.X, training(result), len(d.Queries)}, nil
}

// TreeClassification learns a sum of boosted trees for every grade of the training data except the lowest. The sum
// gives the probability that a document has at least this grade. TreeClassification ranks by the expected value of
// the grade (scorer.TreeClasses). This is McRank's multiple ordinal classification (Li, Burges, Wu, NIPS 2007,
// section 3.3). A round adds a tree to each sum, under the logistic loss of its grade (loss.AtLeast). The objective
// is the sum of these losses. TreeClassification takes no loss and no initial model, and writes checkpoints.
type TreeClassification struct {
	Trees   Trees        // how each sum grows; Refit must be false
	Mapping loss.Mapping // maps a grade to the value of its class
}

// Streams implements Streamer.
func (c TreeClassification) Streams() bool { return c.Trees.Streams() }

// Memory implements Estimator.
func (c TreeClassification) Memory(p *Problem) float64 {
	return c.Trees.memory(p, max(1, len(gradesOf(p.Data))-1))
}

// LearnsMissing implements MissingLearner.
func (c TreeClassification) LearnsMissing() bool { return c.Trees.LearnsMissing() }

// Learn implements Learner.
func (c TreeClassification) Learn(ctx context.Context, t *Task) (*Learned, error) {
	if err := c.Trees.check(); err != nil {
		return nil, err
	}
	if c.Trees.Debias.By != NoDebias {
		return nil, BadProblem("found the correction %s for slots, expected none: this learner has no gradients of clicks", c.Trees.Debias.By)
	}
	if c.Trees.Refit {
		return nil, BadProblem("found a classification whose trees are to be refitted, expected one that begins anew")
	}
	return Boosting{Rounds: c.Trees.Rounds, Patience: c.Trees.patience(), Start: c.start, setting: "trees"}.Learn(ctx, t)
}

func (c TreeClassification) start(t *Task) (Booster, error) {
	grades := gradesOf(t.Normalized())
	r := &classRounds{values: make([]float64, len(grades))}
	for k, g := range grades {
		r.values[k] = c.Mapping.Score(g)
	}
	if err := scorer.CheckClasses(r.values); err != nil {
		return nil, BadProblem("grades as classes: %w", err)
	}
	c.Trees.complete(t)
	for _, g := range grades[1:] {
		own := *t.Problem
		own.Loss = loss.AtLeast{Grade: g}
		if err := r.add(&c.Trees, &Task{Problem: &own, normalized: t.Normalized()}); err != nil {
			return nil, err
		}
	}
	r.scored.sums, r.scored.rounds = make([][]float64, len(r.functions)), make([]int, len(r.functions))
	return r, nil
}

// classRounds has a growing sum of trees for each class except the first.
type classRounds struct {
	functions []*treeMean
	values    []float64 // of the classes

	// The data set that Add scored last, the scores by each sum of trees, and the number of rounds in these scores.
	scored struct {
		of     *dataset.Dataset
		sums   [][]float64
		rounds []int
	}
}

// gradesOf returns the distinct grades of d in ascending order.
func gradesOf(d *dataset.Dataset) (grades []float64) {
	for _, g := range d.Grades() {
		if at, found := slices.BinarySearch(grades, g); !found {
			if grades = slices.Insert(grades, at, g); len(grades) > scorer.MaxClasses {
				all, _ := d.Levels()
				return all // insertion would be slow for so many
			}
		}
	}
	return grades
}

// add starts the sum of trees of a class. All classes share a grower, unless bins depend on the loss.
func (r *classRounds) add(l *Trees, t *Task) error {
	f, base := l.begin(t)
	if len(r.functions) > 0 && !l.BinsByCurvature {
		f.grower = r.functions[0].grower
	} else {
		var err error
		if f.grower, err = l.newGrower(t, base); err != nil {
			return err
		}
	}
	r.functions = append(r.functions, f)
	return f.grow(t, base)
}

// objective implements starter. It returns the sum of the classes' objectives.
func (r *classRounds) objective() float64 {
	var objective float64
	for _, f := range r.functions {
		objective += f.objective()
	}
	return objective
}

// Next implements Booster. A class without a further tree keeps its sum.
func (r *classRounds) Next() (Round, bool) {
	var round Round
	added := false
	for _, f := range r.functions {
		next, ok := f.Next()
		if f.err != nil {
			return Round{}, false
		}
		if ok {
			added, round.Weight = true, next.Weight
		}
		round.Objective += f.objective()
	}
	return round, added
}

// Add implements Booster.
func (r *classRounds) Add(dst []float64, d *dataset.Dataset) {
	last := &r.scored
	for i := range dst {
		dst[i] = r.values[0]
	}
	for k, f := range r.functions {
		switch rounds := f.rounds(); {
		case last.of == d && last.rounds[k] == rounds:
		case last.of == d && last.rounds[k] == rounds-1 || rounds == 1:
			if rounds == 1 {
				last.sums[k] = make([]float64, len(dst))
			}
			f.Add(last.sums[k], d)
		default:
			last.sums[k] = f.score(d)
		}
		last.rounds[k] = f.rounds()
		for i, u := range last.sums[k] {
			dst[i] += (r.values[k+1] - r.values[k]) / (1 + elementary.Exp(-u))
		}
	}
	last.of = d
}

// score returns the scores of the documents of d by all trees at present.
func (m *treeMean) score(d *dataset.Dataset) []float64 {
	trees, _ := m.initial.parts()
	for round := range m.rounds() {
		for _, r := range m.sums {
			if round < len(r.trees) {
				trees = append(trees, r.trees[round])
			}
		}
	}
	s, err := scorer.NewTrees(m.data.Features, trees)
	if err != nil {
		panic(err) // unreachable: the grower makes valid trees
	}
	scores, rows, params := make([]float64, d.Docs()), rowsOf(d), m.Weights()
	spaces := make([]scorer.Workspace, rows.workers(m.Workers))
	rows.each(m.Workers, func(worker, row int, x []float32) {
		s.Score(scores[row:row+len(x)/rows.features], params, x, &spaces[worker])
	})
	return scores
}

// Keep implements Booster.
func (r *classRounds) Keep() {
	for _, f := range r.functions {
		f.Keep()
	}
}

// Kept implements Booster.
func (r *classRounds) Kept() (scorer.Scorer, []float64, error) {
	functions, params := make([]*scorer.Trees, len(r.functions)), []float64(nil)
	for k, f := range r.functions {
		of, leaves, err := f.Kept()
		if err != nil {
			return nil, nil, err
		}
		functions[k], params = of.(*scorer.Trees), append(params, leaves...)
	}
	c, err := scorer.NewTreeClasses(r.values, functions)
	return c, params, err
}

// Weights implements Booster. It returns the values of all leaves.
func (r *classRounds) Weights() []float64 {
	var all []float64
	for _, f := range r.functions {
		all = append(all, f.Weights()...)
	}
	return all
}

// Queries implements Booster.
func (r *classRounds) Queries() int { return len(r.functions[0].data.Queries) }

func (r *classRounds) members() []*treeRounds {
	var all []*treeRounds
	for _, f := range r.functions {
		all = append(all, f.members()...)
	}
	return all
}
