package method

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/internal/random"
	"github.com/listwise/listwise/learn/loss"
	"github.com/listwise/listwise/learn/train"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/model/scorer"
)

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

// pranking is the learner. It ranks by w·x, which the thresholds divide into grades.
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
	const document = 3 * 8 // its place in the order, and its level, which is found by another
	return float64(document * float64(p.Data.Docs()))
}

// perceptron is PRank's state. A document of w·x has the lowest grade whose threshold is
// above that; the highest grade has none.
type perceptron struct {
	x        []float32
	features int
	level    []int // of each document, among the grades
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

// epoch visits the documents in order and returns the sum of |predicted − true| over them,
// in levels, before each update.
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

// visit learns from a document and returns by how many levels it was mistaken.
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
			case r >= level && s >= b: // the threshold should be above
				p.b[r]++
				step--
			case r < level && s <= b: // it should not
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

// weights returns a copy of the weights, or their mean.
func (p *perceptron) weights(average bool) []float64 {
	w := slices.Clone(p.w)
	if average {
		for j := range w {
			w[j] -= p.sum[j] / p.seen
		}
	}
	return w
}
