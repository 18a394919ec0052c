package loss

// stepLaw is constant, the loss Δ of a swap, until the better document i leads by the
// margin m,
//
//	λ_ij = |Δ| 1[s_i − s_j < m].
type stepLaw struct{ margin float64 }

func (l stepLaw) prepare(_, _ []float64) []float64 { return nil }

func (l stepLaw) add(lambda, loss, scores, _ []float64, a, to int) {
	for b := a + 1; b < to; b++ {
		if lead(loss, scores, a, b) < l.margin {
			lambda[a] += loss[b]
			lambda[b] -= loss[b]
		}
	}
}
