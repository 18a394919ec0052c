package train

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/learn/loss"
	"github.com/listwise/listwise/learn/tree"
	"github.com/listwise/listwise/model/scorer"
)

// margin is the value of a smooth loss over pairs, ½ Σ log(1 + exp(−2(s_i − s_j))), which is RankNet's of slope 2
// halved.
func margin(grades []float64) func(scores []float64) float64 {
	return func(scores []float64) (value float64) {
		for i, better := range grades {
			for j, worse := range grades {
				if better > worse {
					value += math.Log1p(math.Exp(-2*(scores[i]-scores[j]))) / 2
				}
			}
		}
		return value
	}
}

// wrapped is a caller's own loss with a setting, given by its value.
type wrapped struct{ Factor float64 }

func (wrapped) Traits() loss.Traits {
	return loss.Traits{Convex: true, ShiftInvariant: true, Smooth: true}
}

func (w wrapped) Bind(grades []float64, rng *rand.Rand) (loss.QueryLoss, error) {
	return loss.Numeric{Name: "wrapped", Properties: w.Traits(), Value: func(grades []float64) func([]float64) float64 {
		value := margin(grades)
		return func(scores []float64) float64 { return w.Factor * value(scores) }
	}}.Bind(grades, rng)
}

// halfRankNet is the loss of margin with its derived λ.
type halfRankNet struct{ loss.RankNet }

func (h halfRankNet) Bind(grades []float64, rng *rand.Rand) (loss.QueryLoss, error) {
	b, err := h.RankNet.Bind(grades, rng)
	return halved{b}, err
}

type halved struct{ loss.QueryLoss }

func (h halved) Eval(scores, lambda []float64, s *loss.Scratch) float64 {
	value := h.QueryLoss.Eval(scores, lambda, s)
	for i := range lambda {
		lambda[i] /= 2
	}
	return value / 2
}

// Claim: a loss that is given by its value trains every scorer, as the same loss with derived λ does, and the model
// says that its λ are numerical.
func TestNumericTrains(t *testing.T) {
	d := smallData(t)
	convex := wrapped{}.Traits()
	few := tree.Options{Leaves: 4, LeafDocuments: 2}
	for name, learner := range map[string]Learner{
		"linear":  LBFGS{C: 1},
		"descent": Descent{C: 1, Epochs: 5},
		"net":     Descent{Architecture: Network(3, scorer.Tanh), C: 10, Epochs: 5},
		"trees":   Trees{Rounds: 5, Steps: GradientSteps, Options: few},
	} {
		derived, err := Run(context.Background(), &Problem{Data: d, Loss: halfRankNet{loss.RankNet{Sigma: 2}}, Learner: learner})
		if err != nil {
			t.Fatal(err)
		}
		if derived.Training.Lambda != "" {
			t.Errorf("%s: derived λ are %s", name, derived.Training.Lambda)
		}
		for _, l := range []loss.Loss{loss.Numeric{Value: margin, Properties: convex}, loss.Numeric{Value: margin}, wrapped{1}} {
			m, err := Run(context.Background(), &Problem{Data: d, Loss: l, Learner: learner})
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			if m.Training.Lambda != "numerical" {
				t.Errorf("%s, %T: λ are %q", name, l, m.Training.Lambda)
			}
			if got, want := m.Training.Objective, derived.Training.Objective; math.Abs(got-want) > 1e-5*want {
				t.Errorf("%s, %T: the objective is %v, want %v", name, l, got, want)
			}
		}
	}
	newton, err := Run(context.Background(), &Problem{Data: d, Loss: wrapped{1}, Learner: Trees{Rounds: 5, Steps: NewtonSteps, Options: few}})
	if err != nil || newton.Training.Lambda != "numerical" {
		t.Errorf("Newton steps: %+v, %v", newton, err)
	}
	longest := 0
	for _, q := range d.Queries {
		longest = max(longest, q.Len())
	}
	_, err = Run(context.Background(), &Problem{Data: d, Loss: loss.Numeric{Name: "mine", Value: margin, MaxDocuments: longest - 1}, Learner: LBFGS{}})
	long := slices.IndexFunc(d.Queries, func(q dataset.Query) bool { return q.Len() == longest })
	if err == nil || !strings.Contains(err.Error(), d.Queries[long].ID) || !strings.Contains(err.Error(), "raise MaxDocuments") {
		t.Errorf("error is %v", err)
	}
}
