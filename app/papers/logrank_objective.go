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

// The experiments on how LogRank's objectives are minimised run L-BFGS themselves, on linear
// functions and the training queries of every fold.

// objectiveOf names one of LogRank's objectives with its hyperparameters.
type objectiveOf struct {
	name, method, training string
	set                    map[string]string
}

// risk returns the objective over some queries, a function of a linear function's weights.
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

// onFolds runs a job for every fold and case, side by side, and returns the first error.
func onFolds(ctx context.Context, o Options, stage string, folds []tune.Fold, cases int, job func(fold, at int) error) error {
	return o.sideBySide(ctx, stage, len(folds)*cases, func(_, i int) error { return job(i/cases, i%cases) })
}

// withHP2004Shape returns an experiment that, on other data than HP2004, also runs on synthetic data of
// its shape. Several of the paper's claims rest on that shape, few relevant documents among many.
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

// additive returns a measure that can be the gain of a ranking.
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

// topFor returns how many bads to put above all goods so that the loss Δ of the ranking is nearest to
// the wanted one, and that Δ. The fewest win among equals. Only Δ = 1 asks for the worst ranking of
// all, because others may have no gain either.
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

// within returns a loss Δ, which as 1 less a sum may miss 0 or 1 by rounding,
// between the two.
func within(delta float64) float64 { return min(max(delta, 0), 1) }

// ranked is a query that has pairs to rank.
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
