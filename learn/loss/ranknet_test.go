package loss

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// naiveRankNet is the definition, pair by pair.
func naiveRankNet(l RankNet, grades, s []float64) (value float64, lambda []float64) {
	lambda = make([]float64, len(s))
	pairs := 0
	for i, j := range Pairs(grades) {
		pairValue, pairLambda := l.PairLoss(s[i], s[j])
		value += pairValue
		lambda[i] += pairLambda
		lambda[j] -= pairLambda
		pairs++
	}
	if l.Mean && pairs > 0 {
		value /= float64(pairs)
		for i := range lambda {
			lambda[i] /= float64(pairs)
		}
	}
	return value, lambda
}

// TestPairLoss: eq. 8 as printed, C = s_j − s_i + log(1 + exp(s_i − s_j)), its
// derivative by differences, and its two ends.
func TestPairLoss(t *testing.T) {
	for _, d := range []float64{-30, -2, -0.1, 0, 0.3, 5, 30} {
		value, lambda := RankNet{}.PairLoss(1+d, 1)
		if want := -d + math.Log1p(math.Exp(d)); !near(value, want, 1e-13) {
			t.Errorf("the loss at a lead of %v is %v, eq. 8 says %v", d, value, want)
		}
		const h = 1e-5
		up, _ := RankNet{}.PairLoss(1+d+h, 1)
		down, _ := RankNet{}.PairLoss(1+d-h, 1)
		if want := (down - up) / (2 * h); !near(lambda, want, 1e-9) {
			t.Errorf("λ at a lead of %v is %v, differences say %v", d, lambda, want)
		}
	}
	for _, c := range []struct{ lead, value, lambda float64 }{{1e6, 0, 0}, {-1e6, 3e6, 3}, {700, math.Exp(-2100), 0}} {
		if value, lambda := (RankNet{Sigma: 3}).PairLoss(c.lead, 0); value != c.value || lambda != c.lambda {
			t.Errorf("a lead of %v with σ = 3: loss %v, λ %v, want %v and %v", c.lead, value, lambda, c.value, c.lambda)
		}
	}
}

func TestPairsOrder(t *testing.T) {
	var got [][2]int
	for i, j := range Pairs([]float64{1, 0.5, 3, 1}) {
		got = append(got, [2]int{i, j})
	}
	if want := [][2]int{{0, 1}, {2, 0}, {2, 1}, {2, 3}, {3, 1}}; !slices.Equal(got, want) {
		t.Errorf("pairs %v, want %v", got, want)
	}
	for i, j := range Pairs([]float64{1, 0, 0}) {
		if i != 0 || j != 1 {
			t.Errorf("after a break came (%d, %d)", i, j)
		}
		break
	}
}

// TestRankNetAgainstPairs: value and λ are the sums over the pairs, for any number
// of levels, sizes of levels, scores near and far, and ties.
func TestRankNetAgainstPairs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 60).Draw(t, "documents")
		levels := rapid.IntRange(1, 12).Draw(t, "levels")
		seed := rapid.Uint64().Draw(t, "seed")
		spread := rapid.SampledFrom([]float64{0, 0.5, 4, 30, 100, 700, 1e5}).Draw(t, "spread")
		l := RankNet{Sigma: rapid.SampledFrom([]float64{0, 0.3, 2}).Draw(t, "sigma"), Mean: rapid.Bool().Draw(t, "mean")}
		rng := rand.New(rand.NewPCG(seed, 1))
		grades, s := make([]float64, n), normals(rng, n, spread)
		skew := rapid.SampledFrom([]float64{0.2, 1, 5}).Draw(t, "skew")
		for i := range grades {
			// Grades like 2.25 and 4096 are as good as any.
			grades[i] = math.Pow(math.Floor(float64(levels)*math.Pow(rng.Float64(), skew))/2, 3)
			if rng.IntN(4) == 0 {
				s[i] = s[rng.IntN(n)]
			}
		}
		bound, err := l.Bind(grades, nil)
		if err != nil {
			t.Fatal(err)
		}
		lambda := make([]float64, n)
		value := bound.Eval(s, lambda, new(Scratch))
		want, wantLambda := naiveRankNet(l, grades, s)
		// σs_i − σs_j and σ(s_i − s_j) differ by the rounding of σs.
		tolerance := 1e-11 + 1e-15*spread
		if !near(value, want, tolerance) {
			t.Fatalf("value %v, pair by pair %v", value, want)
		}
		for i := range lambda {
			if !near(lambda[i], wantLambda[i], tolerance) {
				t.Fatalf("λ[%d] = %v, pair by pair %v", i, lambda[i], wantLambda[i])
			}
		}
	})
}

// TestStaircaseTakesFewerRows: the rows are the smaller side, in both directions.
func TestStaircaseTakesFewerRows(t *testing.T) {
	for _, c := range []struct {
		grades []float64
		rows   int
		count  int
	}{
		{[]float64{0, 0, 2, 0, 1}, 2, 7}, {[]float64{2, 2, 0, 2, 1}, 2, 7},
		{[]float64{4, 3, 2, 1, 0}, 4, 10}, {[]float64{1, 0}, 1, 1}, {[]float64{5, 5}, 0, 0}, {nil, 0, 0},
	} {
		if p := newStaircase(c.grades, 1); len(p.rows) != c.rows || p.count != c.count {
			t.Errorf("grades %v: %d rows and %d pairs, want %d and %d", c.grades, len(p.rows), p.count, c.rows, c.count)
		}
	}
}

// evaluation is what Eval gives.
type evaluation struct {
	value  float64
	lambda []float64
}

func evaluate(t testing.TB, l Loss, grades, s []float64) evaluation {
	t.Helper()
	bound, err := l.Bind(grades, rand.New(rand.NewPCG(1, 2)))
	if err != nil {
		t.Fatal(err)
	}
	e := evaluation{lambda: make([]float64, len(s))}
	e.value = bound.Eval(s, e.lambda, new(Scratch))
	return e
}

func TestRankNetRefusesSlopes(t *testing.T) {
	for _, sigma := range []float64{-1, math.NaN(), math.Inf(1)} {
		if _, err := (RankNet{Sigma: sigma}).Bind([]float64{0, 1}, nil); err == nil {
			t.Errorf("σ = %v passes", sigma)
		}
	}
}
