package measure_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/eval/measure"
)

// rerankedData returns queries of up to 12 documents with an engine's values and a system's scores, both with ties.
func rerankedData(t *testing.T, rng *rand.Rand) (d *dataset.Dataset, values []float32, scores []float64) {
	t.Helper()
	var b dataset.Builder
	for q := range 30 {
		n := 1 + rng.IntN(12)
		grades, docs := make([]float64, n), make([]string, n)
		for i := range n {
			grades[i], docs[i] = float64(rng.IntN(3)), fmt.Sprint(rng.IntN(1000), "-", i)
			values = append(values, float32(rng.IntN(4)))
			scores = append(scores, []float64{-1e300, -1, 0, 1e-300, 0.1, 0.1 + 1e-12, 1e300, dataset.NotRetrieved}[rng.IntN(8)])
		}
		if err := b.Add(strconv.Itoa(q), grades, make([]float32, n), docs); err != nil {
			t.Fatal(err)
		}
	}
	return b.Dataset(), values, scores
}

var rerankMeasures = []measure.Measure{measure.MustParse("map", measure.Standard), measure.MustParse("ndcg@3", measure.Standard), measure.MustParse("mrr", measure.Standard)}

// valuesOf returns the values of all measures, and those under random ties.
func valuesOf(t *testing.T, d *dataset.Dataset, scores []float64, ties measure.TiePolicy) (all [][]float64) {
	t.Helper()
	r, err := measure.Evaluate(d, scores, rerankMeasures, ties)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range rerankMeasures {
		all = append(all, r.PerQuery(m), r.TieNeutralPerQuery(m))
	}
	return all
}

// Claim: reranking all documents gives the values of the system under every rule for ties. Reranking none or one gives
// the values of the engine, whose ties are in the order of the input.
func TestRerankEnds(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		d, values, scores := rerankedData(t, rng)
		places := measure.Places(d, values)
		engine := make([]float64, len(scores))
		for row, place := range places {
			engine[row] = -float64(place)
		}
		for ties := measure.TiesInput; ties <= measure.TiesTREC; ties++ {
			if diff := cmp.Diff(valuesOf(t, d, scores, ties), valuesOf(t, d, measure.Rerank(d, places, scores, 12, ties), ties)); diff != "" {
				t.Errorf("ties %s, all documents (-system +reranked):\n%s", ties, diff)
			}
			retrieved := slices.Clone(scores)
			for i, s := range retrieved {
				if s == dataset.NotRetrieved {
					retrieved[i] = 0
				}
			}
			for depth := range 2 {
				if diff := cmp.Diff(valuesOf(t, d, engine, ties), valuesOf(t, d, measure.Rerank(d, places, retrieved, depth, ties), ties)); diff != "" {
					t.Errorf("ties %s, depth %d (-engine +reranked):\n%s", ties, depth, diff)
				}
			}
		}
	}
}

// Claim: the documents beyond the depth are below, in the engine's order, and those above it are in the order of the
// system's scores, with its ties.
func TestRerankOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 20 {
		d, values, scores := rerankedData(t, rng)
		places := measure.Places(d, values)
		for depth := 1; depth < 12; depth++ {
			reranked := measure.Rerank(d, places, scores, depth, measure.TiesInput)
			for i := range d.Queries {
				start, n := d.Queries[i].Start, d.Queries[i].Len()
				for a := start; a < start+n; a++ {
					for b := start; b < start+n; b++ {
						above := values[a] > values[b] || values[a] == values[b] && a < b
						if above != (places[a] < places[b]) {
							t.Fatalf("values %v and %v of rows %d and %d have the places %d and %d", values[a], values[b], a, b, places[a], places[b])
						}
						want := above
						switch first, second := places[a] < depth, places[b] < depth; {
						case first && second, first && scores[a] == dataset.NotRetrieved:
							want = scores[a] > scores[b] && second
						case second && scores[b] == dataset.NotRetrieved:
							want = true
						case first != second:
							want = first
						}
						if want != (reranked[a] > reranked[b]) {
							t.Fatalf("depth %d, places %d and %d, scores %v and %v: reranked to %v and %v", depth, places[a], places[b], scores[a], scores[b], reranked[a], reranked[b])
						}
					}
				}
			}
		}
	}
}
