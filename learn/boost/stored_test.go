package boost

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/model/scorer"
)

// streamed returns the data as ones whose features are read query by query.
func streamed(d *dataset.Dataset) *dataset.Dataset {
	return d.Through(dataset.Lens{Features: d.Features, Append: func(dst, x []float32) []float32 { return append(dst, x...) }})
}

// wide returns data with the features of d several times, each time in another order of the documents.
func wide(t *testing.T, d *dataset.Dataset, times int) *dataset.Dataset {
	t.Helper()
	var b dataset.Builder
	for _, q := range d.Queries {
		var x []float32
		for i := range q.Len() {
			for k := range times {
				row := q.X[(i+k)%q.Len()*d.Features:][:d.Features]
				x = append(x, row...)
			}
		}
		if err := b.Add(q.ID, q.Grades, x, nil); err != nil {
			t.Fatal(err)
		}
	}
	return b.Dataset()
}

// memoryFor returns limits for all of RankBoost's plans: codes in memory and in the file, with several workers and
// kept orders or as few as can be.
func memoryFor(t *testing.T, d *dataset.Dataset) map[string]int64 {
	t.Helper()
	a, least := arrange(d, false), int64(0)
	fits := func(memory int64) bool {
		_, err := planStored(a, d.Features, Options{Memory: memory, Workers: 2})
		return err == nil
	}
	for step := int64(1) << 30; step > 0; step /= 2 {
		if !fits(least + step) {
			least += step
		}
	}
	least++
	return map[string]int64{"all": 0, "least": least, "more": least + 100*int64(len(a.rows)), "much": least + 200*int64(len(a.rows))}
}

// Claim: rounds on streamed data are those on data in memory, bit for bit, whatever memory there is.
func TestStoredSearch(t *testing.T) {
	d := wide(t, manyValues(t, 3000, 60), 6)
	setManyDocs(t, 1)
	defer func(before int) { storedPart = before }(storedPart)
	storedPart = 1024
	setPageDocs(t, 16)
	rounds := 150
	if testing.Short() {
		rounds = 30
	}
	for name, memory := range memoryFor(t, d) {
		for _, cuts := range []int{0, 300} {
			for _, workers := range []int{1, 3} {
				t.Run(fmt.Sprint(name, cuts, workers), func(t *testing.T) {
					o := Options{Cuts: cuts, Up: cuts == 0, Workers: workers, Memory: memory}
					got := newRankBoost(t, streamed(d), o, cuts > 0)
					o.Memory = 0
					want := newRankBoost(t, d, o, cuts > 0)
					defer func() {
						if err := got.Close(); err != nil {
							t.Error(err)
						}
					}()
					if inFile := got.large.codes == nil; inFile != (name == "least" || name == "more") {
						t.Fatalf("codes in the file: %v, with memory of %d bytes", inFile, memory)
					}
					if name == "least" && len(got.large.orders.slots) > 7 {
						t.Fatalf("%d orders are kept", len(got.large.orders.slots))
					}
					for i := range rounds {
						w, more := want.Next()
						g, ok := got.Next()
						if g != w || ok != more {
							t.Fatalf("round %d is %+v, %v; want %+v, %v", i+1, g, ok, w, more)
						}
					}
				})
			}
		}
	}
}

// setPageDocs sets pageDocs for a test: pages of few documents, which pass through the cache, for data that are few.
func setPageDocs(t *testing.T, n int) {
	t.Helper()
	before := pageDocs
	t.Cleanup(func() { pageDocs = before })
	pageDocs = n
}

// Claim: so are those whose pages are written around the cache, of which the last is not full.
func TestStoredSearchByPages(t *testing.T) {
	d := wide(t, manyValues(t, 3000, 60), 2)
	setManyDocs(t, 1)
	want, got := newRankBoost(t, d, Options{}, false), newRankBoost(t, streamed(d), Options{Memory: 1 << 30}, false)
	defer got.Close() //nolint:errcheck // another test's
	if n := len(got.large.rows); n%pageDocs == 0 || n < 2*pageDocs {
		t.Fatalf("%d documents do not fill pages and a part of one", n)
	}
	for i := range 20 {
		w, more := want.Next()
		if g, ok := got.Next(); g != w || ok != more {
			t.Fatalf("round %d is %+v, %v; want %+v, %v", i+1, g, ok, w, more)
		}
	}
}

// Claim: so are those on few documents with ties and queries without pairs.
func TestStoredSearchOfFewDocuments(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := draw(t)
		o := Options{Cuts: rapid.IntRange(0, 3).Draw(t, "cuts"), Up: rapid.Bool().Draw(t, "up"), Workers: rapid.IntRange(1, 3).Draw(t, "workers")}
		want, got := newRankBoost(t, d, o, false), newRankBoost(t, streamed(d), o, false)
		defer got.Close() //nolint:errcheck // another test's
		for i := range 10 {
			w, more := want.Next()
			if g, ok := got.Next(); g != w || ok != more {
				t.Fatalf("round %d is %+v, %v; want %+v, %v", i+1, g, ok, w, more)
			}
		}
	})
}

// Claim: the size of the file is told before the data are read; too little memory and no folder for the file are
// errors, and no file is left.
func TestStoredRefused(t *testing.T) {
	d := manyValues(t, 3000, 5)
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	var read atomic.Bool
	whole := d.Through(dataset.Lens{Features: d.Features, Append: func(dst, x []float32) []float32 {
		read.Store(true)
		return append(dst, x...)
	}})
	if _, err := NewRankBoost(whole, Options{Memory: 1000}, false); err == nil || !strings.Contains(err.Error(), "raise the limit") || read.Load() {
		t.Errorf("%v, want an error about memory before anything is read", err)
	}
	told := ""
	note := func(sentence string) {
		if told = sentence; read.Load() {
			t.Error("the note came after the reading")
		}
	}
	least := memoryFor(t, d)["least"]
	b, err := NewRankBoost(whole, Options{Memory: least, Note: note}, false)
	if err != nil {
		t.Fatal(err)
	}
	if size := storedBytes(len(b.scores), d.Features, true); !strings.Contains(told, fmt.Sprintf("%.3g GB in %s", float64(size)/1e9, dir)) {
		t.Error(told)
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("%v, %v is left", left, err)
	}
	t.Setenv("TMPDIR", dir+"/none")
	if _, err := NewRankBoost(whole, Options{}, false); err == nil || !strings.Contains(err.Error(), "temporary file") {
		t.Errorf("%v, want an error about the temporary file", err)
	}
}

// Claim: Columns are those of the data.
func TestColumnsOfData(t *testing.T) {
	d := random(7, 11, 5, 3)
	c, err := NewColumns(streamed(d), Options{Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close() //nolint:errcheck // another test's
	for _, f := range []int{0, 4, 2, 2, 0} {
		for i, v := range c.Of(f) {
			if want := d.X()[i*d.Features+f]; v != want {
				t.Fatalf("feature %d of document %d is %v, want %v", f, i, v, want)
			}
		}
	}
}

// Claim: the scores of Columns by a linear function are those of a linear scorer's, which adds up all features,
// for any number of features, of weights that are 0, of documents and of workers.
func TestScoresOfColumns(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 9))
	for _, features := range []int{1, 3, 4, 8, 15, 61} {
		d := random(7, 2500, features, 3)
		for _, zeros := range []float64{0, 0.5, 0.9, 1} {
			weights := make([]float64, features)
			for f := range weights {
				if rng.Float64() >= zeros {
					weights[f] = rng.NormFloat64()
				}
			}
			want, got := make([]float64, d.Docs()), make([]float64, d.Docs())
			scorer.Linear{Features: features}.Score(want, weights, d.X(), nil)
			for _, workers := range []int{1, 3} {
				c, err := NewColumns(streamed(d), Options{Workers: workers})
				if err != nil {
					t.Fatal(err)
				}
				for range 2 { // the second time in the place of the first
					c.Score(got, weights)
				}
				if !slices.Equal(got, want) {
					t.Errorf("%d features, %g of them of weight 0, %d workers: other scores", features, zeros, workers)
				}
				if err := c.Close(); err != nil {
					t.Error(err)
				}
			}
		}
	}
}

// Claim: what a plan holds at once is within the memory, counted anew from what the search allocates.
func TestPlanFits(t *testing.T) {
	setPageDocs(t, 1)
	a := arrange(manyValues(t, 3000, 60), false)
	n := int64(len(a.rows))
	for _, features := range []int{1, 20, 136} {
		plans := map[bool]int{}
		for memory := 60 * n; memory < 600*n; memory += 3 * n {
			p, err := planStored(a, features, Options{Memory: memory, Workers: 4})
			if err != nil {
				continue
			}
			plans[p.codes]++
			held := 41 * n
			if !p.codes {
				held += n * int64(features)
			}
			if sorting, rounds := held+16*n*int64(p.workers), held+4*n*int64(p.orders); max(sorting, rounds) > memory {
				t.Fatalf("%d features, memory of %d bytes: %+v takes %d and %d", features, memory, p, sorting, rounds)
			}
		}
		if plans[false] == 0 || features > 20 && plans[true] == 0 {
			t.Errorf("%d features: found the plans %v", features, plans)
		}
	}
}

// Claim: so are FRank's by whatever it compares, with thresholds between which no document lies, and it has as many weak
// rankers to choose from.
func TestStoredFRank(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := draw(t)
		o := FRankOptions{
			Options: Options{Cuts: rapid.IntRange(0, 5).Draw(t, "cuts"), Up: rapid.Bool().Draw(t, "up"), Workers: rapid.IntRange(1, 3).Draw(t, "workers")},
			Search:  FRankSearch(rapid.IntRange(int(ByGradient), int(ByLoss)).Draw(t, "search")),
			Alpha:   FRankAlpha(rapid.IntRange(int(FRankFormula), int(FRankMinimum)).Draw(t, "alpha")),
		}
		want, got := newFRank(t, d, o), newFRank(t, streamed(d), o)
		defer got.Close() //nolint:errcheck // another test's
		if w, g := WeakRankers(d, o.Options), got.WeakRankers(); g != w || want.WeakRankers() != w {
			t.Fatalf("%d weak rankers of streamed data and %d in memory, want %d", g, want.WeakRankers(), w)
		}
		for i := range 6 {
			w, more := want.Next()
			if g, ok := got.Next(); g != w || ok != more {
				t.Fatalf("round %d is %+v, %v; want %+v, %v", i+1, g, ok, w, more)
			}
		}
	})
}

// Claim: what columns take by themselves counts where features are many, whatever the documents are.
func TestManyColumnsCount(t *testing.T) {
	d := manyValues(t, 300, 5)
	a := arrange(d, false)
	for _, c := range []struct {
		features int
		memory   int64
		refused  bool
	}{{5, 1 << 20, false}, {300, 4 << 20, false}, {5000, 20 << 20, true}, {5000, 60 << 20, true}, {5000, 100 << 20, false}} {
		_, err := planStored(a, c.features, Options{Memory: c.memory, Workers: 2})
		if errors.Is(err, dataset.ErrTooLarge) != c.refused || err != nil && !c.refused {
			t.Errorf("%d features in %d bytes: %v, want an error: %v", c.features, c.memory, err, c.refused)
		}
	}
}
