package loss

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// plackettLuce is the probability of drawing the documents in an order one by one,
// each with probability ∝ exp(τ·grade) among those left.
func plackettLuce(order []int, grades []float64, tau float64) float64 {
	p := 1.0
	for i, d := range order {
		var left float64
		for _, e := range order[i:] {
			left += math.Exp(tau * grades[e])
		}
		p *= math.Exp(tau*grades[d]) / left
	}
	return p
}

// Draws follow the Plackett-Luce law of weights exp(τ·grade): all 24 rankings of
// four documents, by chi-square; with τ = ∞ only perfect ones, ties uniform.
func TestPermutationLaw(t *testing.T) {
	grades := []float64{1, 0, 2, 1}
	const draws = 24000
	for _, tau := range []float64{0, 0.5, 1, 2, math.Inf(1)} {
		p, rng, count := newPermuter(grades), stream(1), map[[4]int]float64{}
		for range draws {
			var order [4]int
			for d, r := range p.draw(tau, rng) {
				order[r-1] = d
			}
			count[order]++
		}
		var chi2 float64
		total, freedom := 0.0, -1
		permutations(len(grades), func(o []int) {
			want := plackettLuce(o, grades, tau)
			if math.IsInf(tau, 1) {
				want = 0
				if o[0] == 2 && o[3] == 1 {
					want = 0.5
				}
			}
			got := count[[4]int(o)]
			total += got
			if want == 0 {
				if got > 0 {
					t.Errorf("τ = %v: %v drawn, which is not perfect", tau, o)
				}
				return
			}
			freedom++
			chi2 += (got - draws*want) * (got - draws*want) / (draws * want)
		})
		if total != draws {
			t.Errorf("τ = %v: %v of %d draws are rankings", tau, total, draws)
		}
		// Beyond 4.5 standard deviations once in 10⁵ runs; the stream is fixed.
		if limit := float64(freedom) + 4.5*math.Sqrt(2*float64(freedom)); chi2 > limit {
			t.Errorf("τ = %v: chi-square %v of %d degrees, limit %v", tau, chi2, freedom, limit)
		}
	}
}

// permutations visits all orders of n things.
func permutations(n int, visit func([]int)) {
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	var rec func(i int)
	rec = func(i int) {
		if i == n {
			visit(order)
			return
		}
		for j := i; j < n; j++ {
			order[i], order[j] = order[j], order[i]
			rec(i + 1)
			order[i], order[j] = order[j], order[i]
		}
	}
	rec(0)
}

// Whatever the grades, the set holds rankings, at most as many as asked for, no two
// alike, a perfect one first; and the same stream draws the same set.
func TestDrawPermutations(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		grade := rapid.OneOf(rapid.SampledFrom([]float64{0, 1, 2, 3, 4}), rapid.Float64Range(0, math.MaxFloat64))
		grades := rapid.SliceOfN(grade, 1, 20).Draw(t, "grades")
		o := PermutationOptions{
			Rankings:  rapid.IntRange(0, 60).Draw(t, "rankings"),
			Sharpness: rapid.SliceOfN(rapid.SampledFrom([]float64{0, 0.5, 3, 1e300, math.Inf(1)}), 0, 3).Draw(t, "sharpness"),
		}
		seed := rapid.Uint64().Draw(t, "seed")
		set, err := DrawPermutations(grades, o, stream(seed))
		if err != nil {
			t.Fatal(err)
		}
		limit := o.Rankings
		if limit == 0 {
			limit = 100
		}
		if set.Len() < 1 || set.Len() > limit || set.Docs != len(grades) {
			t.Fatalf("%d rankings of %d documents", set.Len(), set.Docs)
		}
		seen := map[string]bool{}
		for i := range set.Len() {
			row := slices.Clone(set.Row(i))
			key := fmt.Sprint(row)
			if seen[key] {
				t.Fatalf("ranking %d, %v, was there before", i, row)
			}
			seen[key] = true
			slices.Sort(row)
			for r, v := range row {
				if int(v) != r+1 {
					t.Fatalf("ranking %d is %v", i, set.Row(i))
				}
			}
		}
		first := set.Row(0)
		for i, g := range grades {
			for j, h := range grades {
				if g > h && first[i] > first[j] {
					t.Fatalf("the first ranking %v of grades %v is not perfect", first, grades)
				}
			}
		}
		again, _ := DrawPermutations(grades, o, stream(seed))
		if !slices.Equal(again.Ranks, set.Ranks) {
			t.Fatal("the same stream drew another set")
		}
	})
}

// A list with fewer rankings than asked for gets all that are not too improbable;
// a longer one as many as asked for.
func TestPermutationsOfShortLists(t *testing.T) {
	for _, c := range []struct {
		grades []float64
		n      int
		want   int
	}{
		{[]float64{0}, 100, 1},
		{[]float64{1, 0}, 100, 2},
		{[]float64{1, 0, 0}, 100, 6},
		{[]float64{1, 0, 0, 0}, 100, 24},
		{[]float64{1, 0, 0, 0, 0, 2}, 100, 100},
		{[]float64{1, 0, 0, 0, 0, 2}, 7, 7},
		{[]float64{300, 0}, 100, 1},
	} {
		set, err := DrawPermutations(c.grades, PermutationOptions{Rankings: c.n}, stream(5))
		if err != nil || set.Len() != c.want {
			t.Errorf("grades %v: %d rankings (%v), want %d", c.grades, set.Len(), err, c.want)
		}
	}
}

func TestPermutationErrors(t *testing.T) {
	for want, o := range map[string]PermutationOptions{
		"rankings -1, expected at least 1, or 0 for 100": {Rankings: -1},
		"sharpness -2, expected a non-negative number":   {Sharpness: []float64{1, -2}},
		"sharpness NaN, expected a non-negative number":  {Sharpness: []float64{math.NaN()}},
	} {
		if _, err := DrawPermutations([]float64{1, 0}, o, stream(1)); err == nil || err.Error() != want {
			t.Errorf("error is %v, want %s", err, want)
		}
	}
}

// All relevant documents stay, and of the irrelevant ones the share asked for, each
// with the same probability.
func TestNegatives(t *testing.T) {
	grades := []float64{0, 2, 0, 0, 1, 0, 0, 0.5, 0, 0}
	const runs = 8000
	count := make([]float64, len(grades))
	rng := stream(3)
	for range runs {
		kept := Negatives(grades, 1, 1.5, rng)
		if len(kept) != 2+3 || !slices.IsSorted(kept) || len(slices.Compact(slices.Clone(kept))) != 5 {
			t.Fatalf("kept %v", kept)
		}
		for _, d := range kept {
			count[d]++
		}
	}
	for i, g := range grades {
		want, tolerance := 3./8*runs, 4.5*math.Sqrt(runs*3./8*5./8)
		if g >= 1 {
			want, tolerance = runs, 0
		}
		if math.Abs(count[i]-want) > tolerance {
			t.Errorf("document %d of grade %v is kept %v times, want %v ± %v", i, g, count[i], want, tolerance)
		}
	}
}

// Where nothing has to go, nothing is drawn.
func TestNegativesKeepAll(t *testing.T) {
	for _, c := range []struct {
		grades           []float64
		threshold, ratio float64
	}{
		{[]float64{0, 0, 0}, 1, 1}, // none is relevant
		{[]float64{1, 2}, 1, 1},    // all are
		{[]float64{1, 0, 0}, 1, 2}, // exactly as many as asked for
		{[]float64{1, 0, 0}, 1, math.Inf(1)},
		{[]float64{1, 0, 0}, 1, 1e300},
	} {
		rng, same := stream(1), stream(1)
		if kept := Negatives(c.grades, c.threshold, c.ratio, rng); kept != nil {
			t.Errorf("%v: kept %v, want all", c, kept)
		}
		if rng.Uint64() != same.Uint64() {
			t.Errorf("%v: numbers were drawn", c)
		}
	}
}

func BenchmarkDrawPermutations(b *testing.B) {
	grades := make([]float64, 152)
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range grades {
		grades[i] = float64(rng.IntN(3))
	}
	for b.Loop() {
		if _, err := DrawPermutations(grades, PermutationOptions{}, rng); err != nil {
			b.Fatal(err)
		}
	}
}
