package propensity

import (
	"fmt"

	"github.com/listwise/listwise/internal/elementary"
)

// trust fits that users trust high slots: a click has the probability α_k γ + β_k, with the relevance γ of the pair
// (Vardasbi, Oosterhuis and de Rijke, CIKM 2020). Only relevance that is known besides the clicks tells α from β.
type trust struct {
	*table

	k     int
	gamma []float64 // of the blocks
}

// fit returns the logarithms of α_k/α_1, then α and β.
func (t *trust) fit(weights []float64) ([]float64, error) {
	type moments struct{ n, x, y, xx, xy float64 }
	m := make([]moments, t.k)
	sums := t.sums(weights)
	for b, g := range t.gamma {
		for i := t.blocks[b]; i < t.blocks[b+1]; i++ {
			s, n, c := &m[t.slots[i]], sums[i].shown, sums[i].clicked
			s.n += n
			s.x += float64(n * g)
			s.y += c
			s.xx += float64(float64(n*g) * g)
			s.xy += float64(c * g)
		}
	}
	logs, alpha, beta := make([]float64, t.k), make([]float64, t.k), make([]float64, t.k)
	for k, s := range m {
		spread := s.xx - float64(s.x*s.x)/s.n
		if !(spread > 1e-9*s.xx) {
			return nil, fmt.Errorf("%w in place %d", errOneGrade, k+1)
		}
		alpha[k] = (s.xy - float64(s.x*s.y)/s.n) / spread
		beta[k] = (s.y - float64(alpha[k]*s.x)) / s.n
		if !(alpha[k] > 0) {
			return nil, fmt.Errorf("%w in place %d", errNotRising, k+1)
		}
		logs[k] = elementary.Log(alpha[k] / alpha[0])
	}
	return append(append(logs, alpha...), beta...), nil
}
