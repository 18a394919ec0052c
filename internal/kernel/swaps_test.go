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
		want := SwapSums{rapid.Float64Range(-9, 9).Draw(t, "F"), rapid.Float64Range(0, 9).Draw(t, "curvature"), rapid.Float64Range(0, 9).Draw(t, "size")}
		got := want
		addSwapsGo(l, &want, wantLambda, wantSecond, losses, e)
		gotLambda, gotSecond := shifted(lambda, offsets.Draw(t, "lambda offset")), shifted(second, offsets.Draw(t, "second offset"))
		l.Add(&got, gotLambda, gotSecond, shifted(losses, offsets.Draw(t, "losses offset")), shifted(e, offsets.Draw(t, "e offset")))
		checkSame(t, gotLambda, wantLambda, "lambda")
		checkSame(t, gotSecond, wantSecond, "second")
		checkSame(t, []float64{got.F, got.Curvature, got.Size}, []float64{want.F, want.Curvature, want.Size}, "sums")
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
		var sums SwapSums
		SwapLaw{sigma, math.Exp(sigma * margin), math.Exp(sigma * top)}.Add(&sums, lambda, second, losses, e)
		const h = 1e-4
		var sum, sumSecond, sizes float64
		for i := range scores {
			want, slope := at(top, i), math.Abs(at(top+h, i)-at(top-h, i))/(2*h)
			checkClose(t, lambda[i], -want, 1e-12, fmt.Sprintf("lambda of %d", i))
			checkClose(t, second[i], slope, 1e-6, fmt.Sprintf("second derivative of %d", i))
			sum, sumSecond, sizes = sum+want, sumSecond+slope, sizes+math.Abs(want)
		}
		checkClose(t, sums.F, sum, 1e-12, "sum of f")
		checkClose(t, sums.Curvature, sumSecond, 1e-5, "sum of second derivatives")
		checkClose(t, sums.Size, sizes, 1e-12, "sum of sizes of f")
	})
}

// The vectors divide as the reference does, and write nothing else.
func TestGapsGiveTheReferencesBits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := lengths.Draw(t, "n")
		x, scores := numbers(t, n, "x"), numbers(t, n, "scores")
		top, least := rapid.Float64Range(-9, 9).Draw(t, "top"), rapid.Float64Range(0.001, 1).Draw(t, "least")
		got, want := shifted(x, offsets.Draw(t, "x offset")), append([]float64(nil), x...)
		for i, s := range scores {
			want[i] /= least + math.Abs(top-s)
		}
		DivideByGaps(got, shifted(scores, offsets.Draw(t, "scores offset")), top, least)
		checkSame(t, got, want, "quotients")
		checkFence(t, got)
	})
}

// A query of 123 documents, of which the upper ten are in pairs with all below.
func BenchmarkSwaps(b *testing.B) {
	const n, rows = 123, 10
	lambda, second, losses, e := random(n), random(n), random(n), random(n)
	Exp(e, e)
	for name, add := range map[string]func(l SwapLaw, sums *SwapSums, lambda, second, losses, e []float64){"vectors": addSwaps, "Go": addSwapsGo} {
		b.Run(name, func(b *testing.B) {
			perElement(b, rows*n-rows*(rows+1)/2, func() {
				clear(lambda)
				clear(second)
				var sums SwapSums
				for a := range rows {
					add(SwapLaw{1, 1, e[a]}, &sums, lambda[a+1:], second[a+1:], losses[a+1:], e[a+1:])
				}
			})
		})
	}
}
