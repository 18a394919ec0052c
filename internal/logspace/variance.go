package logspace

// VarianceRow adds p(1−p) to grad[c], where r = a·e[c] are the odds of an event and p = r/(1+r) its
// probability. It returns the sums of 1−p, p and p(1−p). The odds must be finite.
func VarianceRow(a float64, e, grad []float64) (kept, inverted, variance float64) {
	grad = grad[:len(e)]
	for c, v := range e {
		r := float64(a * v)
		q := 1 / (1 + r)
		p := float64(r * q)
		kept += q
		inverted += p
		variance += float64(p * q)
		grad[c] += float64(p * q)
	}
	return kept, inverted, variance
}

// SteepVarianceRow is [VarianceRow] for log odds row + cols[c] of any size.
func SteepVarianceRow(row float64, cols, grad []float64) (kept, inverted, variance float64) {
	for c, v := range cols {
		p, q := Bernoulli(row + v)
		kept += q
		inverted += p
		variance += float64(p * q)
		grad[c] += float64(p * q)
	}
	return kept, inverted, variance
}
