package kernel

import (
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"
)

// The vectors give the bits of the reference, for losses of any sign, 0 with either sign among
// them, and write nothing else.
func TestSwapsGiveTheReferencesBits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := lengths.Draw(t, "n")
		lambda, second, losses, e := numbers(t, n, "lambda"), numbers(t, n, "second"), numbers(t, n, "losses"), numbers(t, n, "e")
		for i, v := range losses {
			if i%3 == 0 {
				losses[i] = math.Copysign(0, v)
			}
		}
		l := SwapLaw{rapid.Float64Range(0.1, 10).Draw(t, "sigma"), rapid.Float64Range(0.1, 10).Draw(t, "ease"), math.Exp(rapid.Float64Range(-40, 40).Draw(t, "upper"))}
		wantLambda, wantSecond := append([]float64(nil), lambda...), append([]float64(nil), second...)
		wantF, wantCurvature := addSwapsGo(l, wantLambda, wantSecond, losses, e)
		gotLambda, gotSecond := shifted(lambda, offsets.Draw(t, "lambda offset")), shifted(second, offsets.Draw(t, "second offset"))
		f, curvature := l.Add(gotLambda, gotSecond, shifted(losses, offsets.Draw(t, "losses offset")), shifted(e, offsets.Draw(t, "e offset")))
		checkSame(t, gotLambda, wantLambda, "lambda")
		checkSame(t, gotSecond, wantSecond, "second")
		checkSame(t, []float64{f, curvature}, []float64{wantF, wantCurvature}, "sums")
		checkFence(t, gotLambda)
		checkFence(t, gotSecond)
	})
}

// f is what the logistic function of the difference of the scores says, and the other number its
// derivative by a score in absolute value, here by central differences.
func TestSwapsFollowTheirDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 9).Draw(t, "n")
		scores, losses := make([]float64, n), make([]float64, n)
		for i := range scores {
			scores[i], losses[i] = rapid.Float64Range(-3, 3).Draw(t, "score"), rapid.Float64Range(-1, 1).Draw(t, "loss")
		}
		sigma, margin, top := rapid.Float64Range(0.2, 3).Draw(t, "sigma"), rapid.Float64Range(-1, 1).Draw(t, "margin"), rapid.Float64Range(-3, 3).Draw(t, "top")
		at := func(top float64, i int) float64 {
			lead := math.Copysign(1, losses[i]) * (top - scores[i]) // of the better
			return losses[i] * sigma / (1 + math.Exp(sigma*(lead-margin)))
		}
		e := make([]float64, n)
		for i, s := range scores {
			e[i] = math.Exp(sigma * s)
		}
		lambda, second := make([]float64, n), make([]float64, n)
		f, curvature := SwapLaw{sigma, math.Exp(sigma * margin), math.Exp(sigma * top)}.Add(lambda, second, losses, e)
		const h = 1e-4
		var sum, sumSecond float64
		for i := range scores {
			want, slope := at(top, i), math.Abs(at(top+h, i)-at(top-h, i))/(2*h)
			checkClose(t, lambda[i], -want, 1e-12, fmt.Sprintf("lambda of %d", i))
			checkClose(t, second[i], slope, 1e-6, fmt.Sprintf("second derivative of %d", i))
			sum, sumSecond = sum+want, sumSecond+slope
		}
		checkClose(t, f, sum, 1e-12, "sum of f")
		checkClose(t, curvature, sumSecond, 1e-5, "sum of second derivatives")
	})
}

// A query of 123 documents, of which the upper ten are in pairs with all below.
func BenchmarkSwaps(b *testing.B) {
	const n, rows = 123, 10
	lambda, second, losses, e := random(n), random(n), random(n), random(n)
	Exp(e, e)
	for name, add := range map[string]func(l SwapLaw, lambda, second, losses, e []float64) (f, curvature float64){"vectors": addSwaps, "Go": addSwapsGo} {
		b.Run(name, func(b *testing.B) {
			perElement(b, rows*n-rows*(rows+1)/2, func() {
				clear(lambda)
				clear(second)
				for a := range rows {
					sink, _ = add(SwapLaw{1, 1, e[a]}, lambda[a+1:], second[a+1:], losses[a+1:], e[a+1:])
				}
			})
		})
	}
}
