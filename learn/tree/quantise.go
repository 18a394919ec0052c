package tree

import "math"

// sums has two sums over documents in one word. The upper 32 bits are the sum of the gradients, signed. The lower 32
// bits are the sum of the second derivatives, unsigned. One addition of words adds both. The units of the integers
// are chosen so that the sums over all documents do not overflow.
type sums uint64

func (s sums) gradient() int32   { return int32(s >> 32) }
func (s sums) curvature() uint32 { return uint32(s) }

// quanta has the units of the integer gradients and second derivatives. most is the largest second derivative of a
// document, as an integer.
type quanta struct {
	gradient, curvature float64
	most                uint32
}

// quantise sets packed[r] to the gradient lambda[r] and the second derivative second[r], rounded to integers, for each
// r in rows. It returns the units. The unit of gradients is Σ|λ|/(2³¹ − 1 − n) for n documents. The term n leaves space
// for rounding errors, which are at most half a unit for each document. With a million documents, the mean absolute
// gradient is 2,147 units.
func quantise(packed []sums, rows []uint32, lambda, second []float64) quanta {
	var g, h float64
	for _, r := range rows {
		g += math.Abs(lambda[r])
		h += second[r]
	}
	n := float64(len(rows))
	q := quanta{gradient: unit(g, (1<<31)-1-n), curvature: unit(h, (1<<32)-1-n)}
	perG, perH := 1/q.gradient, 1/q.curvature
	for _, r := range rows {
		v := sums(uint64(int64(math.RoundToEven(lambda[r]*perG)))<<32 + uint64(math.RoundToEven(second[r]*perH)))
		packed[r], q.most = v, max(q.most, v.curvature())
	}
	return q
}

// unit returns sum/available, or 1 if the quotient is so small that its inverse could overflow.
func unit(sum, available float64) float64 {
	if u := sum / available; u > 1e-300 {
		return u
	}
	return 1
}
