package loss

import "math"

// springLaw is the force of a spring whose strength is the loss Δ of a swap and
// which is at rest once the better document i leads by the margin m,
//
//	λ_ij = |Δ| max(0, m − (s_i − s_j)).
type springLaw struct{ margin float64 }

func (l springLaw) prepare(_, _ []float64) []float64 { return nil }

func (l springLaw) pull(forces, loss, scores, _ []float64, a, to int) {
	for b := a + 1; b < to; b++ {
		if pulled := l.margin - lead(loss, scores, a, b); pulled > 0 {
			f := loss[b] * pulled
			forces[a] += f
			forces[b] -= f
		}
	}
}

// bend implements bendingLaw: |Δ| where the spring pulls.
func (l springLaw) bend(second, loss, scores, _ []float64, a, to int) {
	for b := a + 1; b < to; b++ {
		if lead(loss, scores, a, b) < l.margin {
			d := math.Abs(loss[b])
			second[a] += d
			second[b] += d
		}
	}
}
