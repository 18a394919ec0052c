package kernel

// MaxLogOdds is the largest log odds for which [LogisticRow], [SlopeRow] and [OddsRow] may be used:
// exp(69) < 2^100.
const MaxLogOdds = 69

// SteepLogisticRow is [LogisticRow] for log odds row + cols[c] of any size. cols, grad and work
// have the same length.
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
