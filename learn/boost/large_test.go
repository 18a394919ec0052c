package boost

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/datatest"
)

// setManyDocs has searches be a largeSearch from so many documents on, during a test.
func setManyDocs(t interface{ Cleanup(func()) }, docs int) {
	before := manyDocs
	manyDocs = docs
	t.Cleanup(func() { manyDocs = before })
}

// sameAsSearch checks that rounds by a largeSearch are those by a search, bit for bit.
func sameAsSearch[R comparable](t interface{ Fatalf(string, ...any) }, rounds, docs int, start func() booster[R]) {
	defer func(before int) { manyDocs = before }(manyDocs)
	manyDocs = docs + 1
	want := start()
	manyDocs = 1
	got := start()
	for i := range rounds {
		w, more := want.Next()
		g, ok := got.Next()
		if g != w || ok != more {
			t.Fatalf("round %d is %+v, %v; want %+v, %v", i+1, g, ok, w, more)
		}
	}
}

// A largeSearch finds the weak rankers that a search finds: few documents, with ties, few
// different values, weights and every option.
func TestLargeSearchOfFewDocuments(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := draw(t)
		o := Options{
			Cuts:     rapid.IntRange(0, 4).Draw(t, "cuts"),
			Up:       rapid.Bool().Draw(t, "up"),
			PerQuery: rapid.Bool().Draw(t, "per query"),
			Workers:  rapid.IntRange(1, 3).Draw(t, "workers"),
		}
		exact := rapid.Bool().Draw(t, "exact")
		sameAsSearch(t, 12, d.Docs(), func() booster[Round] { return newRankBoost(t, d, o, exact) })
		sameAsSearch(t, 6, d.Docs(), func() booster[Round] { return newFRank(t, d, FRankOptions{Options: o}) })
	})
}

// Features of every kind: so many values that bins hold several, few, one, the same ones twice, −0
// beside 0, most documents with one value.
func TestLargeSearchOfManyValues(t *testing.T) {
	d := manyValues(t, 3000, 5)
	for _, cuts := range []int{0, 10, 300, 2000} {
		for _, up := range []bool{true, false} {
			t.Run(fmt.Sprintf("cuts%d,up%v", cuts, up), func(t *testing.T) {
				o := Options{Cuts: cuts, Up: up, PerQuery: up, Workers: 2}
				sameAsSearch(t, 120, d.Docs(), func() booster[Round] { return newRankBoost(t, d, o, !up) })
			})
		}
	}
}

func manyValues(t *testing.T, docs, queries int) *dataset.Dataset {
	t.Helper()
	rng := rand.New(rand.NewPCG(5, 6))
	negative := float32(0)
	negative = -negative
	var of []datatest.Query
	for range queries {
		q := datatest.Query{}
		for range docs / queries {
			grade := rng.IntN(3)
			noise := func(much float64) float32 { return float32(float64(grade) + much*rng.NormFloat64()) }
			x := []float32{
				noise(3), noise(5), float32(int(noise(4))), 7, negative, float32(int(100 * noise(2))), noise(4), noise(30),
				0, float32(rng.IntN(2)), noise(3), noise(6), noise(7), noise(8), noise(9), noise(10), noise(11), noise(12), noise(13), noise(14),
			}
			x[8] = x[0] // a copy
			if rng.IntN(4) > 0 {
				x[6] = float32(0)
			} else if rng.IntN(2) > 0 {
				x[6] = negative
			}
			q.Grades, q.X = append(q.Grades, float64(grade)/2), append(q.X, x...)
		}
		of = append(of, q)
	}
	return datatest.Queries(t, of...)
}
