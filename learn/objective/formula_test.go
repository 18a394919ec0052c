package objective

import (
	"math"
	"testing"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/learn/loss"
	"github.com/listwise/listwise/learn/loss/logrank"
)

// naive is the loss of one query and its derivatives by score, from the formula,
// in plain loops.
type naive func(s, grades []float64) (value float64, slope []float64)

// pairwise is the factored MLE: Σ over good g and bad b of log(1 + exp(−2(s_g − s_b))).
func pairwise(s, grades []float64) (float64, []float64) {
	value, slope := 0.0, make([]float64, len(s))
	for g := range s {
		for b := range s {
			if grades[g] >= 1 && grades[b] < 1 {
				z := 2 * (s[g] - s[b])
				value += math.Log1p(math.Exp(-z))
				p := 1 / (1 + math.Exp(z))
				slope[g] -= 2 * p
				slope[b] += 2 * p
			}
		}
	}
	return value, slope
}

// expectedAUCLoss is the factored L2 under AUC: the mean of σ(−2(s_g − s_b)).
func expectedAUCLoss(s, grades []float64) (float64, []float64) {
	value, slope, pairs := 0.0, make([]float64, len(s)), 0.0
	for g := range s {
		for b := range s {
			if grades[g] >= 1 && grades[b] < 1 {
				p := 1 / (1 + math.Exp(2*(s[g]-s[b])))
				value += p
				slope[g] -= 2 * p * (1 - p)
				slope[b] += 2 * p * (1 - p)
				pairs++
			}
		}
	}
	if pairs > 0 {
		value /= pairs
		for i := range slope {
			slope[i] /= pairs
		}
	}
	return value, slope
}

// convexAUC is the factored ConvexLoss under AUC: Σ over pairs of
// log(σ(z) + e^(1/N) σ(−z)) more than MLE's −log σ(z), that is
// log(1 + e^(1/N − z)), z = 2(s_g − s_b), N pairs.
func convexAUC(s, grades []float64) (float64, []float64) {
	good := 0
	for _, l := range grades {
		if l >= 1 {
			good++
		}
	}
	step := 1 / float64(good*(len(s)-good))
	value, slope := 0.0, make([]float64, len(s))
	for g := range s {
		for b := range s {
			if grades[g] >= 1 && grades[b] < 1 {
				z := 2*(s[g]-s[b]) - step
				value += math.Log1p(math.Exp(-z))
				p := 1 / (1 + math.Exp(z))
				slope[g] -= 2 * p
				slope[b] += 2 * p
			}
		}
	}
	return value, slope
}

// naiveRisk is Σ_q loss_q + ‖w‖²/C in plain float64 loops.
func naiveRisk(d *dataset.Dataset, l naive, c float64, w []float64) (float64, []float64) {
	var value float64
	grad := make([]float64, len(w))
	for i := range d.Queries {
		q := &d.Queries[i]
		s := make([]float64, q.Len())
		for k := range s {
			for j, x := range q.Row(k) {
				s[k] += w[j] * float64(x)
			}
		}
		v, slope := l(s, q.Grades)
		value += v
		for k := range s {
			for j, x := range q.Row(k) {
				grad[j] += slope[k] * float64(x)
			}
		}
	}
	if c > 0 {
		for j := range w {
			value += w[j] * w[j] / c
			grad[j] += 2 * w[j] / c
		}
	}
	return value, grad
}

// The value and the gradient are those of the formula, summed in plain loops.
func TestAgainstPlainLoops(t *testing.T) {
	d := randomData(t, 83, 7)
	auc := additive(t, "auc")
	for _, l := range []struct {
		name  string
		loss  loss.Loss
		naive naive
	}{
		{"mle", logrank.MLE{}, pairwise},
		{"l2 auc", logrank.L2{Options: logrank.Options{Gain: auc}}, expectedAUCLoss},
		{"convexloss auc", logrank.ConvexLoss{Options: logrank.Options{Gain: auc}}, convexAUC},
	} {
		for _, c := range []float64{0, 0.01, 1, 1e4, math.Inf(1)} {
			for _, scale := range []float64{0, 0.1, 3} {
				w := randomPoint(7, scale)
				grad := make([]float64, 7)
				value := newRisk(t, d, l.loss, Options{C: c}).Eval(w, grad)
				wantValue, wantGrad := naiveRisk(d, l.naive, c, w)
				if math.Abs(value-wantValue) > 1e-11*math.Max(1, math.Abs(wantValue)) {
					t.Errorf("%s, C=%v, scale %v: value is %v, want %v", l.name, c, scale, value, wantValue)
				}
				for j := range grad {
					if math.Abs(grad[j]-wantGrad[j]) > 1e-11*math.Max(1, norm(wantGrad)) {
						t.Errorf("%s, C=%v, scale %v: gradient %d is %v, want %v", l.name, c, scale, j, grad[j], wantGrad[j])
					}
				}
			}
		}
	}
}

func norm(v []float64) float64 {
	var sum float64
	for _, x := range v {
		sum += x * x
	}
	return math.Sqrt(sum)
}
