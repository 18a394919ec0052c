package method

import (
	"context"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/loss"
	"github.com/listwise/listwise/measure"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/scorer"
	"github.com/listwise/listwise/train"
)

// newSingleFeature makes the baseline for any combination of features.
func newSingleFeature() *Method {
	return &Method{
		Name:           "singlefeature",
		Title:          "Single feature",
		Summary:        "Ranks by the one feature that is best on the training data, or by a given one.",
		Source:         "no publication: a baseline that a combination of features should not fall below",
		UsesMeasure:    true,
		DefaultMeasure: "map",
		takes:          anyOne,
		Hyperparameters: []Hyperparameter{
			{Name: "feature", Kind: Integer, Default: "0", Min: 0, Max: 1e9, Doc: "the feature to rank by; 0: the best one"},
			{Name: "direction", Kind: Choice, Default: "both", Choices: []string{"both", "up", "down"}, Doc: "whether high values are good, low ones, or whichever is better"},
		},
		scorers: []string{linearScorer},
		plan:    planSingleFeature,
	}
}

// singleFeature is the learner.
type singleFeature struct {
	feature   int // from 1; 0: the best one
	direction string
}

func planSingleFeature(_ *Method, p *Problem) (loss.Loss, train.Learner, error) {
	return nil, singleFeature{p.Values.Int("feature"), p.Values.Text("direction")}, nil
}

// Weighs implements train.Weigher: queries' weights are those of the mean.
func (singleFeature) Weighs(loss.Loss) train.Weighs { return train.Weighs{Queries: true} }

// Learn implements train.Learner.
func (s singleFeature) Learn(ctx context.Context, t *train.Task) (*train.Learned, error) {
	if err := t.NoCheckpoint(); err != nil {
		return nil, err
	}
	if _, ok := t.Measure.(measure.Averager); !ok {
		return nil, train.BadProblem("found the training measure %s, expected one that has an expected value under ties", t.Measure.Name())
	}
	if err := measure.CheckVaries(t.Measure, t.Data); err != nil {
		return nil, train.BadProblem("training data: %w", err)
	}
	first, last := 0, t.Inputs()-1
	if s.feature > t.Data.Features {
		return nil, train.BadProblem("feature=%d: expected one of the data's %d", s.feature, t.Data.Features)
	} else if s.feature > 0 {
		first, last = s.feature-1, s.feature-1
	}
	d := t.Normalized()
	scores := make([]float64, d.Docs())
	ranker := measure.Ranker{Ties: measure.TiesAverage}
	best, bestValue, counted := 0.0, 0.0, 0
	feature := first
	for j := first; j <= last; j++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		for _, sign := range signs(s.direction) {
			column(scores, d, j, sign)
			var value float64
			value, counted = ranker.Mean(d, scores, t.Measure)
			if best == 0 || value > bestValue {
				feature, best, bestValue = j, sign, value
			}
		}
	}
	w := make([]float64, d.Features)
	w[feature] = best
	training := model.Training{Objective: 1 - bestValue, Evaluations: (last - first + 1) * len(signs(s.direction)), Status: "all features were tried"}
	return &train.Learned{Scorer: scorer.Linear{Features: d.Features}, Params: w, Training: training, Used: counted}, nil
}

func signs(direction string) []float64 {
	switch direction {
	case "up":
		return []float64{1}
	case "down":
		return []float64{-1}
	}
	return []float64{1, -1}
}

// column sets dst to a feature of all documents, times a sign.
func column(dst []float64, d *dataset.Dataset, feature int, sign float64) {
	x := d.X()
	for i := range dst {
		dst[i] = sign * float64(x[i*d.Features+feature])
	}
}

// newRandom makes the baseline for any method.
func newRandom() *Method {
	return &Method{
		Name:    "random",
		Title:   "Random",
		Summary: "Ranks at random; the same documents always in the same order.",
		Source:  "no publication: a baseline, which measures on average what an order drawn by lot does",
		scorers: []string{"random"},
		plan:    func(*Method, *Problem) (loss.Loss, train.Learner, error) { return nil, randomOrder{}, nil },
	}
}

// randomOrder is the learner.
type randomOrder struct{}

// Weighs implements train.Weigher: nothing is learned, so that weights change nothing.
func (randomOrder) Weighs(loss.Loss) train.Weighs {
	return train.Weighs{Queries: true, Documents: true}
}

// Learn implements train.Learner.
func (randomOrder) Learn(_ context.Context, t *train.Task) (*train.Learned, error) {
	if err := t.NoCheckpoint(); err != nil {
		return nil, err
	}
	return &train.Learned{Scorer: scorer.Random{Features: t.Inputs(), Seed: t.Seed}, Training: model.Training{Status: "nothing to learn"}}, nil
}
