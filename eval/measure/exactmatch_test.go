package measure

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// Claim: exact-match is one less the 0–1 loss of permutations. Over all rankings, it is 1 for
// those without a pair in the wrong order and 0 for all others.
func TestExactMatchByEnumeration(t *testing.T) {
	m := parse(t, "exact-match", "standard")
	for _, grades := range [][]float64{{0, 1}, {0, 1, 1}, {0, 0, 1, 2}, {0, 1, 2, 3, 4}, {0.5, 0, 0.5, 2, 2}} {
		all, right, best := 0, 0, 0
		highest := -1.0
		orders(grades, []int{len(grades)}, func(list []float64) {
			all++
			discordant := 0
			weighted := 0.0 // largest for the right orders alone
			for i := range list {
				weighted += float64(len(list)-i) * list[i]
				for j := range i {
					if list[j] < list[i] {
						discordant++
					}
				}
			}
			v, ok := m.Value(list)
			if (discordant == 0) != (v == 1) || discordant > 0 && v != 0 || !ok {
				t.Errorf("%v, with %d pairs in the wrong order: %v", list, discordant, v)
			}
			switch {
			case weighted > highest:
				highest, best = weighted, 1
			case weighted == highest:
				best++
			}
			right += int(v)
		})
		if right != best {
			t.Errorf("%v: %d of %d rankings are right, expected %d", grades, right, all, best)
		}
	}
}

// Claim: a query of one grade, of which every ranking is right, counts what the convention says:
// no system gains by it.
func TestExactMatchOfOneGrade(t *testing.T) {
	for name, want := range map[string]float64{"standard": 0, "lightgbm": 1, "letor3-skip": 0} {
		for _, grades := range [][]float64{{0, 0, 0}, {2, 2}, {1}} {
			m := parse(t, "exact-match", name)
			v, ok := m.Value(grades)
			w, okW := m.Average(grades, []int{len(grades)})
			if v != want || w != want || ok != (name != "letor3-skip") || ok != okW {
				t.Errorf("%s of %v: %v, %v and %v, %v", name, grades, v, ok, w, okW)
			}
		}
	}
}

// Claim: systems that know nothing get what chance gives: equal scores and random orders
// 1/n! where all grades differ.
func TestExactMatchOfChance(t *testing.T) {
	m, rng := parse(t, "exact-match", "standard"), rand.New(rand.NewPCG(7, 8))
	grades := []float64{3, 2, 1, 0}
	average := Ranker{Ties: TiesAverage}
	v, _ := average.Value(m, grades, make([]float64, 4))
	near(t, "equal scores", v, 1.0/24, 1e-15)
	sum := 0.0
	const draws = 20000
	for range draws {
		scores := []float64{rng.Float64(), rng.Float64(), rng.Float64(), rng.Float64()}
		v, _ := average.Value(m, grades, scores)
		sum += v
	}
	near(t, fmt.Sprint("random orders, mean of ", draws), sum/draws, 1.0/24, 0.006) // four standard errors
}
