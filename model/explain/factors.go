package explain

import (
	"github.com/listwise/listwise/internal/parallel"
	"github.com/listwise/listwise/model/scorer"
)

// factors computes the integrated gradients of a factorization machine from the background's mean document x′. The
// score is quadratic. So the mean gradient on the line from x′ to x is the gradient in the middle m of the line, and
//
//	φ_j = (x_j − x′_j)·(w_j + 1/k (Σ_t v_tj v_t·m − u_j m_j)),   u_j = Σ_t v_tj²
type factors struct {
	machine scorer.FM
	params  []float64
	squares []float64 // u
	from    []float64 // x′
	score   float64   // of x′
}

func newFactors(m scorer.FM, params []float64, b *source) attributor {
	p := m.Features
	f := &factors{machine: m, params: params, squares: make([]float64, p), from: b.means()}
	for i, v := range params[p:] {
		f.squares[i%p] += float64(v * v)
	}
	// The gradient in the middle between 0 and x′ integrates to the score of x′, since the score of 0 is 0.
	parts := make([]float64, p)
	f.integrate(parts, make([]float64, p), f.from)
	f.score = sum(parts)
	return f
}

func (f *factors) about() string {
	return "integrated gradients from the background's mean document, in closed form"
}

func (f *factors) base() float64 { return f.score }

func (f *factors) add(dst []float64, x []float32) {
	p := f.machine.Features
	parallel.For(len(x)/p, 0, func(_, i int) {
		to := make([]float64, p)
		for j := range to {
			to[j] = float64(x[i*p+j])
		}
		f.integrate(dst[i*p:(i+1)*p], f.from, to)
	})
}

// integrate adds to dst the contributions of the features to the difference between the scores of to and from.
func (f *factors) integrate(dst, from, to []float64) {
	p, share := f.machine.Features, 1/float64(f.machine.Factors)
	middle, slopes := make([]float64, p), make([]float64, p)
	for j := range middle {
		middle[j] = float64(from[j]/2) + float64(to[j]/2)
		slopes[j] = f.params[j] - float64(share*float64(f.squares[j]*middle[j]))
	}
	for t := 1; t <= f.machine.Factors; t++ {
		v, product := f.params[t*p:(t+1)*p], 0.0
		for j, m := range middle {
			product += float64(v[j] * m)
		}
		for j := range slopes {
			slopes[j] += float64(float64(share*product) * v[j])
		}
	}
	for j, s := range slopes {
		dst[j] += float64(s * (to[j] - from[j]))
	}
}
