package measure_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/eval/measure"
)

// weightedData are queries with ties and some without a relevant document, their scores, and the
// data and scores in which each query stands as often as its weight says.
func weightedData(t *testing.T, rng *rand.Rand) (d, copied *dataset.Dataset, scores, copiedScores []float64) {
	t.Helper()
	var one, many dataset.Builder
	weights := []float64{2, 0, 1, 3, 1, 2, 0}
	for i, w := range weights {
		n := 2 + rng.IntN(6)
		grades, own, x := make([]float64, n), make([]float64, n), make([]float32, n)
		for j := range grades {
			grades[j], own[j] = float64(max(0, rng.IntN(4)-1)), float64(rng.IntN(4))
		}
		if err := one.Add(strconv.Itoa(i), grades, x, nil); err != nil {
			t.Fatal(err)
		}
		scores = append(scores, own...)
		for k := range int(w) {
			if err := many.Add(fmt.Sprint(i, ".", k), grades, x, nil); err != nil {
				t.Fatal(err)
			}
			copiedScores = append(copiedScores, own...)
		}
	}
	d, copied = one.Dataset(), many.Dataset()
	if err := d.Weigh(weights, slices.Repeat([]float64{3}, d.Docs())); err != nil {
		t.Fatal(err)
	}
	return d, copied, scores, copiedScores
}

// Means over queries with weights are those over copies of the queries, for every way to take
// them; a query of weight 0 counts nowhere, and weights of documents do not matter.
func TestWeightedMeans(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	for range 50 {
		d, copied, scores, copiedScores := weightedData(t, rng)
		c, err := measure.ParseConvention([]string{"letor3", "standard-skip"}[rng.IntN(2)])
		if err != nil {
			t.Fatal(err)
		}
		measures := []measure.Measure{measure.MustParse("map", c), measure.MustParse("ndcg@3", c)}
		got, err := measure.Evaluate(d, scores, measures, measure.TiesPessimistic)
		if err != nil {
			t.Fatal(err)
		}
		want, err := measure.Evaluate(copied, copiedScores, measures, measure.TiesPessimistic)
		if err != nil {
			t.Fatal(err)
		}
		same := func(what string, got, want float64) {
			if math.Abs(got-want) > 1e-14 && !(math.IsNaN(got) && math.IsNaN(want)) {
				t.Fatalf("%s is %v, of copies %v", what, got, want)
			}
		}
		plain := d.Clone()
		if err := plain.Weigh(nil, nil); err != nil {
			t.Fatal(err)
		}
		unweighted, err := measure.Evaluate(plain, scores, measures, measure.TiesPessimistic)
		if err != nil {
			t.Fatal(err)
		}
		var ranker measure.Ranker
		for _, m := range measures {
			same("mean", got.Mean(m), want.Mean(m))
			same("tie-neutral mean", got.TieNeutral(m), want.TieNeutral(m))
			a, _ := ranker.Mean(d, scores, m)
			b, _ := ranker.Mean(copied, copiedScores, m)
			same("ranker's mean", a, b)
			pooled, of := measure.Pool(unweighted, got), measure.Pool(unweighted, want)
			same("pooled mean", pooled.Mean(m), of.Mean(m))
			same("pooled mean the other way round", measure.Pool(got, unweighted).Mean(m), of.Mean(m))
			for i, w := range got.Weights() {
				if v := got.PerQuery(m)[i]; w == 0 && v == v {
					t.Fatalf("query %d of weight 0 has the value %v", i, v)
				}
			}
		}
		if unweighted.Weights() != nil || len(got.Weights()) != len(d.Queries) {
			t.Fatalf("weights are %v, without %v", got.Weights(), unweighted.Weights())
		}
		if ties := got.TieStats(); ties.Queries > 5 {
			t.Fatalf("%d queries of 5 that count have pairs", ties.Queries)
		}
	}
}

// Values query by query have a column of weights where there are any.
func TestWeightedCSV(t *testing.T) {
	d, _, scores, _ := weightedData(t, rand.New(rand.NewPCG(4, 5)))
	r, err := measure.Evaluate(d, scores, []measure.Measure{measure.MustParse("auc", measure.LETOR3)}, measure.TiesInput)
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	if err := r.WriteCSV(&text); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(text.String(), "\n")
	if lines[0] != "query,weight,auc" || !strings.HasPrefix(lines[1], "0,2,") || lines[2] != "1,0," {
		t.Errorf("CSV is\n%s", text.String())
	}
}

// Nothing can be chosen by data all of whose queries weigh nothing, or of which those that a
// measure tells apart do; and their grades do not settle the threshold.
func TestQueriesOfWeightZero(t *testing.T) {
	var b dataset.Builder
	for id, grades := range map[string][]float64{"a": {0.5, 0}, "b": {0, 0}} {
		if err := b.Add(id, grades, make([]float32, 2), nil); err != nil {
			t.Fatal(err)
		}
	}
	d, m := b.Dataset(), measure.MustParse("map", measure.LETOR3)
	weights := []float64{0, 1}
	if d.Queries[0].ID == "b" {
		weights = []float64{1, 0}
	}
	if got := measure.ConventionOf(measure.For(m, d)).Threshold(); got != 0.5 {
		t.Errorf("threshold is %v", got)
	}
	if err := measure.CheckVaries(measure.For(m, d), d); err != nil {
		t.Error(err)
	}
	if err := d.Weigh(weights, nil); err != nil {
		t.Fatal(err)
	}
	if got := measure.ConventionOf(measure.For(m, d)).Threshold(); got != 1 {
		t.Errorf("with a weight of 0 the threshold is %v", got)
	}
	if err := measure.CheckVaries(m, d); err == nil || !strings.Contains(err.Error(), "found no query on which map depends") {
		t.Errorf("error is %v", err)
	}
	none := d.Filter(func(q *dataset.Query) bool { return q.ID == "a" })
	if err := measure.CheckVaries(m, none); err == nil || err.Error() != "weights of queries: all are 0, expected one at least that is not" {
		t.Errorf("error is %v", err)
	}
}
