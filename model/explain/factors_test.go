package explain

import (
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/listwise/listwise/model/scorer"
)

// Claim: with one background document, the integrated gradients of a factorization machine are the Shapley values by all
// subsets of the features. Both divide a product of two features equally.
func TestFactorsAreShapleyValues(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(r, "seed"), 5))
		features := 1 + rng.IntN(6)
		m := modelOf(scorer.FM{Features: features, Factors: 1 + rng.IntN(4)}, rng)
		d, whole := randomData(t, rng, 4, features), randomData(t, rng, 1, features)
		background := whole.KeepDocs(func(_, doc int) bool { return doc == 0 })
		var parts [2][]float64
		for i, a := range []Attribution{Gradients, Background} {
			e, err := New(m, background, Options{Attribution: a})
			if err != nil {
				r.Fatal(err)
			}
			q, err := e.Explain(&d.Queries[0])
			if err != nil {
				r.Fatal(err)
			}
			parts[i] = append(q.Parts, q.Base)
		}
		near(t, "fm", parts[0], parts[1])
	})
}
