package model

import (
	"cmp"
	"errors"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/model/fuse"
)

// filling returns a callback that writes the rows of q. It leaves missing values as it finds them.
func filling(q *dataset.Query) func(int, []float32) {
	return func(i int, row []float32) {
		for j, v := range q.Row(i) {
			if v == v {
				row[j] = v
			}
		}
	}
}

// bind binds m to names.
func bind(t testing.TB, m *Model, names ...string) *Binding {
	t.Helper()
	b, err := m.BindNames(names)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Claim: documents with features in any order, with unknown ones among them, are scored as Model.Score
// scores them in a data set, whatever the model does to features. The ranking is the stable order of the
// scores.
func TestBindingRanksAsScoreDoes(t *testing.T) {
	all := kinds(t)
	rapid.Check(t, func(r *rapid.T) {
		m := *all[rapid.SampledFrom([]string{"linear", "trees", "pairs"}).Draw(r, "kind")]
		m.FeatureNames, m.Missing = []string{"a", "b", "c"}, dataset.MissingMin
		m.Normalization = rapid.SampledFrom([]dataset.Normalization{dataset.NoNormalization, dataset.MinMax, dataset.ZScore}).Draw(r, "normalization")
		if rapid.Bool().Draw(r, "transforms") {
			m.Transforms = threeChains(t)
		}
		if rapid.Bool().Draw(r, "views") {
			m.Views, m.FeatureNames = dataset.Views{dataset.RankView, dataset.RawView, dataset.ZScoreView}, []string{"a"}
			m.Transforms = nil
		}
		d := randomQueries(5)
		d.FeatureNames = []string{"a", "b", "c", "d", "e"}
		d = turned(d, rapid.Permutation([]int{0, 1, 2, 3, 4}).Draw(r, "order"))
		d.IgnoreOthers = true
		d.Change(func(x []float32) {
			for i := 1; i < len(x); i += 4 {
				x[i] = float32(math.NaN())
			}
		})
		want, err := m.Score(d)
		if err != nil {
			r.Fatal(err)
		}
		b := bind(t, &m, d.FeatureNames...)
		var order []int
		for i := range d.Queries {
			q := &d.Queries[i]
			scores := want[q.Start : q.Start+q.Len()]
			got := make([]float64, q.Len())
			if err := b.Score(got, filling(q)); err != nil || !slices.Equal(got, scores) {
				r.Fatalf("%q: %v, %v, want %v", d.FeatureNames, got, err, scores)
			}
			stable := make([]int, q.Len())
			for doc := range stable {
				stable[doc] = doc
			}
			slices.SortStableFunc(stable, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
			if order, err = b.Rank(order[:0], q.Len(), filling(q)); err != nil || !slices.Equal(order, stable) {
				r.Fatalf("order %v, %v, want %v", order, err, stable)
			}
		}
	})
}

// Claim: a feature that the caller does not have is a missing value, as in data that have only missing
// values of it. It is an error without a rule for missing values, or beside an unknown name, and lists all
// names.
func TestBindingWithoutFeatures(t *testing.T) {
	m := linear(1, -2, 3)
	m.FeatureNames, m.Normalization = []string{"bm25", "clicks", "age"}, dataset.MinMax
	for _, c := range []struct {
		missing  dataset.Missing
		names    []string
		want     string
		lacks    []string
		unneeded []string
	}{
		{dataset.MissingError, []string{"age"}, `without "bm25", "clicks"; the model was trained without a rule for missing values`, []string{"bm25", "clicks"}, nil},
		{dataset.MissingMin, []string{"age", "click", "bm25"}, `without "clicks": did you mean "click"?; with "click"`, []string{"clicks"}, []string{"click"}},
	} {
		m.Missing = c.missing
		_, err := m.BindNames(c.names)
		e, ok := errors.AsType[*dataset.NamesError](err)
		if !ok || !strings.Contains(err.Error(), c.want) || !slices.Equal(e.Missing, c.lacks) || c.unneeded != nil && !slices.Equal(e.Unexpected, c.unneeded) {
			t.Errorf("%q: error is %v", c.names, err)
		}
	}
	for _, missing := range []dataset.Missing{dataset.MissingZero, dataset.MissingMin} {
		m.Missing = missing
		b := bind(t, m, "age", "bm25")
		if got := b.Missing(); !slices.Equal(got, []string{"clicks"}) {
			t.Errorf("missing %q", got)
		}
		d := randomQueries(3)
		d.FeatureNames = []string{"age", "bm25", "clicks"}
		d.Change(func(x []float32) {
			for i := 2; i < len(x); i += 3 {
				x[i] = float32(math.NaN())
			}
		})
		want, err := m.Score(d)
		if err != nil {
			t.Fatal(err)
		}
		for i := range d.Queries {
			q, got := &d.Queries[i], make([]float64, d.Queries[i].Len())
			err := b.Score(got, func(i int, row []float32) { copy(row, q.Row(i)) }) // a row has the two features of the caller
			if scores := want[q.Start : q.Start+q.Len()]; err != nil || !slices.Equal(got, scores) {
				t.Fatalf("%v: %v, %v, want %v", missing, got, err, scores)
			}
		}
	}
}

// Claim: what cannot be bound or ranked is an error that says what was found.
func TestBindingErrors(t *testing.T) {
	unnamed, m, short := linear(1, 2), linear(1, 2), linear(1, 2)
	m.FeatureNames = []string{"bm25", "age"}
	short.FeatureNames, short.Params = m.FeatureNames, []float64{1}
	for _, c := range []struct {
		m     *Model
		names []string
		want  string
	}{
		{nil, []string{"a"}, errNoScorer.Error()},
		{&Model{}, []string{"a"}, errNoScorer.Error()},
		{short, []string{"age", "bm25"}, "found 1 parameters, expected the 2 of the linear scorer"},
		{unnamed, []string{"a", "b"}, "found a model without feature names"},
		{m, nil, "found no feature names, expected those of the model's 2 features"},
		{m, []string{"age", "bm25", "age"}, `found two features of the data named "age"`},
	} {
		if _, err := c.m.BindNames(c.names); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: error is %v, want %q", c.names, err, c.want)
		}
	}
	b, kept := bind(t, m, "age", "bm25"), []int{7}
	forgets := func(i int, row []float32) {
		if row[0] = 1; i == 0 {
			row[1] = 1
		}
	}
	for _, c := range []struct {
		n    int
		fill func(int, []float32)
		want string
	}{
		{-1, forgets, "found -1 documents, expected 0 or more"},
		{2, forgets, "found a missing value (NaN) of feature 1 (bm25) for document 2"},
		{1, func(_ int, row []float32) { row[0], row[1] = float32(math.Inf(1)), 1 }, "found the value +Inf for feature 2 (age) of document 1"},
	} {
		if got, err := b.Rank(kept, c.n, c.fill); err == nil || !strings.Contains(err.Error(), c.want) || !slices.Equal(got, kept) {
			t.Errorf("%d documents: %v, error is %v, want %q", c.n, got, err, c.want)
		}
	}
	m.Normalization = dataset.ZScore
	for n, want := range [][]int{{7}, {7, 0}, {7, 0, 1}} { // equal scores
		got, err := bind(t, m, "age", "bm25").Rank(kept, n, func(_ int, row []float32) { row[0], row[1] = 1, 1 })
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%d documents: %v, %v, want %v", n, got, err, want)
		}
	}
}

// Claim: after the first call, Rank allocates nothing for any kind of model, with normalization, views and
// another order of features.
func TestBindingAllocatesNothing(t *testing.T) {
	if raceDetector {
		t.Skip("the race detector allocates")
	}
	models := kinds(t)
	models["forest"] = chain(t, 200)
	models["forest"].FeatureNames = []string{"a"}
	views := linear(1, 2, 3, 4)
	views.Views, views.FeatureNames, views.Normalization = dataset.Views{dataset.RankView, dataset.ZScoreView}, []string{"a", "b"}, dataset.MinMax
	models["views"] = views
	d := randomQueries(3)
	for name, m := range models {
		if m.FeatureNames == nil {
			m.FeatureNames = []string{"a", "b", "c"}
		}
		m.Missing = dataset.MissingZero
		b := bind(t, m, "c", "b", "a")
		q, order := &d.Queries[0], make([]int, 0, 10)
		n := q.Len()
		rank := func() {
			var err error
			if order, err = b.Rank(order[:0], n, func(i int, row []float32) { copy(row, q.Row(i)[:2]) }); err != nil {
				t.Fatal(err)
			}
		}
		if got := testing.AllocsPerRun(50, rank); got != 0 {
			t.Errorf("%s: a call allocates %v times", name, got)
		}
	}
}

// Claim: a binding ranks from many goroutines at once, also from within its callback.
func TestBindingIsSafeForConcurrentUse(t *testing.T) {
	a, c := kinds(t)["linear"], kinds(t)["pairs"]
	a.FeatureNames, c.FeatureNames = []string{"a", "b", "c"}, []string{"c", "a", "b"}
	m, err := NewFused(fuse.Rule{}, []*Model{a, c}, []float64{1, 2})
	if err != nil {
		t.Fatal(err)
	}
	d := randomQueries(3)
	d.FeatureNames = []string{"b", "c", "a"}
	scores, err := m.Score(d)
	if err != nil {
		t.Fatal(err)
	}
	b := bind(t, m, d.FeatureNames...)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for i := range d.Queries {
				q := &d.Queries[i]
				want := AppendOrder(nil, scores[q.Start:q.Start+q.Len()])
				got, err := b.Rank(nil, q.Len(), func(doc int, row []float32) {
					if inner, err := b.Rank(nil, q.Len(), filling(q)); err != nil || !slices.Equal(inner, want) {
						t.Errorf("within the callback: %v, %v, want %v", inner, err, want)
					}
					filling(q)(doc, row)
				})
				if err != nil || !slices.Equal(got, want) {
					t.Errorf("%v, %v, want %v", got, err, want)
				}
			}
		})
	}
	wg.Wait()
}
