package propensity

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/listwise/listwise/internal/elementary"
	"github.com/listwise/listwise/internal/parallel"
	"github.com/listwise/listwise/internal/random"
)

// Difference is the slot in which two estimates differ most.
type Difference struct {
	Slot string
	A, B float64 // propensities
	// Bias is the expectation of ln(B/A) if A is right: the bias of EM, 0 for other methods.
	Bias float64
	// Z is ln(B/A) − Bias in standard errors, which allow for the covariance of the estimates if both are by resamples.
	Z float64
}

const (
	// biasDraws is the number of logs that are drawn for the bias of EM.
	biasDraws = 20
	// leastDiffer is the least difference of logarithms that matters.
	leastDiffer = 0.1
	// sameErrors is the number of standard errors up to which estimates agree.
	sameErrors = 4
)

// Differs returns the slot in which two estimates of the log differ most, nil if they agree: within four standard errors
// or a tenth in all slots.
//
// EM is biased even if a position-based model is right, since it estimates an attraction of each pair from few clicks. The
// bias is the mean over logs whose clicks are drawn with the propensities of a, a parametric bootstrap.
func (l *Log) Differs(ctx context.Context, a, b *Estimate) (*Difference, error) {
	bias := make([]float64, len(b.Slots))
	if b.Method == EM {
		var err error
		if bias, err = l.biasOfEM(ctx, a, b); err != nil {
			return nil, err
		}
	}
	var worst *Difference
	for j, s := range b.Slots {
		i := slices.IndexFunc(a.Slots, func(t Slot) bool { return t.Slot == s.Slot })
		if i < 0 || s.SE == nil || a.Slots[i].SE == nil || !(s.Theta > 0 && a.Slots[i].Theta > 0) {
			continue
		}
		variance := varianceOfDifference(a, b, i, j)
		if b.Method == EM {
			variance *= 1 + 1.0/biasDraws
		}
		d := &Difference{Slot: s.Slot, A: a.Slots[i].Theta, B: s.Theta, Bias: bias[j]}
		gap := elementary.Log(d.B/d.A) - d.Bias
		if d.Z = gap / math.Sqrt(variance); math.Abs(gap) > leastDiffer && math.Abs(d.Z) > sameErrors && !math.IsInf(d.Z, 0) && (worst == nil || math.Abs(d.Z) > math.Abs(worst.Z)) {
			worst = d
		}
	}
	return worst, nil
}

// varianceOfDifference returns the variance of ln θ of slot i of a minus that of slot j of b. Resamples of one number have
// the same groups in both.
func varianceOfDifference(a, b *Estimate, i, j int) float64 {
	x, y := *a.Slots[i].SE/a.Slots[i].Theta, *b.Slots[j].SE/b.Slots[j].Theta
	if len(a.resamples) == 0 || len(a.resamples) != len(b.resamples) || a.Seed != b.Seed {
		return float64(x*x) + float64(y*y)
	}
	sum, n := 0.0, 0
	for k, v := range a.resamples {
		if w := b.resamples[k]; v != nil && w != nil {
			sum += float64((v[i] - w[j]) * (v[i] - w[j]))
			n++
		}
	}
	if n < 2 {
		return float64(x*x) + float64(y*y)
	}
	return sum * a.factor
}

// biasOfEM returns the mean of ln θ by EM over logs with the impressions of this one and clicks of a position-based model
// with the propensities of a, minus the logarithm of these. Slots that a does not know have the propensities of b.
func (l *Log) biasOfEM(ctx context.Context, a, b *Estimate) ([]float64, error) {
	var order []int
	theta := make([]float64, len(b.Slots))
	for j, s := range b.Slots {
		order = append(order, l.index.LookupSlot(s.Slot))
		theta[j] = s.Theta
		if i := slices.IndexFunc(a.Slots, func(t Slot) bool { return t.Slot == s.Slot }); i >= 0 {
			theta[j] = a.Slots[i].Theta
		}
	}
	e, _, err := l.em(order, &Options{Method: EM})
	if err != nil {
		return nil, err
	}
	sums := e.sums(nil)
	alpha := e.attractions(sums, theta)
	drawn := make([][]float64, biasDraws)
	parallel.For(biasDraws, 0, func(_, n int) {
		if ctx.Err() != nil {
			return
		}
		rng := random.Stream(b.Seed, "propensity bias", strconv.Itoa(n))
		s := e.begin(nil)
		for block, x := range alpha {
			for i := e.blocks[block]; i < e.blocks[block+1]; i++ {
				s.sums[i].clicked = binomial(rng, s.sums[i].shown, min(1, x*theta[e.slots[i]]))
			}
		}
		if logs, err := s.run(); err == nil {
			drawn[n] = logs
		}
	})
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	bias := make([]float64, len(order))
	for j := range bias {
		sum, n := 0.0, 0
		for _, logs := range drawn {
			if logs != nil && !math.IsInf(logs[j], 0) {
				sum += logs[j] - elementary.Log(theta[j])
				n++
			}
		}
		bias[j] = sum / float64(max(1, n))
	}
	return bias, nil
}

// attractions returns the attraction of each pair: clicks over examinations, shrunk to the mean of all pairs.
func (e *em) attractions(sums []count, theta []float64) []float64 {
	const shrink = 3 // examinations
	alpha, examined := make([]float64, len(e.blocks)-1), make([]float64, len(e.blocks)-1)
	clicks, all := 0.0, 0.0
	for b := range alpha {
		for i := e.blocks[b]; i < e.blocks[b+1]; i++ {
			alpha[b] += sums[i].clicked
			examined[b] += float64(sums[i].shown * theta[e.slots[i]])
		}
		clicks, all = clicks+alpha[b], all+examined[b]
	}
	for b := range alpha {
		alpha[b] = min(1, (alpha[b]+float64(shrink*clicks/all))/(examined[b]+shrink))
	}
	return alpha
}

// binomial draws a number of clicks. The weight of pages need not be whole. Of many it is a rounded normal draw.
func binomial(rng *rand.Rand, shown, p float64) (clicks float64) {
	const exact = 200
	if v := shown * p * (1 - p); shown > exact && v > 20 {
		return min(shown, max(0, math.Round(float64(shown*p)+float64(math.Sqrt(v)*random.Normal(rng)))))
	}
	for left := shown; left > 0; left-- {
		if rng.Float64() < p {
			clicks += min(1, left)
		}
	}
	return clicks
}
