package kernel

// MaxLogOdds is the largest log odds log r_b for which [LogisticRow], [SlopeRow] and [OddsRow] may
// be used. exp(69) is less than 2^100, their limit of r_b.
const MaxLogOdds = 69

// SteepLogisticRow computes the sums of [LogisticRow] from log odds, which may be of any size. The
// log odds of pair c, z_b − z_g, are row + cols[c]. SteepLogisticRow adds p_c to grad[c] and
// overwrites work. cols, grad and work have the same length.
func SteepLogisticRow(row float64, cols, grad, work []float64) (logSum, probSum float64) {
	for c, v := range cols {
		work[c] = row + v
	}
	Softplus(work, work)
	logSum = Sum(work)
	for c, v := range cols {
		work[c] = row + v
	}
	Logistic(work, work)
	Add(grad, work)
	return logSum, Sum(work)
}
