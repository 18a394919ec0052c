package dataset_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/datatest"
)

// checkLayout checks that the queries tile the blocks in order.
func checkLayout(t *rapid.T, d *dataset.Dataset) {
	row := 0
	for i := range d.Queries {
		q := &d.Queries[i]
		if q.Start != row || q.Len() == 0 || len(q.X) != q.Len()*d.Features {
			t.Fatalf("query %d: start %d, %d documents, %d values; expected start %d", i, q.Start, q.Len(), len(q.X), row)
		}
		if &q.Grades[0] != &d.Grades()[row] || &q.X[0] != &d.X()[row*d.Features] {
			t.Fatalf("query %d is no view of the blocks", i)
		}
		row += q.Len()
	}
	if row != d.Docs() || len(d.X()) != row*d.Features {
		t.Fatalf("%d rows in queries, %d documents, %d values", row, d.Docs(), len(d.X()))
	}
}

func TestKeepDocsKeepsExactlyTheChosenDocuments(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := datatest.Random(t)
		all := datatest.Documents(d)
		keep := rapid.SliceOfN(rapid.Bool(), len(all), len(all)).Draw(t, "keep")
		var want []datatest.Document
		for i, k := range keep {
			if k {
				want = append(want, all[i])
			}
		}
		got := d.KeepDocs(func(query, doc int) bool { return keep[d.Queries[query].Start+doc] })
		checkLayout(t, got)
		if !slices.Equal(datatest.Documents(got), want) {
			t.Fatalf("kept %v\nexpected %v", datatest.Documents(got), want)
		}
	})
}

func TestSubsetTakesQueriesInTheGivenOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := datatest.Random(t)
		all := datatest.Documents(d)
		order := rapid.Permutation(indices(len(d.Queries))).Draw(t, "order")
		order = order[:rapid.IntRange(0, len(order)).Draw(t, "n")]
		var want []datatest.Document
		for _, i := range order {
			q := &d.Queries[i]
			want = append(want, all[q.Start:q.Start+q.Len()]...)
		}
		got := d.Subset(order)
		checkLayout(t, got)
		if !slices.Equal(datatest.Documents(got), want) {
			t.Fatalf("got %v\nexpected %v", datatest.Documents(got), want)
		}
	})
}

func indices(n int) []int {
	s := make([]int, n)
	for i := range s {
		s[i] = i
	}
	return s
}

func TestConcatUndoesSubset(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := datatest.Random(t)
		cut := rapid.IntRange(0, len(d.Queries)).Draw(t, "cut")
		all := indices(len(d.Queries))
		got, err := dataset.Concat(d.Subset(all[:cut]), d.Subset(all[cut:]))
		if err != nil {
			t.Fatal(err)
		}
		checkLayout(t, got)
		if !slices.Equal(datatest.Documents(got), datatest.Documents(d)) {
			t.Fatalf("got %v\nexpected %v", datatest.Documents(got), datatest.Documents(d))
		}
	})
}

// build makes a data set of one-document queries with the given ids.
func build(t *testing.T, features int, ids ...string) *dataset.Dataset {
	t.Helper()
	var b dataset.Builder
	for _, id := range ids {
		if err := b.Add(id, []float64{1}, make([]float32, features), nil); err != nil {
			t.Fatal(err)
		}
	}
	return b.Dataset()
}

func TestConcatRefusesWhatDoesNotFit(t *testing.T) {
	named := func(d *dataset.Dataset, names ...string) *dataset.Dataset {
		d.FeatureNames = names
		return d
	}
	for _, c := range []struct {
		sets []*dataset.Dataset
		want string
	}{
		{nil, "no data sets"},
		{[]*dataset.Dataset{build(t, 2, "a"), build(t, 3, "b")}, "data set 2 has 3 features, expected the 2 of data set 1"},
		{[]*dataset.Dataset{build(t, 2, "a", "b"), build(t, 2, "c"), build(t, 2, "b")}, `query "b" is in data set 1 and data set 3`},
		{[]*dataset.Dataset{named(build(t, 2, "a"), "x", "y"), named(build(t, 2, "b"), "x", "z")}, `feature 2 is named "z", expected "y"`},
	} {
		if _, err := dataset.Concat(c.sets...); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, expected %q", err, c.want)
		}
	}
	d, err := dataset.Concat(build(t, 2, "a"), named(build(t, 2, "b"), "x", "y"))
	if err != nil || !slices.Equal(d.FeatureNames, []string{"x", "y"}) {
		t.Errorf("names of the set that has some: %v, %v", d, err)
	}
}

func TestSubsetHasItsOwnBlocksAndOrder(t *testing.T) {
	var b dataset.Builder
	for _, id := range []string{"a", "b"} {
		b.Add(id, []float64{0, 1}, []float32{1, 2}, []string{id + "1", id + "2"})
	}
	d := b.Dataset()
	d.SetInputRows([]int{0, 2, 1, 3})
	s := d.Subset([]int{1})
	s.Queries[0].X[0], s.Queries[0].Grades[0] = 99, 9
	if d.Queries[1].X[0] != 1 || d.Queries[1].Grades[0] != 0 {
		t.Error("changing a subset changed its source")
	}
	dst := make([]float64, 2)
	s.ToInputOrder(dst, []float64{5, 6})
	if !slices.Equal(dst, []float64{5, 6}) {
		t.Errorf("input order of a subset: %v, expected its rows' order", dst)
	}
	if s.Queries[0].DocID(1) != "b2" {
		t.Errorf("document id %q, expected b2", s.Queries[0].DocID(1))
	}
}

func TestSubsetPanicsOnARepeatedQuery(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	build(t, 1, "a").Subset([]int{0, 0})
}

// Claim: KeepFeatures gives the chosen columns of every document, in the order asked for, as
// copies, with all else as it was.
func TestKeepFeaturesKeepsExactlyTheChosenColumns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := datatest.Random(t)
		columns := rapid.Permutation(indices(d.Features)).Draw(t, "order")
		columns = columns[:rapid.IntRange(1, len(columns)).Draw(t, "kept")]
		before := datatest.Documents(d)
		kept := d.KeepFeatures(columns)
		checkLayout(t, kept)
		if kept.Features != len(columns) || kept.Docs() != d.Docs() || len(kept.Queries) != len(d.Queries) {
			t.Fatalf("%d features of %d documents in %d queries", kept.Features, kept.Docs(), len(kept.Queries))
		}
		missing := 0
		for i := range d.Queries {
			q, k := &d.Queries[i], &kept.Queries[i]
			if k.ID != q.ID || !slices.Equal(k.Grades, q.Grades) {
				t.Fatalf("query %d: %q %v, expected %q %v", i, k.ID, k.Grades, q.ID, q.Grades)
			}
			for j := range q.Len() {
				for at, c := range columns {
					want, got := float64(q.Row(j)[c]), float64(k.Row(j)[at])
					if math.IsNaN(want) {
						missing++
					}
					if got != want && !(math.IsNaN(got) && math.IsNaN(want)) {
						t.Fatalf("query %d, document %d, column %d: %v, expected %v", i, j, c, got, want)
					}
				}
			}
		}
		if kept.Missing() != missing {
			t.Fatalf("%d missing values, expected %d", kept.Missing(), missing)
		}
		clear(kept.X())
		if !slices.Equal(before, datatest.Documents(d)) {
			t.Fatal("the source changed with the copy")
		}
	})
}
