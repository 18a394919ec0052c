package measure

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/listwise/listwise/dataset"
)

// Claim: Rank orders as a stable sort by score does and finds the groups of
// equal score, for lists short and long, scores of every sign and size.
func TestRank(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	special := []float64{0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1), math.MaxFloat64, -math.MaxFloat64, 5e-324, -5e-324, 1, -1}
	var r Ranker
	for n := range 400 {
		grades, scores := make([]float64, n), make([]float64, n)
		for i := range scores {
			grades[i] = float64(i) // names the document
			switch rng.IntN(3) {
			case 0:
				scores[i] = special[rng.IntN(len(special))]
			case 1:
				scores[i] = rng.NormFloat64()
			default:
				scores[i] = float64(rng.IntN(5))
			}
		}
		want := byScore(grades, scores)
		ends := []int{}
		for i := range want {
			score := scores[int(want[i])]
			if score == dataset.NotRetrieved {
				break // those behind have no rank
			}
			if i+1 == n || score != scores[int(want[i+1])] {
				ends = append(ends, i+1)
			}
		}
		ranked, got := r.Rank(grades, scores)
		if d := cmp.Diff(want, ranked); n > 0 && d != "" {
			t.Fatal(d)
		}
		if d := cmp.Diff(ends, got); n > 0 && d != "" {
			t.Fatal(d)
		}
	}
}

// Claim: lists with different numbers of grades and scores are refused.
func TestRankShapes(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	new(Ranker).Rank(make([]float64, 3), make([]float64, 2))
}

// raceDetector is set by race_test.go.
var raceDetector bool

// Claim: measuring a query allocates nothing once the memory has grown, with
// whole grades and with fractions, in all policies.
func TestNoAllocation(t *testing.T) {
	if raceDetector {
		t.Skip("the race detector allocates")
	}
	rng := rand.New(rand.NewPCG(11, 12))
	grades, scores := make([]float64, 300), make([]float64, 300)
	for i := range grades {
		grades[i] = float64(rng.IntN(3)) * 1.5
		scores[i] = float64(rng.IntN(100))
	}
	for ties := TiesInput; ties <= TiesAverage; ties++ {
		r := Ranker{Ties: ties}
		for _, name := range allNames {
			m := parse(t, name, "letor3")
			r.Value(m, grades, scores)
			if n := testing.AllocsPerRun(50, func() { r.Value(m, grades, scores) }); n >= 1 {
				t.Errorf("%s %v: %v allocations", name, ties, n)
			}
		}
	}
}

func BenchmarkQuery1000(b *testing.B) {
	rng := rand.New(rand.NewPCG(13, 14))
	grades, scores := make([]float64, 1000), make([]float64, 1000)
	for i := range grades {
		grades[i] = float64(max(0, rng.IntN(7)-4))
		scores[i] = rng.NormFloat64()
	}
	var r Ranker
	b.Run("rank", func(b *testing.B) {
		for b.Loop() {
			r.Rank(grades, scores)
		}
	})
	for _, name := range allNames {
		m := parse(b, name, "letor3")
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				r.Value(m, grades, scores)
			}
		})
	}
}
