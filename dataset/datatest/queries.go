package datatest

import (
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/internal/random"
)

// Query is a query that a test defines.
type Query struct {
	Grades []float64
	X      []float32 // row-major, with the same number of features for each grade
}

// Queries returns a data set of the given queries, with the ids "0", "1", and so on.
func Queries(t testing.TB, queries ...Query) *dataset.Dataset {
	t.Helper()
	var b dataset.Builder
	for i, q := range queries {
		if err := b.Add(strconv.Itoa(i), q.Grades, q.X, nil); err != nil {
			t.Fatal(err)
		}
	}
	return b.Dataset()
}

// Systems returns queries of 12 documents each and the scores of three systems. The first agrees well with the
// grades, the second a little, and the third contradicts them.
func Systems(t testing.TB, queries int) (*dataset.Dataset, [][]float64) {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	list, systems := make([]Query, queries), make([][]float64, 3)
	for q := range list {
		grades := make([]float64, 12)
		for i := range grades {
			grades[i] = float64(rng.IntN(3))
			for s, knowledge := range []float64{1, 0.4, -1} {
				systems[s] = append(systems[s], knowledge*grades[i]+random.Normal(rng))
			}
		}
		list[q] = Query{grades, make([]float32, 12)}
	}
	return Queries(t, list...), systems
}
