package tree

import "math"

// sums are the sums of gradients and second derivatives of some documents, as two integers in one word.
// The upper half has the gradients', with a sign, the lower half the second derivatives'. They are added
// as words. The scales ensure that the sums over all documents fit.
type sums uint64

func (s sums) gradient() int32   { return int32(s >> 32) }
func (s sums) curvature() uint32 { return uint32(s) }

// quanta are the values of a unit of the integers, and the largest second derivative in units.
type quanta struct {
	gradient, curvature float64
	most                uint32
}

// quantise sets packed[r] for each of the rows to the gradient lambda[r] and the second derivative
// second[r], rounded to integers, and returns their units. The unit of gradients is the sum of their
// absolute values divided by 2³¹ less the largest rounding, half a unit a document. With a million
// documents the mean gradient is 2,147 units.
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

// unit is sum/available, or 1 if that is too small to have an inverse.
func unit(sum, available float64) float64 {
	if u := sum / available; u > 1e-300 {
		return u
	}
	return 1
}
