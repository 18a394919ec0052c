package kernel

import "math"

// lanes are the sixteen partial sums of a sum of float64. They fit four registers of AVX2 or two of
// AVX-512. Sixteen elements at a time are added to the sixteen lanes. If eight or more elements
// remain, eight are added to lanes 0 to 7. If four or more remain then, four are added to lanes 8
// to 11. The last one to three elements are padded with zeros to four and added to lanes 12 to 15.
type lanes [16]float64

// sum returns the sum of the lanes. It adds in the order of the assembly: first the four registers
// of AVX2 in pairs, then the four lanes of the resulting register.
func (s *lanes) sum() float64 {
	var a [4]float64
	for l := range a {
		a[l] = (s[l] + s[4+l]) + (s[8+l] + s[12+l])
	}
	return (a[0] + a[2]) + (a[1] + a[3])
}

// add adds the elements of x to the lanes. len(x) must be a multiple of 16 in all calls except the
// last.
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

// multiplyAdd adds the products x[i]·y[i] to the lanes by fused multiply-add, which rounds once.
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

// fill adds 0 to each lane from 12+r on, where r is the number of elements in the last, padded
// vector. The assembly adds all four elements of this vector, and adding 0 turns a lane of −0 into
// 0. So fill is needed for the same bits.
func (s *lanes) fill(r int) {
	for l := 12 + r; l < 16; l++ {
		s[l] += 0
	}
}
