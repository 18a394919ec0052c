package method

import (
	"context"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/measure"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/scorer"
)

// newSingleFeature makes the floor that any combination of features should be above.
func newSingleFeature() *Method {
	return &Method{
		Name:           "singlefeature",
		Title:          "Single feature",
		Summary:        "Ranks by the one feature that is best on the training data, or by a given one.",
		Source:         "a floor for the others: what no combination of features should be below",
		UsesMeasure:    true,
		DefaultMeasure: "map",
		takes:          anyOne,
		Hyperparameters: []Hyperparameter{
			{Name: "feature", Kind: Integer, Default: "0", Min: 0, Max: 1e9, Doc: "the feature to rank by; 0: the best one"},
			{Name: "direction", Kind: Choice, Default: "both", Choices: []string{"both", "up", "down"}, Doc: "whether high values are good, low ones, or whichever is better"},
		},
		scorers: []string{linearScorer},
		train:   trainSingleFeature,
	}
}

func trainSingleFeature(ctx context.Context, m *Method, p *Problem) (*model.Model, error) {
	if err := noResume(p.Checkpoint); err != nil {
		return nil, err
	}
	if _, ok := p.Measure.(measure.Averager); !ok {
		return nil, badProblem("found the training measure %s, expected one that has an expected value under ties", p.Measure.Name())
	}
	if err := measure.CheckVaries(p.Measure, p.Data); err != nil {
		return nil, badProblem("training data: %w", err)
	}
	first, last := 0, p.Data.Features-1
	if chosen := p.Values.Int("feature"); chosen > p.Data.Features {
		return nil, badProblem("feature=%d: expected one of the data's %d", chosen, p.Data.Features)
	} else if chosen > 0 {
		first, last = chosen-1, chosen-1
	}
	d := normalized(p.Data, p.Normalization)
	scores := make([]float64, d.Docs())
	ranker := measure.Ranker{Ties: measure.TiesAverage}
	best, bestValue, counted := 0.0, 0.0, 0
	feature := first
	for j := first; j <= last; j++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		for _, sign := range signs(p.Values.Text("direction")) {
			column(scores, d, j, sign)
			var value float64
			value, counted = ranker.Mean(d, scores, p.Measure)
			if best == 0 || value > bestValue {
				feature, best, bestValue = j, sign, value
			}
		}
	}
	w := make([]float64, d.Features)
	w[feature] = best
	t := model.Training{Objective: 1 - bestValue, Evaluations: (last - first + 1) * len(signs(p.Values.Text("direction"))), Status: "all features were tried"}
	return newModel(m, p, scorer.Linear{Features: d.Features}, w, t, counted), nil
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

// newRandom makes the floor that any method should be above.
func newRandom() *Method {
	return &Method{
		Name:    "random",
		Title:   "Random",
		Summary: "Ranks at random; the same documents always in the same order.",
		Source:  "a floor for the others: its expectation is that of an order drawn by lot",
		scorers: []string{"random"},
		train: func(_ context.Context, m *Method, p *Problem) (*model.Model, error) {
			if err := noResume(p.Checkpoint); err != nil {
				return nil, err
			}
			return newModel(m, p, scorer.Random{Features: p.Data.Features, Seed: p.Seed}, nil, model.Training{Status: "nothing to learn"}, 0), nil
		},
	}
}
