package scorer

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/listwise/listwise/internal/parallel"
)

// Claim: a query that is divided among a team has the scores and gradients, bit for bit, that it has undivided, of
// any number of parts, also where the units do not divide evenly.
func TestDividedNetworkIsTheNetwork(t *testing.T) {
	for activation := range activationNames {
		for _, shape := range []struct{ docs, features, hidden, parts int }{{121, 137, 10, 2}, {121, 137, 11, 2}, {500, 45, 10, 3}, {400, 101, 13, 7}, {300, 200, 7, 7}} {
			t.Run(fmt.Sprint(Activation(activation), shape), func(t *testing.T) {
				n := Network{Features: shape.features, Hidden: shape.hidden, Activation: Activation(activation)}
				team := parallel.NewTeam(shape.parts)
				defer team.Close()
				if !n.divides(shape.docs, team) {
					t.Fatal("nothing is divided")
				}
				x, params, lambda := start(rand.New(rand.NewPCG(1, 2)), n, shape.docs)
				results := func(ws *Workspace) (scores, grad []float64) {
					scores, grad = make([]float64, shape.docs), make([]float64, len(params))
					for i := range grad {
						grad[i] = float64(i) // what is added to may be another query's
					}
					n.Score(scores, params, x, ws)
					n.Backward(grad, params, x, lambda, ws)
					return scores, grad
				}
				wantScores, wantGrad := results(&Workspace{})
				ws := &Workspace{Team: team}
				for range 3 {
					scores, grad := results(ws)
					if !slices.Equal(scores, wantScores) {
						t.Fatal("other scores")
					}
					if !slices.Equal(grad, wantGrad) {
						t.Fatal("another gradient")
					}
				}
			})
		}
	}
}

// Claim: dividing pays for no query that is short, nor for more parts than units.
func TestPartsOfNetworks(t *testing.T) {
	for _, c := range []struct{ docs, features, hidden, parts int }{{1, 136, 10, 1}, {20, 46, 10, 1}, {120, 136, 10, 9}, {10000, 136, 10, 10}, {10000, 136, 1, 1}} {
		if got := (Network{Features: c.features, Hidden: c.hidden}).Parts(c.docs); got != c.parts {
			t.Errorf("%d documents of %d features, %d units: %d parts, expected %d", c.docs, c.features, c.hidden, got, c.parts)
		}
	}
}
