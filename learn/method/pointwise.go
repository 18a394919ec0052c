package method

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/internal/random"
	"github.com/listwise/listwise/learn/loss"
	"github.com/listwise/listwise/learn/optimize"
	"github.com/listwise/listwise/learn/train"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/model/scorer"
)

// newRegression returns ridge regression of the grades, in closed form. It minimises over w and b
//
//	Σ_qi v_qi (ψ(l_qi) − b − w·x_qi)² + ‖w‖²/C
//
// The weight v is the weight of the document times the weight of its query. With mean, v is divided by the sum of the
// documents' weights in the query. The intercept b is one number for all queries, or one number for each query. It
// does not change rankings and has no penalty.
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

// gridRegression has smaller values than other grids of C, because squared errors are larger than other losses.
var gridRegression = []string{"1e-05", "0.0001", "0.001", "0.01", "0.1", "1"}

// ridge is the learner of newRegression.
type ridge struct {
	c        float64
	mapping  loss.Mapping
	perQuery bool // with an intercept for each query
	mean     bool // every query has the same weight
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

// add adds the documents of a query. weight is a factor of the documents' own weights.
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

// Memory implements train.Estimator. It is quadratic in the number of features.
func (ridge) Memory(p *train.Problem) float64 { return optimize.LeastSquaresBytes(p.Inputs()) }

// Weighs implements train.Weigher.
func (ridge) Weighs(loss.Loss) train.Weighs { return train.Weighs{Queries: true, Documents: true} }

// totalOf returns the sum of the weights of a query's documents. By default a document has weight 1.
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

// newMcRank returns McRank with linear classifiers. On trees it is newMcRankOnTrees, as in the paper.
func newMcRank() *Method {
	return &Method{
		Name:    "mcrank",
		Title:   "McRank",
		Summary: "Classification by grade, ranking by the expected grade; linear classifiers (exact minimum) or trees.",
		Source:  "Li, Burges, Wu: McRank: Learning to Rank Using Multiple Classification and Gradient Boosting, NIPS 2007, sections 3.1 and 3.3",
		onTrees: newMcRankOnTrees(),
		Hyperparameters: []Hyperparameter{
			regularization("0.1", gridMcRank),
			{Name: "classes", Kind: Choice, Default: "nominal", Choices: []string{"nominal", "ordinal"}, Doc: "predict the probability of each grade (nominal), or of at least each grade (ordinal)"},
			mappingParameter(),
			{Name: "tolerance", Kind: Number, Default: "1e-6", Min: 1e-15, Max: 1, Doc: "certified relative gap to the minimum at which L-BFGS stops"},
			{Name: "iterations", Kind: Integer, Default: "2000", Min: 1, Max: 1e9, Doc: "limit of L-BFGS iterations"},
		},
		scorers: []string{"classes", treeScorer},
		plan: func(_ *Method, p *Problem) (loss.Loss, train.Learner, error) {
			mapping, err := loss.ParseMapping(p.Values.Text("mapping"))
			if err != nil {
				return nil, nil, &train.ProblemError{Err: err}
			}
			return nil, train.Classification{
				Ordinal: p.Values.Text("classes") == "ordinal", Mapping: mapping, C: p.Values.Number("C"),
				Iterations: p.Values.Int("iterations"), Tolerance: p.Values.Number("tolerance"),
			}, nil
		},
	}
}

// newMcRankOnTrees returns McRank with a sum of trees for each grade except the lowest. This is ordinal
// classification. The paper finds it at least as good as nominal classification.
func newMcRankOnTrees() *Method {
	return &Method{
		Name:            "mcrank",
		Title:           "McRank",
		Summary:         "Classification by grade (nominal or ordinal) with boosted trees, ranking by the expected grade.",
		Source:          "Li, Burges, Wu: McRank: Learning to Rank Using Multiple Classification and Gradient Boosting, NIPS 2007, section 3.3",
		Hyperparameters: append(treeParameters(), mappingParameter()),
		scorers:         []string{treeScorer},
		plan: func(_ *Method, p *Problem) (loss.Loss, train.Learner, error) {
			mapping, err := loss.ParseMapping(p.Values.Text("mapping"))
			if err != nil {
				return nil, nil, &train.ProblemError{Err: err}
			}
			learner, err := trees(p)
			return nil, train.TreeClassification{Trees: learner, Mapping: mapping}, err
		},
	}
}

// gridMcRank is the grid of C for McRank. The loss is a sum over documents, as in a regression.
var gridMcRank = []string{"1e-4", "1e-3", "1e-2", "1e-1", "1", "10", "100"}

func newPRank() *Method {
	return &Method{
		Name:    "prank",
		Title:   "PRank",
		Summary: "Online perceptron with thresholds between grades.",
		Source:  "Crammer, Singer: Pranking with Ranking, NIPS 2001, figure 2",
		Hyperparameters: []Hyperparameter{
			{Name: "epochs", Kind: Integer, Default: "10", Min: 1, Max: 1e6, Grid: []string{"1", "3", "10", "30", "100"}, Doc: "number of passes over the documents, shuffled each time"},
			{Name: "average", Kind: Switch, Default: "false", Grid: []string{"false", "true"}, Doc: "average the weights over all updates instead of taking the last ones"},
		},
		whole:   true,
		scorers: []string{linearScorer},
		plan: func(_ *Method, p *Problem) (loss.Loss, train.Learner, error) {
			return nil, pranking{p.Values.Int("epochs"), p.Values.Bool("average")}, nil
		},
	}
}

// pranking is the learner of PRank. It ranks by w·x, and the thresholds divide w·x into grades.
type pranking struct {
	epochs  int
	average bool
}

// Learn implements train.Learner.
func (r pranking) Learn(ctx context.Context, t *train.Task) (*train.Learned, error) {
	if err := t.NoCheckpoint(); err != nil {
		return nil, err
	}
	d := t.Normalized()
	levels, level := d.Levels()
	if len(levels) < 2 || len(levels) > scorer.MaxClasses {
		return nil, train.BadProblem("found %d different grades, expected 2 to %d", len(levels), scorer.MaxClasses)
	}
	p := newPerceptron(d, level, len(levels))
	order := make([]int, len(level))
	for i := range order {
		order[i] = i
	}
	training := model.Training{Status: fmt.Sprintf("%d epochs", r.epochs)}
	for training.Iterations < r.epochs {
		rng := random.Stream(t.Seed, "prank", strconv.Itoa(training.Iterations))
		rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		wrong, err := p.epoch(ctx, order)
		if err != nil {
			return nil, err
		}
		training.Iterations++
		training.Objective = float64(wrong)
		if t.Observe != nil {
			t.Observe(train.Iteration{Number: training.Iterations, Epoch: true, Objective: float64(wrong), Params: p.weights(r.average)})
		}
		if wrong == 0 {
			training.Status = "every grade is predicted"
			break
		}
	}
	return &train.Learned{Scorer: scorer.Linear{Features: d.Features}, Params: p.weights(r.average), Training: training, Used: len(d.Queries)}, nil
}

// Memory implements train.Estimator.
func (pranking) Memory(p *train.Problem) float64 {
	const document = 3 * 8 // its place in the order, its level, and another copy of the level while levels are computed
	return float64(document * float64(p.Data.Docs()))
}

// perceptron is the state of PRank. The predicted grade of a document is the lowest grade whose threshold exceeds
// w·x. The highest grade has no threshold.
type perceptron struct {
	x        []float32
	features int
	level    []int // index of each document's grade among the grades
	w        []float64
	b        []float64 // thresholds, which never decrease (the paper's Lemma 1)

	// w minus sum/seen is the mean of the weights after each document.
	sum  []float64 // Σ over updates of (documents seen before) × change
	seen float64
}

func newPerceptron(d *dataset.Dataset, level []int, levels int) *perceptron {
	return &perceptron{
		x: d.X(), features: d.Features, level: level,
		w: make([]float64, d.Features), b: make([]float64, levels-1), sum: make([]float64, d.Features),
	}
}

// epoch visits the documents in order. It returns the sum of |predicted − true|, in levels, each before the update.
func (p *perceptron) epoch(ctx context.Context, order []int) (wrong int, err error) {
	for n, i := range order {
		if n%4096 == 0 {
			if err := ctx.Err(); err != nil {
				return 0, err
			}
		}
		wrong += p.visit(p.x[i*p.features:(i+1)*p.features], p.level[i])
	}
	return wrong, nil
}

// visit updates the state by a document. It returns |predicted − true| before the update, in levels.
func (p *perceptron) visit(x []float32, level int) int {
	var score [1]float64
	scorer.Linear{Features: p.features}.Score(score[:], p.w, x, nil)
	s := score[0]
	predicted := slices.IndexFunc(p.b, func(b float64) bool { return s < b })
	if predicted < 0 {
		predicted = len(p.b)
	}
	step := 0.0
	if predicted != level {
		for r, b := range p.b {
			switch {
			case r >= level && s >= b: // the threshold should be above s
				p.b[r]++
				step--
			case r < level && s <= b: // the threshold should be below s
				p.b[r]--
				step++
			}
		}
	}
	if step != 0 {
		for j, v := range x {
			change := float64(step * float64(v))
			p.w[j] += change
			p.sum[j] += float64(p.seen * change)
		}
	}
	p.seen++
	return max(predicted-level, level-predicted)
}

// weights returns a copy of the weights, or their mean over all documents seen.
func (p *perceptron) weights(average bool) []float64 {
	w := slices.Clone(p.w)
	if average {
		for j := range w {
			w[j] -= p.sum[j] / p.seen
		}
	}
	return w
}
