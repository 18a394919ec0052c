package kernel

import "math"

// lanes are the accumulators of sums of float64. Sixteen elements at a time go to the sixteen lanes. Of
// the rest, eight go to the first eight lanes, four to the next four, and the remaining ones, padded with
// zeros, to the last four. This takes four registers of AVX2 or two of AVX-512.
type lanes [16]float64

// sum adds the lanes up: registers by halves, then lanes by halves.
func (s *lanes) sum() float64 {
	var a [4]float64
	for l := range a {
		a[l] = (s[l] + s[4+l]) + (s[8+l] + s[12+l])
	}
	return (a[0] + a[2]) + (a[1] + a[3])
}

// add adds the elements of x, of which there may be a rest only in the last call.
func (s *lanes) add(x []float64) {
	for len(x) >= 16 {
		addTo(s[:], x[:16])
		x = x[16:]
	}
	if len(x) >= 8 {
		addTo(s[:8], x[:8])
		x = x[8:]
	}
	if len(x) >= 4 {
		addTo(s[8:12], x[:4])
		x = x[4:]
	}
	if len(x) > 0 {
		addTo(s[12:12+len(x)], x)
		s.fill(len(x))
	}
}

func addTo(s, x []float64) {
	x = x[:len(s)]
	for l := range s {
		s[l] += x[l]
	}
}

// multiplyAdd adds the products x[i]·y[i], each with one rounding.
func (s *lanes) multiplyAdd(x, y []float64) {
	for len(x) >= 16 {
		fmaTo(s[:], x[:16], y[:16])
		x, y = x[16:], y[16:]
	}
	if len(x) >= 8 {
		fmaTo(s[:8], x[:8], y[:8])
		x, y = x[8:], y[8:]
	}
	if len(x) >= 4 {
		fmaTo(s[8:12], x[:4], y[:4])
		x, y = x[4:], y[4:]
	}
	if len(x) > 0 {
		fmaTo(s[12:12+len(x)], x, y)
		s.fill(len(x))
	}
}

func fmaTo[T float32 | float64](s []float64, x []T, y []float64) {
	x, y = x[:len(s)], y[:len(s)]
	for l := range s {
		s[l] = math.FMA(float64(x[l]), y[l], s[l])
	}
}

// fill adds the zeros after a rest of r elements: they turn a lane's −0 into 0.
func (s *lanes) fill(r int) {
	for l := 12 + r; l < 16; l++ {
		s[l] += 0
	}
}
