package method

import (
	"context"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/learn/loss"
	"github.com/listwise/listwise/learn/optimize"
	"github.com/listwise/listwise/learn/train"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/model/scorer"
)

// newRegression makes ridge regression of the grades, in closed form: the w that
// minimises
//
//	Σ_qi v_qi (ψ(l_qi) − b − w·x_qi)² + ‖w‖²/C
//
// with the weights v of documents times those of their queries and, with mean, over the sum of the
// former in the query, and with the intercept b, which changes no ranking and is not penalised, at its best
// value for all queries together or for each by itself.
func newRegression() *Method {
	return &Method{
		Name:    "regression",
		Title:   "Regression",
		Summary: "Ridge regression of the grades, in closed form.",
		Source:  "Hoerl, Kennard: Ridge Regression: Biased Estimation for Nonorthogonal Problems, Technometrics 12, 1970; Cossock, Zhang: Subset Ranking Using Regression, COLT 2006",
		Hyperparameters: []Hyperparameter{
			regularization("0.001", gridRegression),
			mappingParameter(),
			{Name: "intercept", Kind: Choice, Default: "common", Choices: []string{"common", "query"}, Doc: "one intercept for all queries (common), or one for each query, which fits differences within queries"},
			{Name: "mean", Kind: Switch, Default: "false", Doc: "divide a query's squared errors by its number of documents, so that queries have equal weight"},
		},
		scorers: []string{linearScorer},
		plan:    planRegression,
	}
}

// gridRegression: squared errors weigh more than the losses of other methods, so
// that the best C is smaller.
var gridRegression = []string{"1e-05", "0.0001", "0.001", "0.01", "0.1", "1"}

// ridge is the learner.
type ridge struct {
	c        float64
	mapping  loss.Mapping
	perQuery bool // an intercept for each query
	mean     bool // every query counts the same
}

func planRegression(_ *Method, p *Problem) (loss.Loss, train.Learner, error) {
	mapping, err := loss.ParseMapping(p.Values.Text("mapping"))
	if err != nil {
		return nil, nil, &train.ProblemError{Err: err}
	}
	return nil, ridge{c: p.Values.Number("C"), mapping: mapping, perQuery: p.Values.Text("intercept") == "query", mean: p.Values.Bool("mean")}, nil
}

// Learn implements train.Learner.
func (r ridge) Learn(ctx context.Context, t *train.Task) (*train.Learned, error) {
	if err := t.NoCheckpoint(); err != nil {
		return nil, err
	}
	d := t.Normalized()
	e := optimize.NewLeastSquares(d.Features, t.Workers)
	rows := d.Reader()
	for i := range d.Queries {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		q := rows.Query(i)
		weight := q.Weight()
		if r.mean {
			weight /= totalOf(q)
		}
		r.add(e, q, weight)
		if r.perQuery {
			e.EndGroup()
		}
	}
	e.EndGroup()
	w, err := e.Solve(r.c)
	if err != nil {
		return nil, train.BadProblem("C=%g leaves features that are sums of others undetermined (%w); a smaller C helps", r.c, err)
	}
	training := model.Training{Objective: e.Objective(w, r.c), GradNorm: e.GradNorm(w, r.c), Evaluations: 1, Status: "solved"}
	return &train.Learned{Scorer: scorer.Linear{Features: d.Features}, Params: w, Training: training, Used: len(d.Queries)}, nil
}

// add adds the documents of a query; weight multiplies their own.
func (r ridge) add(e *optimize.LeastSquares, q *dataset.Query, weight float64) {
	common := weight
	for i, grade := range q.Grades {
		if w := q.Weights(); w != nil {
			weight = float64(common * w[i])
		}
		e.Add(q.Row(i), r.mapping.Score(grade), weight)
	}
}

// Streams implements train.Streamer.
func (ridge) Streams() bool { return true }

// Memory implements train.Estimator: it grows with the square of the number of features.
func (ridge) Memory(p *train.Problem) float64 { return optimize.LeastSquaresBytes(p.Inputs()) }

// Weighs implements train.Weigher.
func (ridge) Weighs(loss.Loss) train.Weighs { return train.Weighs{Queries: true, Documents: true} }

// totalOf returns the sum of the weights of a query's documents: their number unless they have
// others.
func totalOf(q *dataset.Query) float64 {
	if q.Weights() == nil {
		return float64(q.Len())
	}
	var total float64
	for _, w := range q.Weights() {
		total += w
	}
	return total
}
