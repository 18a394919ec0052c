package loss_test

import (
	"cmp"
	"math"
	"slices"
	"testing"

	"github.com/listwise/listwise/learn/loss"
)

// energy is E(R|s) by its definition as a sum over pairs.
func energy(l loss.BoltzRank, ranks []int32, grades, s []float64) (sum float64) {
	m := float64(len(s))
	pairs := m * (m - 1) / 2
	if l.Energy == loss.GradedEnergy {
		pairs = 0
		for j, gj := range grades {
			for _, gk := range grades[:j] {
				if gj != gk {
					pairs++
				}
			}
		}
	}
	alpha := l.Alpha
	if alpha == 0 {
		alpha = 1
	}
	if l.Growing {
		alpha *= (m - 1) / 2
	}
	for j, rj := range ranks {
		for k, rk := range ranks {
			switch {
			case rj <= rk, l.Energy == loss.GradedEnergy && grades[j] == grades[k]:
			case l.Energy == loss.GradedEnergy, l.Energy == loss.SignEnergy:
				sum += alpha * (s[j] - s[k])
			default:
				sum += alpha * float64(rj-rk) * (s[j] - s[k])
			}
		}
	}
	return sum / pairs
}

// boltzmann returns the probabilities ∝ exp(−E) of the rankings.
func boltzmann(l loss.BoltzRank, rankings [][]int32, grades, s []float64) []float64 {
	p := make([]float64, len(rankings))
	var z float64
	for i, r := range rankings {
		p[i] = math.Exp(-energy(l, r, grades, s))
		z += p[i]
	}
	for i := range p {
		p[i] /= z
	}
	return p
}

// naiveBoltzRank is −[λ⟨N⟩ − (1−λ)C] over the rankings given.
func naiveBoltzRank(l loss.BoltzRank, rankings [][]int32, grades, s []float64) (value float64) {
	p, target := boltzmann(l, rankings, grades, s), boltzmann(l, rankings, grades, grades)
	for i, r := range rankings {
		value -= (1 - l.Lambda) * target[i] * math.Log(p[i])
		if l.Lambda > 0 {
			ranked := make([]float64, len(grades))
			for d, at := range r {
				ranked[at-1] = grades[d]
			}
			n, _ := l.Measure.Value(ranked)
			value -= l.Lambda * p[i] * n
		}
	}
	return value
}

// The loss is that of the definitions, pair by pair and ranking by ranking, over
// the set R_q that the same stream draws, and its λ their central differences.
func TestBoltzRankAgainstDefinition(t *testing.T) {
	for name, l := range boltzRanks(t) {
		if l.Negatives > 0 {
			continue
		}
		rng := stream(1)
		for _, grades := range [][]float64{{1, 0}, {0, 2, 1}, {0, 1, 0, 0, 2, 1, 4}, {0, 0, 0.5, 1, 0, 0, 3, 0, 1, 0, 0, 1}} {
			set, err := loss.DrawPermutations(grades, l.Sampler, stream(9))
			if err != nil {
				t.Fatal(err)
			}
			bound, err := l.Bind(grades, stream(9))
			if err != nil {
				t.Fatal(err)
			}
			s, lambda := scoresOf(rng, len(grades)), make([]float64, len(grades))
			value := bound.Eval(s, lambda, new(loss.Scratch))
			if want := naiveBoltzRank(l, rows(set), grades, s); math.Abs(value-want) > 1e-12*max(1, math.Abs(want)) {
				t.Errorf("%s, grades %v: loss %v, want %v", name, grades, value, want)
			}
			for i := range s {
				const h = 1e-4
				at := func(shift float64) float64 {
					moved := slices.Clone(s)
					moved[i] += shift
					return naiveBoltzRank(l, rows(set), grades, moved)
				}
				want := -(8*(at(h)-at(-h)) - (at(2*h) - at(-2*h))) / (12 * h)
				if math.Abs(lambda[i]-want) > 1e-9 {
					t.Errorf("%s, grades %v: lambda[%d] is %v, differences say %v", name, grades, i, lambda[i], want)
				}
			}
		}
	}
}

// indicator is 1 for one ranking, given by its grades, and 0 for all others.
type indicator struct{ ranked []float64 }

func (indicator) Name() string { return "indicator" }

func (m indicator) Value(ranked []float64) (float64, bool) {
	if slices.Equal(m.ranked, ranked) {
		return 1, true
	}
	return 0, true
}

// A set large enough holds every ranking of a short list, so that the law is that
// over all m! of them: with λ = 1 and a measure that picks out one ranking, the loss
// is minus its probability. The most probable is the one in the order of the scores.
func TestBoltzRankOverAllRankings(t *testing.T) {
	grades := []float64{0.3, 0, 0.2, 0.1}
	var all [][]int32
	for a := range int32(4) {
		for b := range int32(4) {
			for c := range int32(4) {
				if d := 6 - a - b - c; a != b && a != c && b != c {
					all = append(all, []int32{a + 1, b + 1, c + 1, d + 1})
				}
			}
		}
	}
	if len(all) != 24 {
		t.Fatalf("%d rankings of 4 documents", len(all))
	}
	for _, l := range []loss.BoltzRank{{Alpha: 2}, {Energy: loss.SignEnergy, Growing: true}, {Energy: loss.GradedEnergy, Alpha: 3}} {
		s := scoresOf(stream(4), len(grades))
		want := boltzmann(l, all, grades, s)
		var best []float64
		bestP, total := 0.0, 0.0
		for i, ranks := range all {
			ranked := make([]float64, 4)
			sorted := make([]float64, 4)
			for d, r := range ranks {
				ranked[r-1], sorted[r-1] = grades[d], s[d]
			}
			l.Measure, l.Lambda = indicator{ranked}, 1
			bound, err := l.Bind(grades, stream(6))
			if err != nil {
				t.Fatal(err)
			}
			p := -bound.Eval(s, nil, new(loss.Scratch))
			if math.Abs(p-want[i]) > 1e-13 {
				t.Errorf("ranking %v has probability %v, want %v", ranks, p, want[i])
			}
			if total += p; p > bestP {
				bestP, best = p, sorted
			}
		}
		if math.Abs(total-1) > 1e-12 {
			t.Errorf("probabilities add up to %v", total)
		}
		if !slices.IsSortedFunc(best, func(a, b float64) int { return cmp.Compare(b, a) }) {
			t.Errorf("the most probable ranking has the scores %v, want them descending", best)
		}
	}
}

// The sign energy is the linear one with α·2/m, and a growing α is α·(m−1)/2.
func TestBoltzRankEnergies(t *testing.T) {
	grades := []float64{0, 1, 0, 0, 2, 1, 0}
	m := float64(len(grades))
	ndcg := gain(t, "ndcg@5")
	s := scoresOf(stream(2), len(grades))
	value := func(l loss.BoltzRank) float64 {
		l.Measure, l.Lambda = ndcg, 0.5
		bound, err := l.Bind(grades, stream(3))
		if err != nil {
			t.Fatal(err)
		}
		return bound.Eval(s, nil, new(loss.Scratch))
	}
	for _, c := range [][2]loss.BoltzRank{
		{{Energy: loss.SignEnergy, Alpha: 3}, {Alpha: 3 * 2 / m}},
		{{Growing: true, Alpha: 3}, {Alpha: 3 * (m - 1) / 2}},
		{{Growing: true, Energy: loss.SignEnergy}, {Alpha: (m - 1) / m}},
	} {
		if a, b := value(c[0]), value(c[1]); math.Abs(a-b) > 1e-13 {
			t.Errorf("%+v gives %v, the same by other means %v", c[0], a, b)
		}
	}
	if value(loss.BoltzRank{}) == value(loss.BoltzRank{Alpha: 2}) {
		t.Error("alpha does nothing")
	}
}
