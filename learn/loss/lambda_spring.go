package loss

import "math"

// springLaw falls linearly, in proportion to the loss Δ of a swap, until the better
// document i leads by the margin m, like the force of a spring,
//
//	λ_ij = |Δ| max(0, m − (s_i − s_j)).
type springLaw struct{ margin float64 }

func (l springLaw) prepare(_, _ []float64) []float64 { return nil }

func (l springLaw) add(lambda, loss, scores, _ []float64, a, to int) {
	for b := a + 1; b < to; b++ {
		if lacking := l.margin - lead(loss, scores, a, b); lacking > 0 {
			f := float64(loss[b] * lacking)
			lambda[a] += f
			lambda[b] -= f
		}
	}
}

// addBoth implements secondLaw: |Δ| where λ_ij is not 0.
func (l springLaw) addBoth(lambda, second, loss, scores, prepared []float64, a, to int) {
	l.add(lambda, loss, scores, prepared, a, to)
	for b := a + 1; b < to; b++ {
		if lead(loss, scores, a, b) < l.margin {
			d := math.Abs(loss[b])
			second[a] += d
			second[b] += d
		}
	}
}
