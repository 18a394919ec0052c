package train

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

// The k-th largest number is that of sorted ones, also where many are alike.
func TestKthLargest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.OneOf(rapid.Float64Range(0, math.MaxFloat64), rapid.SampledFrom([]float64{0, 1, 2, 1e-320})), 1, 50).Draw(t, "values")
		k := rapid.IntRange(1, len(values)).Draw(t, "k")
		sorted := slices.Sorted(slices.Values(values))
		slices.Reverse(sorted)
		want, wantAlike := sorted[k-1], 0
		for _, v := range sorted[:k] {
			if v == want {
				wantAlike++
			}
		}
		if v, alike := kthLargest(values, k); v != want || alike != wantAlike {
			t.Fatalf("the %d. largest of %v is %v, %d alike, expected %v, %d", k, values, v, alike, want, wantAlike)
		}
	})
}

// sampled is a training whose documents are drawn from.
func sampled(docs int, l Trees) *treeRounds {
	r := &treeRounds{Trees: l, seed: 3, treesState: treesState{scores: make([]float64, docs)}, lambda: make([]float64, docs), second: make([]float64, docs)}
	rng := rand.New(rand.NewPCG(1, 9))
	for i := range docs {
		r.lambda[i], r.second[i] = rng.NormFloat64(), float64(rng.IntN(3))
	}
	return r
}

// Documents are drawn evenly, in order, as many as asked for, of those that there are to draw
// from.
func TestDocumentsAreDrawnEvenly(t *testing.T) {
	r := sampled(40, Trees{DocumentFraction: 0.3})
	var odd []uint32
	for i := uint32(1); i < 40; i += 2 {
		odd = append(odd, i)
	}
	for _, rows := range [][]uint32{nil, odd} {
		counts, want := make([]int, 40), 12
		if rows != nil {
			want = 6
		}
		const rounds = 4000
		for round := range rounds {
			drawn := r.documents(strconv.Itoa(round), rows)
			if len(drawn) != want || !slices.IsSorted(drawn) {
				t.Fatalf("drawn are %v, expected %d in order", drawn, want)
			}
			for i, row := range drawn {
				if counts[row]++; i > 0 && drawn[i-1] == row {
					t.Fatalf("drawn are %v, expected different ones", drawn)
				}
			}
		}
		for row, n := range counts {
			// Five standard deviations of the number of rounds that draw it.
			if in := rows == nil || row%2 == 1; in && math.Abs(float64(n)-0.3*rounds) > 5*math.Sqrt(0.21*rounds) || !in && n > 0 {
				t.Errorf("document %d was drawn %d times in %d rounds", row, n, rounds)
			}
		}
	}
}

// GOSS keeps the documents of the largest |λ|·second as they are, and those drawn from the
// others have on average the sums of all of these.
func TestGOSSEstimatesTheSums(t *testing.T) {
	const docs, rounds = 50, 4000
	r := sampled(docs, Trees{GOSSTop: 0.2, GOSSRest: 0.3})
	order := numbered(docs)
	slices.SortStableFunc(order, func(a, b uint32) int {
		return cmp.Compare(math.Abs(r.lambda[b])*r.second[b], math.Abs(r.lambda[a])*r.second[a])
	})
	top := order[:10]
	mean := make([]float64, docs)
	for round := range rounds {
		drawn, lambda, second := r.goss(strconv.Itoa(round), nil)
		if len(drawn) != 25 || !slices.IsSorted(drawn) {
			t.Fatalf("drawn are %v, expected 25 in order", drawn)
		}
		for _, row := range drawn {
			factor := 40.0 / 15
			if slices.Contains(top, row) {
				factor = 1
			}
			if lambda[row] != factor*r.lambda[row] || second[row] != factor*r.second[row] {
				t.Fatalf("document %d has λ %v and %v, expected %v times %v and %v", row, lambda[row], second[row], factor, r.lambda[row], r.second[row])
			}
			mean[row] += factor / rounds
		}
	}
	for row, m := range mean {
		// Five standard deviations; the top has none.
		if deviation := 40.0 / 15 * math.Sqrt(0.375*0.625/rounds); math.Abs(m-1) > 5*deviation {
			t.Errorf("document %d counts %v on average, expected 1", row, m)
		}
	}
	r.GOSSRest = 0
	three := []uint32{order[30], order[1], order[0]}
	if drawn, _, _ := r.goss("1", three); !slices.Equal(drawn, order[:1]) {
		t.Errorf("of the documents %v %v are the top fifth, expected %v", three, drawn, order[:1])
	}
}

func numbered(n int) []uint32 {
	rows := make([]uint32, n)
	for i := range rows {
		rows[i] = uint32(i)
	}
	return rows
}
