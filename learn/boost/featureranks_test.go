package boost

import (
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/listwise/listwise/eval/measure"
)

// oneQuery returns grades and a matrix of n documents whose features have values of many kinds: continuous, tied,
// heavy-tailed, mostly 0, zeros of both signs, constant and, if infinite is set, not finite.
func oneQuery(rng *rand.Rand, n int, infinite bool) (grades []float64, x []float32) {
	kinds := []func() float64{
		rng.NormFloat64,
		func() float64 { return float64(rng.IntN(5) - 2) },
		func() float64 { return math.Exp(20 * rng.NormFloat64()) },
		func() float64 { return max(0, rng.NormFloat64()-1) * 1e30 },
		func() float64 { return math.Copysign(float64(rng.IntN(2)), rng.NormFloat64()) },
		func() float64 { return -3 },
		func() float64 { return math.Copysign(0, rng.NormFloat64()) },
		func() float64 { return math.Copysign(math.Exp2(-140*rng.Float64()), rng.NormFloat64()) },
		func() float64 { return math.MaxFloat32 * (2*rng.Float64() - 1) },
		func() float64 { return 1 + float64(rng.IntN(9))*0x1p-23 },
	}
	if infinite {
		kinds = append(kinds, func() float64 { return math.Inf(rng.IntN(2)*2 - 1) }, func() float64 {
			if rng.IntN(4) == 0 {
				return math.Inf(-1)
			}
			return rng.NormFloat64()
		})
	}
	for range 10 { // more features than are gathered at a time
		kinds = append(kinds, rng.ExpFloat64)
	}
	for range n {
		grades = append(grades, float64(max(0, rng.IntN(6)-3)))
		for _, kind := range kinds {
			x = append(x, float32(kind()))
		}
	}
	return grades, x
}

// Claim: the values are those of measure.Ranker by each column of the features, upwards and downwards, bit for bit: for
// short and long queries, values of every kind, measures that are sums, cut off, or neither.
func TestFeatureRanks(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	var r featureRanks // one for all: nothing of a query is left in the next
	ranker := measure.Ranker{Ties: measure.TiesAverage}
	for _, name := range []string{"map", "map@7", "ndcg@10", "ndcg", "mrr", "err", "p@5", "auc", "rprec", "wta"} {
		r.measure = measure.MustParse(name, measure.LETOR3)
		for _, n := range []int{1, 2, 3, 8, 9, 31, 32, 33, 64, 100, 127, 128, 500} {
			for _, infinite := range []bool{false, true} {
				grades, x := oneQuery(rng, n, infinite)
				features := len(x) / n
				for _, both := range []int{1, 2} {
					values := make([]float64, both*features)
					r.fill(values, grades, x)
					for h, got := range values {
						scores := make([]float64, n)
						for i := range scores {
							scores[i] = float64(x[i*features+h%features]) * float64(1-2*(h/features))
						}
						if want, _ := ranker.Value(r.measure, grades, scores); math.Float64bits(got) != math.Float64bits(want) {
							t.Fatalf("%s of %d documents by weak ranker %d of %d is %v, want %v", name, n, h, len(values), got, want)
						}
					}
				}
			}
		}
	}
}

// Claim: insertion after the buckets gives up where these do not help, and the digits sort then.
func TestFeatureRanksOfSkewedValues(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, n := range []int{40, 300, 70_000} {
		column := make([]float32, n)
		for i := range column {
			column[i] = float32(math.Exp(15 * rng.NormFloat64()))
		}
		least, greatest := extremes(column)
		r := featureRanks{items: make([]item, n)}
		r.spread(column, least, greatest)
		if insertItems(r.items, 4*n) {
			t.Errorf("%d documents: insertion takes few moves", n)
		}
		r.sort(column, least, greatest)
		seen := make(map[uint32]bool)
		for i, it := range r.items {
			if seen[it.doc] = true; it.value != column[it.doc] || i > 0 && it.value > r.items[i-1].value {
				t.Fatalf("%d documents: %+v is at %d", n, it, i)
			}
		}
		if len(seen) != n {
			t.Errorf("%d documents: %d are left", n, len(seen))
		}
	}
}

// BenchmarkFeatureRanks measures a query of some documents, the cells of which are its documents × features.
func BenchmarkFeatureRanks(b *testing.B) {
	for _, n := range []int{20, 120, 1000} {
		rng := rand.New(rand.NewPCG(7, 8))
		const features = 136
		grades, x := make([]float64, n), make([]float32, n*features)
		for i := range grades {
			grades[i] = float64(max(0, rng.IntN(5)-2))
		}
		for i := range x {
			if x[i] = float32(rng.NormFloat64()); i%3 == 0 { // of each feature a part: 3 does not divide 136
				x[i] = float32(max(0, math.Exp(float64(x[i]))-1))
			}
		}
		values := make([]float64, features)
		cells := func(b *testing.B) {
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(x)), "ns/cell")
		}
		m := measure.MustParse("map", measure.LETOR3)
		b.Run("ranks"+strconv.Itoa(n), func(b *testing.B) {
			r := featureRanks{measure: m}
			for b.Loop() {
				r.fill(values, grades, x)
			}
			cells(b)
		})
		b.Run("ranker"+strconv.Itoa(n), func(b *testing.B) { // a sort of scores for every feature
			ranker, column := measure.Ranker{Ties: measure.TiesAverage}, make([]float64, n)
			for b.Loop() {
				for f := range values {
					for i := range column {
						column[i] = float64(x[i*features+f])
					}
					values[f], _ = ranker.Value(m, grades, column)
				}
			}
			cells(b)
		})
	}
}
