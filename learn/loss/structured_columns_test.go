package loss

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// Falls that are computed when needed, as in large queries, give the same bits as those
// in a table.
func TestColumnSearchWithoutTable(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 9))
	for _, name := range []string{"map", "auc"} {
		for range 50 {
			grades := gradesOf(rng, 2+rng.IntN(40))
			bound, err := StructuredHinge{Gain: additive(t, name)}.Bind(grades, nil)
			if err != nil {
				t.Fatal(err)
			}
			kept, ok := bound.(*boundStructured)
			if !ok {
				continue
			}
			search := kept.search.(*columnSearch)
			if search.falls == nil {
				t.Fatal("a small query keeps no falls")
			}
			asked := *kept
			asked.search = &columnSearch{gain: search.gain}
			scores, a, b := make([]float64, len(grades)), make([]float64, len(grades)), make([]float64, len(grades))
			for i := range scores {
				scores[i] = rng.NormFloat64()
			}
			var scratch Scratch
			if v, w := kept.Eval(scores, a, &scratch), asked.Eval(scores, b, &scratch); v != w || !slices.Equal(a, b) {
				t.Errorf("%s: %v with a table, %v without", name, v, w)
			}
		}
	}
}
