package stats

import (
	"math"

	"github.com/listwise/listwise/internal/elementary"
)

// The functions in this file are for experiments whose results are looked at while they run. Their
// errors are bounded by [Alpha] over all looks together, however many there are and whenever the
// experiment stops.

// LogE returns the natural logarithm of the e-value against the hypothesis that a win and a loss are
// equally likely:
//
//	E = B(½ + w, ½ + l) / B(½, ½) · 2^(w+l)
//
// E is the mean likelihood ratio of shares of wins drawn from Jeffreys' prior. Under the hypothesis,
// the probability that E ever reaches 1/α is at most α (Ville 1939). So an experiment may stop and
// reject as soon as E ≥ 1/[Alpha]. LogE panics if a count is negative.
func LogE(wins, losses int) float64 {
	return logMixture(wins, losses) + float64(float64(wins+losses)*math.Ln2)
}

// logMixture returns log B(½ + w, ½ + l) − log B(½, ½), the log-likelihood of a sequence of wins and
// losses under Jeffreys' prior.
func logMixture(wins, losses int) float64 {
	if wins < 0 || losses < 0 {
		panic("stats: negative counts")
	}
	w, l := float64(wins), float64(losses)
	const logPi = 1.14472988584940017414342735135305871 // log B(½, ½)
	return elementary.LogGamma(0.5+w) + elementary.LogGamma(0.5+l) - elementary.LogGamma(1+w+l) - logPi
}

// ShareSequence returns the confidence sequence of the probability p of a win after the given counts.
// It contains all p that the e-value against p does not reject:
//
//	B(½ + w, ½ + l) / (B(½, ½) p^w (1−p)^l) < 1/α
//
// The true p is in all intervals of an experiment together with a probability of at least [Level].
func ShareSequence(wins, losses int) Interval {
	mixture := logMixture(wins, losses)
	rejected := func(p float64) bool {
		v := mixture
		if wins > 0 {
			v -= float64(float64(wins) * elementary.Log(p))
		}
		if losses > 0 {
			v -= float64(float64(losses) * elementary.Log1p(-p))
		}
		return v >= -elementary.Log(Alpha)
	}
	s := Interval{0, 1}
	if wins+losses == 0 {
		return s
	}
	share := float64(wins) / float64(wins+losses)
	if wins > 0 {
		s.Low = boundary(0, share, rejected)
	}
	if losses > 0 {
		s.High = 1 - boundary(0, 1-share, func(q float64) bool { return rejected(1 - q) })
	}
	return s
}

// boundary returns the least x between low and high that is not rejected. If x is rejected, so is every
// smaller one. It bisects as [elementary.BetaInverse] does.
func boundary(low, high float64, rejected func(x float64) bool) float64 {
	a, b := math.Float64bits(low), math.Float64bits(high)
	for b-a > 1 {
		middle := a + (b-a)/2
		if rejected(math.Float64frombits(middle)) {
			a = middle
		} else {
			b = middle
		}
	}
	return math.Float64frombits(b)
}

// SequenceFrom is the number of values of each sample from which [MeanSequence] keeps its level. Its
// guarantee is for large samples, since it estimates the variance.
const SequenceFrom = 200

// MeanSequence returns the half-width of a confidence sequence of a mean at sample size n, in standard
// deviations. The sequence is asymptotic. Its source is Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas,
// Annals of Statistics 52(6), 2024.
//
//	√(2(nρ²+1)/(n²ρ²) · log(√(nρ²+1)/α))    ρ² = (−2 log α + log(−2 log α + 1)) / planned
//
// planned is the sample size near which the sequence is tightest, usually the size at which the experiment ends.
func MeanSequence(n, planned float64) float64 {
	l := float64(-2 * elementary.Log(Alpha))
	rho := (l + elementary.Log(l+1)) / planned // ρ²
	m := 1 + float64(n*rho)
	logs := float64(elementary.Log(m)/2) - elementary.Log(Alpha)
	return math.Sqrt(2 * m / (float64(n*n) * rho) * logs)
}
