package train

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/listwise/listwise/learn/loss"
	"github.com/listwise/listwise/learn/optimize"
	"github.com/listwise/listwise/learn/tree"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/model/scorer"
)

// fewRounds is a Booster of stumps that counts its rounds and then stops.
type fewRounds struct {
	Booster

	rounds *int
}

func (f fewRounds) Next() (Round, bool) { *f.rounds++; return Round{Weight: 1}, true }

func (fewRounds) Weights() []float64 { return nil }

func (fewRounds) Keep() {}

func (fewRounds) Kept() (scorer.Scorer, []float64, error) {
	return scorer.Linear{Features: 8}, make([]float64, 8), nil
}

func (fewRounds) Queries() int { return 1 }

// Claim: the zero value of every learner learns what its documentation says, or says what
// it lacks.
func TestZeroLearners(t *testing.T) {
	fullTrees := Trees{
		Rounds: 300, Patience: 100, Rate: 0.05, Bins: 255, QueryFraction: 1, FeatureFraction: 1, DocumentFraction: 1, GOSSTop: 1, Bag: 1,
		Options: tree.Options{Leaves: 15, LeafDocuments: 20, LeafCurvature: 1e-3, CategorySmoothing: 10},
	}
	dart := fullTrees
	dart.Rounds, dart.Sum, dart.Dropout = 60, DARTTrees, Dropout{Rate: 0.1, Skip: 0.5, Most: 50}
	rounds := 0
	counting := func(*Task) (Booster, error) { return fewRounds{rounds: &rounds}, nil }
	for name, c := range map[string]struct {
		loss       loss.Loss
		zero, full Learner // full has the defaults written out
		want       string  // part of zero's error
	}{
		"lbfgs":   {loss.RankNet{}, LBFGS{}, LBFGS{Architecture: Linear, Iterations: 500, Tolerance: 1e-6}, ""},
		"descent": {loss.RankNet{}, Descent{}, Descent{Architecture: Linear, Rule: optimize.Adam, Rate: 0.01, Epochs: 100, Batch: 1, Decay: 0.95, Patience: 50, Bag: 1}, ""},
		"restarts": {
			loss.RankCosine{}, LBFGS{Architecture: Network(2, scorer.Tanh)},
			LBFGS{Architecture: Network(2, scorer.Tanh), Iterations: 500, Tolerance: 1e-6, Restarts: 5}, "",
		},
		"trees":   {loss.RankNet{}, Trees{}, fullTrees, ""},
		"dart":    {loss.RankNet{}, Trees{Rounds: 60, Sum: DARTTrees}, dart, ""},
		"newton":  {loss.RankSVM{Squared: true}, Newton{}, Newton{Tolerance: 1e-6, Iterations: 200}, ""},
		"planes":  {loss.RankSVM{}, Planes{}, Planes{Tolerance: 1e-6, Iterations: 10000}, ""},
		"n-slack": {loss.RankSVM{}, Planes{PerQuery: true}, Planes{PerQuery: true, Tolerance: 1e-6, Iterations: 10000}, ""},
		"smoothing": {
			loss.RankSVM{},
			Smoothing{Rounded: func(width float64) loss.Loss { return loss.RankSVM{Smoothing: width} }},
			Smoothing{Rounded: func(width float64) loss.Loss { return loss.RankSVM{Smoothing: width} }, Tolerance: 1e-6, Iterations: 1000},
			"",
		},
		"smoothing of nothing": {loss.RankSVM{}, Smoothing{}, nil, "found no stand-in"},
		"boosting":             {nil, Boosting{Start: counting}, Boosting{Start: counting, Rounds: 300}, ""},
		"boosting of nothing":  {nil, Boosting{}, nil, "found no booster"},
		"boosting backwards":   {nil, Boosting{Start: counting, Rounds: -1}, nil, "found -1 rounds"},
		"network":              {loss.RankNet{}, LBFGS{Architecture: Network(0, scorer.Tanh)}, nil, `scorer net: found "hidden" = 0`},
		"pair network":         {loss.RankNet{}, Descent{Architecture: PairNetwork(3, 0, scorer.Tanh)}, nil, `scorer pairnet: found "pair_hidden" = 0`},
		"classification":       {nil, Classification{}, nil, "found C = 0, expected a positive number"},
		"bag of linear ones":   {loss.RankNet{}, Descent{Bag: 2}, nil, "bag=2"},
	} {
		d := smallData(t)
		got, err := Run(context.Background(), &Problem{Data: d, Loss: c.loss, Learner: c.zero})
		if c.want != "" {
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: error is %v, want %s in it", name, err, c.want)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		want, err := Run(context.Background(), &Problem{Data: d, Loss: c.loss, Learner: c.full})
		if err != nil {
			t.Fatal(err)
		}
		if a, b := written(t, got), written(t, want); a != b {
			t.Errorf("%s: the zero value gives\n%s\nits defaults give\n%s", name, a, b)
		}
	}
	if rounds != 2*300 {
		t.Errorf("boosting went on for %d rounds, want 300 each", rounds)
	}
}

// written is a model's file.
func written(t *testing.T, m *model.Model) string {
	t.Helper()
	var b bytes.Buffer
	if err := m.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
