package losstest

import (
	"math/rand/v2"
	"testing"

	"github.com/listwise/listwise/learn/loss"
)

// misordered is the sum of max(0, s_j − s_i)² over the pairs of a better document i and a worse
// one j. Its λ has a kink where two scores are equal, so that second derivatives are those of
// one side there.
type misordered struct{}

func (misordered) Bind(grades []float64, _ *rand.Rand) (loss.QueryLoss, error) {
	for _, g := range grades {
		if g != grades[0] {
			return boundMisordered{grades}, nil
		}
	}
	return loss.Nothing, nil
}

func (misordered) Traits() loss.Traits {
	return loss.Traits{Convex: true, ShiftInvariant: true, Smooth: true}
}

type boundMisordered struct{ grades []float64 }

func (b boundMisordered) Eval(scores, lambda []float64, _ *loss.Scratch) float64 {
	return b.eval(scores, lambda, nil)
}

func (b boundMisordered) EvalSecond(scores, lambda, second []float64, _ *loss.Scratch) float64 {
	return b.eval(scores, lambda, second)
}

func (b boundMisordered) eval(scores, lambda, second []float64) (value float64) {
	clear(lambda)
	clear(second)
	for i, better := range b.grades {
		for j, worse := range b.grades {
			d := scores[j] - scores[i]
			if better <= worse || d <= 0 {
				continue
			}
			value += d * d
			if lambda != nil {
				lambda[i] += 2 * d
				lambda[j] -= 2 * d
			}
			if second != nil {
				second[i] += 2
				second[j] += 2
			}
		}
	}
	return value
}

// Claim: second derivatives that are right pass where λ has a kink at ties, as Kinks says, and
// ties are tested where it has none.
func TestKinksAtTies(t *testing.T) {
	Run(t, Case{Name: "misordered", Loss: misordered{}, Diagonal: true, Kinks: []float64{0}})
	for _, c := range []struct {
		kinks  []float64
		points int
	}{{nil, 3}, {[]float64{0}, 0}, {[]float64{1}, 3}, {[]float64{0.5}, 3}} {
		s := &suite{Case: Case{Kinks: c.kinks}, query: query{grades: make([]float64, 6)}}
		points := s.ties(newRand())
		if len(points) != c.points {
			t.Errorf("kinks at %v: %d points with ties, want %d", c.kinks, len(points), c.points)
		}
		for _, x := range points {
			if s.kinked(x) {
				t.Errorf("kinks at %v: %v is at one", c.kinks, x)
			}
		}
	}
}
