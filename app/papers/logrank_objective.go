package papers

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/learn/loss/bipartite"
	"github.com/listwise/listwise/learn/loss/logrank/ranking"
	"github.com/listwise/listwise/learn/method"
	"github.com/listwise/listwise/learn/objective"
	"github.com/listwise/listwise/learn/train"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/tune"
)

// The experiments on the minimization of LogRank's objectives call L-BFGS directly. They use linear
// functions and the training queries of every fold.

// objectiveOf is one of LogRank's objectives with its hyperparameters.
type objectiveOf struct {
	name, method, training string
	set                    map[string]string
}

// risk returns the objective over the queries of d, as a function of linear weights.
func (l objectiveOf) risk(d *dataset.Dataset, seed uint64, workers int) (*objective.Risk, error) {
	m, err := method.Lookup(l.method)
	if err != nil {
		return nil, err
	}
	p := &method.Problem{Problem: train.Problem{Data: d, Seed: seed, Workers: workers}}
	if p.Values, err = m.Values(l.set); err != nil {
		return nil, err
	}
	if l.training != "" {
		if p.Measure, err = measure.Parse(l.training, letor3, measure.Options{}); err != nil {
			return nil, err
		}
	}
	whole, err := m.Problem(p)
	if err != nil {
		return nil, err
	}
	risk, err := objective.New(whole.Data, train.Linear(d.Features), whole.Loss, objective.Options{C: p.Values.Number("C"), Seed: seed, Workers: workers})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", l.name, err)
	}
	return risk, nil
}

// linearModel returns a linear function as a model.
func linearModel(w []float64) *model.Model {
	return &model.Model{Scorer: train.Linear(len(w)), Params: w}
}

// onFolds runs a job in parallel for every fold and case. It returns the first error.
func onFolds(ctx context.Context, o Options, stage string, folds []tune.Fold, cases int, job func(fold, at int) error) error {
	return o.sideBySide(ctx, stage, len(folds)*cases, func(_, i int) error { return job(i/cases, i%cases) })
}

// withHP2004Shape returns an experiment that also runs on synthetic data of HP2004's shape, unless
// the data are HP2004. Several of the paper's claims depend on this shape: few relevant documents
// among many.
func withHP2004Shape(run func(context.Context, Options) (*Report, error)) func(context.Context, Options) (*Report, error) {
	return func(ctx context.Context, o Options) (*Report, error) {
		r, err := run(ctx, o)
		if err != nil || o.Data == "" || strings.HasSuffix(r.Title, "— HP2004") {
			return r, err
		}
		o.Data, o.Set = "", ""
		made, err := run(ctx, o)
		if err != nil {
			return nil, err
		}
		for _, t := range made.Tables {
			t.Title += ", synthetic data of HP2004's shape"
			r.Tables = append(r.Tables, t)
		}
		for i := range made.Sheets {
			r.Sheets[i].Rows = append(r.Sheets[i].Rows, made.Sheets[i].Rows...)
		}
		for _, p := range made.Plots {
			p.Name += "synthetic"
			r.Plots = append(r.Plots, p)
		}
		r.Findings, r.Notes = append(r.Findings, made.Findings...), append(r.Notes, made.Notes...)
		return r, nil
	}
}

// additive returns a measure that can be the gain of a ranking. Other measures are an error.
func additive(name string) (measure.Additive, error) {
	m, err := measure.Parse(name, letor3, measure.Options{})
	if err != nil {
		return nil, err
	}
	a, ok := m.(measure.Additive)
	if !ok {
		return nil, fmt.Errorf("measure %s is not a sum over relevant documents", name)
	}
	return a, nil
}

// topFor returns the number of bad documents above all good ones for which the loss Δ of the
// ranking is closest to wanted, and this Δ. Of equal losses it chooses the smallest number. For
// wanted = 1 it chooses the largest, the worst ranking, because other rankings may have no gain
// either.
func topFor(pairs bipartite.Classes, gain ranking.Gain, wanted float64) (top int, delta float64) {
	good, bad := len(pairs.Good), len(pairs.Bad)
	best := math.Inf(1)
	for j := range bad + 1 {
		d := 1.0
		for i := range good {
			d -= gain.GoodGain(i, j, good, bad)
		}
		if distance := math.Abs(d - wanted); distance < best-1e-12 || wanted >= 1 && distance < best+1e-12 {
			best, top, delta = distance, j, within(d)
		}
	}
	return top, delta
}

// within limits a loss Δ to the interval from 0 to 1, which rounding may exceed.
func within(delta float64) float64 { return min(max(delta, 0), 1) }

// ranked is a query with at least one pair of a good and a bad document.
type ranked struct {
	query *dataset.Query
	pairs bipartite.Classes
}

// rankable returns the queries of d with good and bad documents.
func rankable(d *dataset.Dataset) []ranked {
	var list []ranked
	for i := range d.Queries {
		q := &d.Queries[i]
		if pairs := bipartite.Split(q.Grades, 1); pairs.Pairs() > 0 {
			list = append(list, ranked{q, pairs})
		}
	}
	return list
}
