package method

import (
	"context"
	"math"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/loss"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/optimize"
	"github.com/listwise/listwise/scorer"
	"github.com/listwise/listwise/train"
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
		Summary: "Least squares on the grades, with a penalty (ridge regression), in closed form.",
		Source:  "Hoerl, Kennard: Ridge Regression: Biased Estimation for Nonorthogonal Problems, Technometrics 12, 1970; Cossock, Zhang: Subset Ranking Using Regression, COLT 2006",
		Hyperparameters: []Hyperparameter{
			regularization("0.001", gridRegression),
			mappingParameter(),
			{Name: "intercept", Kind: Choice, Default: "common", Choices: []string{"common", "query"}, Doc: "one for all queries, or one for each: then only differences within queries are fitted"},
			{Name: "mean", Kind: Switch, Default: "false", Doc: "divide a query's squared errors by its number of documents, so that every query counts the same"},
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
	e := newNormalEquations(d.Features)
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
		e.add(q, r.mapping, weight)
		if r.perQuery {
			e.center()
		}
	}
	e.center()
	w, err := e.solve(r.c)
	if err != nil {
		return nil, train.BadProblem("C=%g leaves features that are sums of others undetermined (%w); a smaller C helps", r.c, err)
	}
	training := model.Training{Objective: e.objective(w, r.c), GradNorm: e.gradNorm(w, r.c), Evaluations: 1, Status: "solved"}
	return &train.Learned{Scorer: scorer.Linear{Features: d.Features}, Params: w, Training: training, Used: len(d.Queries)}, nil
}

// normalEquations are the moments of documents about their means. With a group of
// documents that is not yet centered, about the origin chosen at its start, they
// keep the digits of features whose mean is large against their spread.
type normalEquations struct {
	features int
	xx       []float64 // Σ v·x·xᵀ, lower triangle
	xy       []float64 // Σ v·x·y
	yy       float64   // Σ v·y²

	// Of the group: Σ v·x, Σ v·y and Σ v about origin.
	sumX        []float64
	sumY, total float64
	origin      []float64
	x           []float64
}

func newNormalEquations(features int) *normalEquations {
	return &normalEquations{
		features: features,
		xx:       make([]float64, features*features),
		xy:       make([]float64, features),
		sumX:     make([]float64, features),
		origin:   make([]float64, features),
		x:        make([]float64, features),
	}
}

// Streams implements train.Streamer.
func (ridge) Streams() bool { return true }

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

// add adds the documents of a query to the group; weight multiplies their own.
func (e *normalEquations) add(q *dataset.Query, mapping loss.Mapping, weight float64) {
	if e.total == 0 {
		for j, v := range q.Row(0) {
			e.origin[j] = float64(v)
		}
	}
	common := weight
	for i, grade := range q.Grades {
		if w := q.Weights(); w != nil {
			weight = float64(common * w[i])
		}
		for j, v := range q.Row(i) {
			e.x[j] = float64(v) - e.origin[j]
		}
		y := mapping.Score(grade)
		e.total += weight
		e.sumY += float64(weight * y)
		e.yy += float64(weight * y * y)
		for j, v := range e.x {
			v = float64(v * weight)
			if v == 0 {
				continue
			}
			e.sumX[j] += v
			e.xy[j] += float64(v * y)
			row := e.xx[j*e.features : j*e.features+j+1]
			for k := range row {
				row[k] += float64(v * e.x[k])
			}
		}
	}
}

// center ends the group: it subtracts what its means explain.
func (e *normalEquations) center() {
	if e.total == 0 {
		return
	}
	for j, s := range e.sumX {
		mean := s / e.total
		e.xy[j] -= float64(mean * e.sumY)
		row := e.xx[j*e.features : j*e.features+j+1]
		for k := range row {
			row[k] -= float64(mean * e.sumX[k])
		}
	}
	e.yy -= e.sumY * e.sumY / e.total
	clear(e.sumX)
	e.sumY, e.total = 0, 0
}

// solve returns (XᵀVX + I/C)⁻¹ XᵀVy.
func (e *normalEquations) solve(c float64) ([]float64, error) {
	a, w := append([]float64(nil), e.xx...), append([]float64(nil), e.xy...)
	for j := range w {
		a[j*e.features+j] += 1 / c
	}
	return w, optimize.SolveDefinite(a, w)
}

// gradient returns half the objective's derivatives, (XᵀVX + I/C)w − XᵀVy.
func (e *normalEquations) gradient(w []float64, c float64) []float64 {
	g := make([]float64, len(w))
	for j := range g {
		g[j] += w[j]/c - e.xy[j]
		for k := range j + 1 {
			v := e.xx[j*e.features+k]
			g[j] += float64(v * w[k])
			if k < j {
				g[k] += float64(v * w[j])
			}
		}
	}
	return g
}

// objective returns the sum of squares and the penalty.
func (e *normalEquations) objective(w []float64, c float64) float64 {
	value := e.yy
	for j, g := range e.gradient(w, c) { // wᵀ(A·w − 2b) = wᵀ(g − b)
		value += float64(w[j] * (g - e.xy[j]))
	}
	return value
}

func (e *normalEquations) gradNorm(w []float64, c float64) float64 {
	var square float64
	for _, g := range e.gradient(w, c) {
		square += float64(4 * g * g)
	}
	return math.Sqrt(square)
}
