package loss

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/listwise/listwise/eval/measure"
)

// rankMeasures are measures to train for, under several conventions.
func rankMeasures(t testing.TB) []measure.Measure {
	t.Helper()
	parse := func(name, convention string, threshold float64) measure.Measure {
		c, err := measure.ParseConvention(convention)
		if err != nil {
			t.Fatal(err)
		}
		if threshold > 0 {
			c = c.WithThreshold(threshold)
		}
		m, err := measure.Parse(name, c, measure.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	return []measure.Measure{
		parse("ndcg@3", "letor3", 0), parse("ndcg@10", "standard", 0), parse("ndcg", "trec", 0), parse("ndcg@6", "letor4", 0),
		parse("map", "letor3", 0), parse("ap", "lightgbm", 2), parse("map", "mslr-skip", 0),
		parse("mrr", "letor3", 0), parse("mrr@1", "lightgbm", 0), parse("mrr@3", "letor3", 3),
		parse("err", "letor3", 0), parse("err@4", "standard", 0),
		parse("p@4", "letor3", 0), parse("wta", "letor3", 2), parse("auc", "letor3", 0), parse("rbp@0.9", "letor3", 0),
		parse("dcg@5", "letor3", 0), parse("r@2", "letor3", 0), parse("mean-ndcg", "letor4", 0), parse("pairs", "letor3", 0),
		foreign{},
	}
}

// foreign is a measure from elsewhere that is called what another is called: the
// grade of the first document over the highest.
type foreign struct{}

func (foreign) Name() string { return "ndcg@10" }

func (foreign) Value(ranked []float64) (float64, bool) {
	return ranked[0] / max(1, slices.Max(ranked)), true
}

func gradesOf(rng *rand.Rand, n int) []float64 {
	grades := make([]float64, n)
	for i := range grades {
		grades[i] = float64(max(0, rng.IntN(8)-3))
	}
	return grades
}

// TestSwapsAgainstTheMeasure: every formula gives what the measure itself loses,
// with the sign of the difference of grades, and swaps below the ranks that
// prepare says count change nothing.
func TestSwapsAgainstTheMeasure(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 28))
	for _, m := range rankMeasures(t) {
		for _, n := range []int{2, 3, 7, 20} {
			for range 12 {
				grades := gradesOf(rng, n)
				if settled(m, grades) {
					continue
				}
				s, err := measure.SwapsOf(m, grades)
				if err != nil {
					t.Fatal(err)
				}
				compareSwaps(t, m, s, grades)
			}
		}
	}
}

func compareSwaps(t *testing.T, m measure.Measure, s measure.Swaps, grades []float64) {
	t.Helper()
	n := len(grades)
	x, work, row := slices.Clone(s.Counts()), make([]float64, s.Work(n)), make([]float64, n)
	ranks := s.Prepare(x, work)
	prepared := slices.Clone(x)
	now, _ := m.Value(grades)
	for a := range n - 1 {
		if a < ranks {
			s.Row(row, x, work, a, n)
		} else {
			clear(row)
		}
		for b := a + 1; b < n; b++ {
			swapped := slices.Clone(grades)
			swapped[a], swapped[b] = swapped[b], swapped[a]
			after, _ := m.Value(swapped)
			what := fmt.Sprintf("%s of %v, ranks %d and %d", m.Name(), grades, a, b)
			if math.Abs(row[b]-(now-after)) > 1e-14*max(1, now) {
				t.Errorf("%s: a swap loses %v, the formula says %v", what, now-after, row[b])
			}
			if row[b]*(grades[a]-grades[b]) < 0 {
				t.Errorf("%s: a loss of %v", what, row[b])
			}
		}
	}
	if !slices.Equal(x, prepared) {
		t.Errorf("%s: row left %v of %v", m.Name(), x, prepared)
	}
}

// TestSwapsByHand: AP of good, bad, good is (1 + 2/3)/2, and (1/2 + 2/3)/2 after
// the first two change places; the reciprocal rank goes from 1 to 1/2, the last
// two leave it as it is.
func TestSwapsByHand(t *testing.T) {
	grades := []float64{1, 0, 1}
	for name, want := range map[string][3]float64{ // swaps 0–1, 0–2, 1–2
		"map": {0.25, 0, -1. / 6}, "mrr": {0.5, 0, 0},
	} {
		s, err := measure.SwapsOf(additive(t, name), grades)
		if err != nil {
			t.Fatal(err)
		}
		x, work, row := slices.Clone(s.Counts()), make([]float64, s.Work(3)), make([]float64, 3)
		s.Prepare(x, work)
		s.Row(row, x, work, 0, 3)
		got := [3]float64{row[1], row[2], 0}
		if name == "map" {
			s.Row(row, x, work, 1, 3)
			got[2] = row[2]
		}
		for i := range want {
			if !near(got[i], want[i], 1e-15) {
				t.Errorf("%s: swaps lose %v, want %v", name, got, want)
			}
		}
	}
}

// TestSwapsHaveFormulas: the measures that LambdaRank is to be quick for are
// recognised, under all their names, and no others.
func TestSwapsHaveFormulas(t *testing.T) {
	for _, m := range rankMeasures(t) {
		s, err := measure.SwapsOf(m, []float64{0, 1, 4})
		if err != nil {
			t.Fatal(err)
		}
		recomputed := strings.HasSuffix(fmt.Sprintf("%T", s), "anySwaps")
		if want := !slices.Contains([]string{"ndcg", "map", "ap", "mrr", "err"}, measure.Family(m)); recomputed != want {
			t.Errorf("%s: recomputed is %v, want %v", m.Name(), recomputed, want)
		}
	}
}
