package dataset_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/datatest"
)

// weigh gives a data set weights that tell from which query and document they are.
func weigh(t rapid.TB, d *dataset.Dataset) {
	t.Helper()
	queries, documents := make([]float64, len(d.Queries)), make([]float64, d.Docs())
	for i := range d.Queries {
		q := &d.Queries[i]
		queries[i] = queryWeight(q.ID)
		for j := range q.Len() {
			documents[q.Start+j] = docWeight(q, j)
		}
	}
	if err := d.Weigh(queries, documents); err != nil {
		t.Fatal(err)
	}
}

func queryWeight(id string) float64 {
	n, err := strconv.Atoi(strings.TrimPrefix(id, "q"))
	if err != nil {
		panic(err)
	}
	return float64(n + 2)
}

// docWeight is 2 plus what is known of a document, so that it is never 1.
func docWeight(q *dataset.Query, j int) float64 { return 2 + q.Grades[j] + queryWeight(q.ID)/16 }

// Whatever is made of data with weights has those of its queries and documents.
func TestWeightsStayWithTheirQueriesAndDocuments(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := datatest.Random(t)
		weigh(t, d)
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		other, err := dataset.Concat(d.Filter(func(q *dataset.Query) bool { return q.ID == "q0" }), d.Filter(func(q *dataset.Query) bool { return q.ID != "q0" }))
		if err != nil {
			t.Fatal(err)
		}
		made := map[string]*dataset.Dataset{
			"Clone": d.Clone(), "Concat": other, "Subset": d.Subset(rng.Perm(len(d.Queries))),
			"KeepFeatures": d.KeepFeatures([]int{d.Features - 1}), "Normalize": dataset.Normalize(d, dataset.NoNormalization),
			"KeepDocs": d.KeepDocs(func(int, int) bool { return rng.IntN(2) == 0 }),
		}
		made["Clean"], _ = dataset.Clean(d, dataset.DropBad, 1)
		for name, m := range made {
			row := 0
			for i := range m.Queries {
				q := &m.Queries[i]
				if q.Weight() != queryWeight(q.ID) || m.QueryWeights()[i] != q.Weight() {
					t.Fatalf("%s: the weight of %s is %v", name, q.ID, q.Weight())
				}
				for j, w := range q.Weights() {
					if w != docWeight(q, j) || m.Weights()[row] != w {
						t.Fatalf("%s: the weight of document %d of %s is %v, expected %v", name, j, q.ID, w, docWeight(q, j))
					}
					row++
				}
			}
			if row != m.Docs() {
				t.Fatalf("%s: %d weights of %d documents", name, row, m.Docs())
			}
		}
	})
}

// Weights of 1 are none: they are not stored, and the fingerprint is that of data without;
// that of data with other weights is another.
func TestWeightsOfOneAreNone(t *testing.T) {
	plain, ones := datatest.Split(), datatest.Split()
	if err := ones.Weigh([]float64{1, 1, 1}, []float64{1, 1, 1, 1}); err != nil {
		t.Fatal(err)
	}
	if ones.Weighted() || ones.Weights() != nil || ones.QueryWeights() != nil || ones.Queries[0].Weights() != nil || ones.Fingerprint() != plain.Fingerprint() {
		t.Errorf("weights of 1 are %v, %v", ones.QueryWeights(), ones.Weights())
	}
	known := map[string]bool{plain.Fingerprint(): true}
	for _, w := range []struct{ queries, documents []float64 }{
		{[]float64{1, 2, 1}, nil}, {[]float64{2, 1, 1}, nil}, {nil, []float64{2, 1, 1, 1}}, {nil, []float64{1, 2, 1, 1}}, {[]float64{1, 2, 1}, []float64{1, 2, 1, 1}},
	} {
		d := datatest.Split()
		if err := d.Weigh(w.queries, w.documents); err != nil {
			t.Fatal(err)
		}
		if known[d.Fingerprint()] {
			t.Errorf("weights %v do not change the fingerprint", w)
		}
		known[d.Fingerprint()] = true
		part := d.Filter(func(q *dataset.Query) bool { return q.ID == "b" })
		if w.queries == nil && part.Weights() != nil || part.QueryWeights() != nil || part.Weighted() {
			t.Errorf("weights %v: a part whose weights are 1 has the weights %v, %v", w, part.QueryWeights(), part.Weights())
		}
	}
}

// Weights that do not fit, are no weights or are all 0 are refused, and a part of the data all
// of whose weights are 0 is found out.
func TestWrongWeights(t *testing.T) {
	for want, w := range map[string]struct{ queries, documents []float64 }{
		"found 2 weights of queries, expected 3":                                                       {[]float64{1, 2}, nil},
		"found 1 weights of documents, expected 4":                                                     {nil, []float64{1}},
		"queries: number 2: found the weight -1, expected a finite number that is not negative":        {[]float64{1, -1, 1}, nil},
		"documents: number 4: found the weight NaN, expected a finite number that is not negative":     {nil, []float64{1, 1, 1, math.NaN()}},
		"documents: number 1: found the weight +Inf, expected a finite number that is not negative":    {nil, []float64{math.Inf(1), 1, 1, 1}},
		"weights of queries: all are 0, expected one at least that is not":                             {[]float64{0, 0, 0}, nil},
		"weights of documents: all are 0, expected one at least that is not":                           {nil, []float64{0, 0, 0, 0}},
		"weights of documents: all of the queries that count are 0, expected one at least that is not": {[]float64{0, 1, 1}, []float64{1, 1, 0, 0}},
		"weights of queries: all are 0, expected one at least that is not (those of käse, b)":          {[]float64{1, 0, 0}, nil},
	} {
		d := datatest.Split()
		err := d.Weigh(w.queries, w.documents)
		if err == nil {
			if text, part := strings.CutSuffix(want, " (those of käse, b)"); part {
				d, want = d.Filter(func(q *dataset.Query) bool { return q.ID != "a" }), text
			}
			err = d.CheckWeights()
		}
		if err == nil || err.Error() != want {
			t.Errorf("error is %v, want %s", err, want)
		}
	}
	d := datatest.Split()
	if err := d.Weigh([]float64{0, 2, 1}, []float64{0, 0, 0, 3}); err != nil || d.CheckWeights() != nil {
		t.Errorf("errors are %v, %v", err, d.CheckWeights())
	}
	counting := d.Counting()
	if len(counting.Queries) != 1 || counting.Queries[0].ID != "b" || !slices.Equal(counting.Weights(), []float64{3}) {
		t.Errorf("queries that count are %v", counting.Queries)
	}
	if counting.Counting() != counting {
		t.Error("all queries count, and are copied")
	}
}
