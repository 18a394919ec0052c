package stats

import "github.com/listwise/listwise/internal/elementary"

// Sign performs the two-sided sign test, which ignores ties. p is the probability of counts at
// least as unequal as wins and losses, if a win and a loss are equally likely. share is the
// confidence interval of Clopper and Pearson (1934, Biometrika 26) for the probability of a win. If
// both counts are 0, p is 1 and share is [0, 1]. Sign panics if a count is negative.
func Sign(wins, losses int) (p float64, share Interval) {
	if wins < 0 || losses < 0 {
		panic("stats: negative counts")
	}
	k, l := float64(wins), float64(losses)
	share = Interval{0, 1}
	if wins > 0 {
		share.Low = elementary.BetaInverse(k, l+1, Alpha/2)
	}
	if losses > 0 {
		share.High = elementary.BetaInverse(k+1, l, 1-Alpha/2)
	}
	if wins == losses {
		return 1, share
	}
	few := min(k, l)
	return min(1, 2*elementary.Beta(k+l-few, few+1, 0.5)), share // P(X ≤ k) = I_½(n − k, k + 1)
}
