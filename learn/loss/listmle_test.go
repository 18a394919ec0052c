package loss

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// agreesWith reports whether a sequence of all documents never has a lower grade
// before a higher.
func agreesWith(grades []float64, y []int) bool {
	for i := 1; i < len(y); i++ {
		if grades[y[i]] > grades[y[i-1]] {
			return false
		}
	}
	return true
}

// ints returns a permutation as the enumeration knows it.
func ints(order []int32) []int {
	y := make([]int, len(order))
	for i, d := range order {
		y[i] = int(d)
	}
	return y
}

// TestListMLEIsALikelihood: the probabilities exp(−L) of all permutations, each
// the truth of grades of its own, sum to one, and each is the product of picks.
func TestListMLEIsALikelihood(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	const n = 5
	for _, s := range scoresOf(rng, n) {
		var sum float64
		sequences(n, n, func(y []int) {
			grades := make([]float64, n)
			for place, d := range y {
				grades[d] = float64(n - place)
			}
			b := mustBind(t, ListMLE{}, grades, 1)
			v, _ := evaluated(b, s)
			if want := -logPlackettLuce(s, y); !near(v, want, 1e-12) {
				t.Errorf("%v at %v: loss %v, want %v", y, s, v, want)
			}
			sum += math.Exp(-v)
		})
		if !near(sum, 1, 1e-12) {
			t.Errorf("at %v the probabilities sum to %v", s, sum)
		}
	}
}

// TestListMLEGradient: value and gradient are those of the definition for every
// permutation that is in use, at near and far scores.
func TestListMLEGradient(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, grades := range [][]float64{{0, 1}, {1, 0, 2, 1, 0, 2, 2}, {0, 0, 0, 1}} {
		for ties := MLETiesRandom; ties <= MLETiesInput; ties++ {
			b := mustBind(t, ListMLE{Ties: ties, Draws: 3}, grades, 9)
			all := perms(b)
			if want := map[MLETies]int{MLETiesAverage: 3}[ties]; len(all) != max(want, 1) {
				t.Errorf("%v: %d permutations", ties, len(all))
			}
			f := func(s []float64) float64 {
				var mean float64
				for _, p := range all {
					mean -= logPlackettLuce(s, ints(p.order)) / float64(len(all))
				}
				return mean
			}
			for _, p := range all {
				if !agreesWith(grades, ints(p.order)) {
					t.Errorf("%v: order %v of grades %v", ties, p.order, grades)
				}
			}
			for _, s := range scoresOf(rng, len(grades)) {
				againstReference(t, fmt.Sprintf("%v %v", ties, grades), b, f, s)
			}
		}
	}
}

// perms returns the permutations that a bound ListMLE goes by.
func perms(b QueryLoss) []picks {
	if all, ok := b.(boundMLEAverage); ok {
		return all
	}
	return []picks{b.(boundMLEPicks).picks}
}

// TestListMLEDraws: input order is kept on request; drawn permutations of tied
// documents are uniform, the same for the same seed, and several for average.
func TestListMLEDraws(t *testing.T) {
	grades := []float64{1, 2, 1, 2, 0, 1}
	input := perms(mustBind(t, ListMLE{Ties: MLETiesInput}, grades, 1))[0].order
	for i, want := range []int32{1, 3, 0, 2, 5, 4} {
		if input[i] != want {
			t.Fatalf("in input order the permutation is %v", input)
		}
	}
	const draws = 12000
	counts := make(map[string]int)
	for seed := range uint64(draws) {
		order := perms(mustBind(t, ListMLE{}, grades, seed))[0].order
		counts[fmt.Sprint(order)]++
		if seed < 3 && fmt.Sprint(order) != fmt.Sprint(perms(mustBind(t, ListMLE{}, grades, seed))[0].order) {
			t.Errorf("seed %d draws two permutations", seed)
		}
	}
	if len(counts) != 12 { // 2!·3!·1!
		t.Fatalf("%d permutations drawn, want 12", len(counts))
	}
	for order, n := range counts {
		if math.Abs(float64(n)-draws/12) > 5*math.Sqrt(draws/12) {
			t.Errorf("%s was drawn %d times of %d", order, n, draws)
		}
	}
	if n := len(perms(mustBind(t, ListMLE{Ties: MLETiesAverage}, grades, 1))); n != defaultMLEDraws {
		t.Errorf("average takes %d permutations", n)
	}
}

// groupLoss is the formula of MLETiesGroup, sum by sum.
func groupLoss(grades []float64) func(s []float64) float64 {
	lowest := math.Inf(1)
	for _, l := range grades {
		lowest = min(lowest, l)
	}
	return func(s []float64) float64 {
		var value float64
		for i, l := range grades {
			if l == lowest {
				continue
			}
			var left []float64
			for k, other := range grades {
				if other <= l {
					left = append(left, s[k])
				}
			}
			value += plainLSE(left) - s[i]
		}
		return value
	}
}

// TestListMLEOfGroups: value and gradient are the formula's, and with grades 0 and
// 1 n⁺ times the cross entropy with a uniform law over the good documents.
func TestListMLEOfGroups(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, grades := range [][]float64{{0, 1}, {1, 0, 2, 1, 0, 2, 2}, {0, 0, 0, 1}, {3, 3, 1, 2, 1}} {
		b := mustBind(t, ListMLE{Ties: MLETiesGroup}, grades, 1)
		for _, s := range scoresOf(rng, len(grades)) {
			againstReference(t, fmt.Sprintf("group %v", grades), b, groupLoss(grades), s)
		}
	}
	binary := []float64{0, 1, 0, 0, 1, 1}
	b := mustBind(t, ListMLE{Ties: MLETiesGroup}, binary, 1)
	entropy := crossEntropy{target: []float64{0, 1. / 3, 0, 0, 1. / 3, 1. / 3}}
	for _, s := range scoresOf(rng, 6) {
		v, grad := evaluated(b, s)
		want, wantGrad := evaluated(entropy, s)
		if !near(v, 3*want, 1e-12) {
			t.Errorf("binary grades: %v, want 3 times %v", v, want)
		}
		for i := range wantGrad {
			wantGrad[i] *= 3
		}
		checkVector(t, "binary grades: gradient", grad, wantGrad, 1e-12)
	}
}

// TestListMLEGroupsBound: the loss of groups is at least that of every permutation
// that agrees with the grades, but for the picks within the lowest grade, and at
// least −log P(groups) + Σ log |G|!, P being the sum of those permutations.
func TestListMLEGroupsBound(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	grades := []float64{1, 0, 2, 1, 0, 2}
	b := mustBind(t, ListMLE{Ties: MLETiesGroup}, grades, 1)
	for _, s := range scoresOf(rng, len(grades)) {
		group, _ := evaluated(b, s)
		var p, most float64
		sequences(len(grades), len(grades), func(y []int) {
			if !agreesWith(grades, y) {
				return
			}
			p += math.Exp(logPlackettLuce(s, y))
			most = max(most, -logPlackettLuce(s, y[:4])) // 4 documents above grade 0
		})
		if group < most-1e-9*max(1, most) {
			t.Errorf("at %v: %v for groups, less than a permutation's %v", s, group, most)
		}
		if bound := -math.Log(p) + 2*math.Ln2; p > 0 && group < bound-1e-9*max(1, bound) {
			t.Errorf("at %v: %v for groups, less than −log P + Σ log |G|! = %v", s, group, bound)
		}
	}
}

// TestListMLEWideScores: the sums for near and for far scores are the same
// function, on either side of the limit between them.
func TestListMLEWideScores(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	for _, n := range []int{2, 9, 300} {
		for _, spread := range []float64{1, 30, 300, maxPlainSpread} {
			p := picks{order: make([]int32, n), counted: n - 1}
			s, x := make([]float64, n), make([]float64, n)
			for i := range s {
				p.order[i] = int32(i)
				s[i] = -spread * rng.Float64()
			}
			s[0], s[n-1] = 0, -spread
			var scratch Scratch
			plain, wide := make([]float64, n), make([]float64, n)
			near2, wide2 := make([]float64, n), make([]float64, n)
			copy(x, s)
			v := p.plain(x, scratch.Floats(n), plain, near2, &scratch)
			if want := p.wide(s, scratch.Floats(n), wide, wide2); !near(v, want, 1e-12) {
				t.Errorf("%d documents over %v: %v as they are, %v by logarithms", n, spread, v, want)
			}
			checkVector(t, fmt.Sprintf("%d documents over %v: λ", n, spread), plain, wide, 1e-11)
			checkVector(t, fmt.Sprintf("%d documents over %v: second derivatives", n, spread), near2, wide2, 1e-11)
		}
	}
}

// TestListMLEOptions: names are read back, and options out of range refused.
func TestListMLEOptions(t *testing.T) {
	for ties := MLETiesRandom; ties <= MLETiesGroup; ties++ {
		if got, err := ParseMLETies(ties.String()); got != ties || err != nil {
			t.Errorf("ParseMLETies(%q) = %v, %v", ties.String(), got, err)
		}
	}
	_, err := ParseMLETies("efron")
	wantError(t, "ParseMLETies", err, `ties "efron"`, "random, average, input or group")
	_, err = ListMLE{Ties: 4}.Bind([]float64{0, 1}, nil)
	wantError(t, "ties 4", err, "ties 4")
	_, err = ListMLE{Draws: -1}.Bind([]float64{0, 1}, nil)
	wantError(t, "draws -1", err, "draws -1")
}
