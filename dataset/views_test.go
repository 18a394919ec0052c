package dataset_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/datatest"
)

var nan32 = float32(math.NaN())

// viewed returns the columns that a view makes of one query.
func viewed(v dataset.View, x []float32, features int) []float32 {
	var m dataset.ViewMemory
	return dataset.Views{v}.Append(nil, x, features, &m)
}

// drawViewable draws a query with ties, zeros of both signs and missing values.
func drawViewable(t *rapid.T) (x []float32, features int) {
	features = rapid.IntRange(1, 4).Draw(t, "features")
	rows := rapid.IntRange(1, 15).Draw(t, "rows")
	negative := float32(math.Copysign(0, -1))
	value := rapid.OneOf(rapid.Float32Range(-3e38, 3e38), rapid.Float32Range(-1, 1), rapid.SampledFrom([]float32{0, negative, 1, 7, nan32}))
	return rapid.SliceOfN(value, rows*features, rows*features).Draw(t, "x"), features
}

// sameBits compares values, NaN being equal to NaN.
func sameBits(a, b []float32) bool {
	return slices.EqualFunc(a, b, func(v, w float32) bool { return v == w || v != v && w != w })
}

// A rank is the mean, over the documents with another place in the list, of 1 for each that has less
// and 1/2 for each that has as much: counted pair by pair.
func TestRanksByBruteForce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x, features := drawViewable(t)
		got := viewed(dataset.RankView, x, features)
		for i, v := range x {
			below, others := 0.0, 0.0
			for k := i % features; k < len(x); k += features {
				if w := x[k]; k != i && w == w {
					others++
					switch {
					case w < v:
						below++
					case w == v:
						below += 0.5
					}
				}
			}
			want := float32(0.5)
			if others > 0 {
				want = float32(below / others)
			}
			if v != v {
				want = v
			}
			if !sameBits(got[i:i+1], []float32{want}) {
				t.Fatalf("value %d of %v in %d columns: rank %v, expected %v", i, x, features, got[i], want)
			}
		}
	})
}

// A strictly increasing map of the values, whatever they become, changes no rank.
func TestRanksAreInvariantToIncreasingMaps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x, features := drawViewable(t)
		values := slices.DeleteFunc(slices.Clone(x), func(v float32) bool { return v != v })
		slices.Sort(values)
		become := make(map[float32]float32) // 0 and −0 are one key
		to := rapid.Float32Range(-1e3, 1e3).Draw(t, "least")
		for _, v := range values {
			if _, known := become[v]; !known {
				become[v] = to
				to = max(to+rapid.Float32Range(0.1, 1e6).Draw(t, "step"), math.Nextafter32(to, math.MaxFloat32)) // a sum may round to to
			}
		}
		mapped := slices.Clone(x)
		for i, v := range x {
			if v == v {
				mapped[i] = become[v]
			}
		}
		if !sameBits(viewed(dataset.RankView, x, features), viewed(dataset.RankView, mapped, features)) {
			t.Fatalf("%v has other ranks than %v", mapped, x)
		}
	})
}

// Documents in another order have the same views in that order: ranks to the bit, z-scores up to the
// order in which sums are added.
func TestViewsDoNotDependOnTheOrderOfDocuments(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x, features := drawViewable(t)
		n := len(x) / features
		places := make([]int, n)
		for i := range places {
			places[i] = i
		}
		order := rapid.Permutation(places).Draw(t, "order")
		permute := func(rows []float32) (p []float32) {
			for _, i := range order {
				p = append(p, rows[i*features:(i+1)*features]...)
			}
			return p
		}
		if a, b := permute(viewed(dataset.RankView, x, features)), viewed(dataset.RankView, permute(x), features); !sameBits(a, b) {
			t.Fatalf("ranks %v, expected %v", b, a)
		}
		a, b := permute(viewed(dataset.ZScoreView, x, features)), viewed(dataset.ZScoreView, permute(x), features)
		for i := range a {
			if math.Abs(float64(a[i]-b[i])) > 1e-6*math.Sqrt(float64(n)) || (a[i] != a[i]) != (b[i] != b[i]) {
				t.Fatalf("z-scores %v, expected %v", b, a)
			}
		}
	})
}

// Of complete data, z-scores are those of the normalization, to the bit; of others those of the
// documents that have a value.
func TestZScoreViewIsTheNormalization(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x, features := drawViewable(t)
		got := viewed(dataset.ZScoreView, x, features)
		for j := range features {
			var present []float32
			for _, v := range column(x, features, j) {
				if v == v {
					present = append(present, float32(v))
				}
			}
			dataset.ZScore.Apply(present, 1)
			for i, v := range column(got, features, j) {
				if x[i*features+j] != x[i*features+j] {
					if v == v {
						t.Fatalf("a missing value became %v", v)
					}
					continue
				}
				if float32(v) != present[0] {
					t.Fatalf("z-score %v in %v, expected %v", v, x, present[0])
				}
				present = present[1:]
			}
		}
	})
}

// Infinities, which no reader lets in, have ranks like other numbers.
func TestViewsOfSmallQueries(t *testing.T) {
	inf := float32(math.Inf(1))
	for _, c := range []struct{ x, rank, zscore []float32 }{
		{[]float32{3}, []float32{0.5}, []float32{0}},
		{[]float32{nan32}, []float32{nan32}, []float32{nan32}},
		{[]float32{nan32, 4}, []float32{nan32, 0.5}, []float32{nan32, 0}},
		{[]float32{2, 2, 2}, []float32{0.5, 0.5, 0.5}, []float32{0, 0, 0}},
		{[]float32{5, 1}, []float32{1, 0}, []float32{1, -1}},
		{[]float32{1, 5, 1, 9}, []float32{1. / 6, 2. / 3, 1. / 6, 1}, nil},
		{[]float32{inf, -inf, 0, math.MaxFloat32}, []float32{1, 0, 1. / 3, 2. / 3}, nil},
	} {
		if got := viewed(dataset.RankView, c.x, 1); !sameBits(got, c.rank) {
			t.Errorf("ranks of %v: %v, expected %v", c.x, got, c.rank)
		}
		if got := viewed(dataset.ZScoreView, c.x, 1); c.zscore != nil && !sameBits(got, c.zscore) {
			t.Errorf("z-scores of %v: %v, expected %v", c.x, got, c.zscore)
		}
	}
}

// Columns stand view by view in the order asked for, and their names tell what they are.
func TestOrderAndNamesOfViews(t *testing.T) {
	views, err := dataset.ParseViews("rank, raw")
	if err != nil {
		t.Fatal(err)
	}
	var b dataset.Builder
	if err := b.Add("q", []float64{1, 0}, []float32{10, 3, 20, 3}, nil); err != nil {
		t.Fatal(err)
	}
	d := b.Dataset()
	d.FeatureNames = []string{"bm25", "age"}
	v := d.View(views)
	if want := []string{"rank(bm25)", "rank(age)", "bm25", "age"}; !slices.Equal(v.FeatureNames, want) || v.Features != 4 {
		t.Errorf("names %v, expected %v", v.FeatureNames, want)
	}
	if want := []float32{0, 0.5, 10, 3, 1, 0.5, 20, 3}; !slices.Equal(v.X(), want) || !slices.Equal(v.Queries[0].X, want) {
		t.Errorf("views %v, expected %v", v.X(), want)
	}
	for column, want := range []dataset.View{dataset.RankView, dataset.RankView, dataset.RawView, dataset.RawView} {
		if f, view := views.Source(column, 2); f != column%2 || view != want {
			t.Errorf("column %d is %v of feature %d", column, view, f)
		}
	}
	if d.View(nil) != d || views.String() != "rank,raw" || dataset.Views(nil).String() != "raw" {
		t.Error("names or raw views are wrong")
	}
	if raw, err := dataset.ParseViews("raw"); raw != nil || err != nil {
		t.Errorf("raw alone is %v (%v), expected nil", raw, err)
	}
	for text, want := range map[string]string{"rank,rank": "found the view rank twice", "ranks": "rank", "": `found the view ""`, "raw,": `found the view ""`} {
		if _, err := dataset.ParseViews(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, expected %s", text, err, want)
		}
	}
}

// A viewed data set has every query's views, and all else of the original.
func TestViewOfDataset(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := datatest.Random(t)
		views := dataset.Views{dataset.ZScoreView, dataset.RawView, dataset.RankView}
		v := d.View(views)
		var m dataset.ViewMemory
		for i := range d.Queries {
			p, q := &v.Queries[i], &d.Queries[i]
			if !sameBits(p.X, views.Append(nil, q.X, d.Features, &m)) || !slices.Equal(p.Grades, q.Grades) || p.ID != q.ID || p.Weight() != q.Weight() {
				t.Fatalf("query %q became another one", q.ID)
			}
		}
		if v.Missing() != 3*d.Missing() {
			t.Fatalf("%d missing values, expected %d", v.Missing(), 3*d.Missing())
		}
	})
}

func randomMatrix(rows, features int) []float32 {
	r := rand.New(rand.NewPCG(1, 2))
	x := make([]float32, rows*features)
	for i := range x {
		x[i] = float32(r.ExpFloat64())
	}
	return x
}

func TestViewsAllocateNothing(t *testing.T) {
	x := randomMatrix(100, 10)
	views := dataset.Views{dataset.RawView, dataset.RankView, dataset.ZScoreView}
	var m dataset.ViewMemory
	dst := views.Append(nil, x, 10, &m)
	if n := testing.AllocsPerRun(20, func() { dst = views.Append(dst[:0], x, 10, &m) }); n > 0 {
		t.Errorf("%v allocations, expected none", n)
	}
}

// The cost of a view, for a value, in queries of 100 and of 1,000 documents.
func BenchmarkViews(b *testing.B) {
	for _, docs := range []int{20, 100, 1000} {
		x := randomMatrix(docs, 46)
		for _, v := range []dataset.View{dataset.RankView, dataset.ZScoreView} {
			b.Run(v.String()+"/"+map[int]string{20: "20", 100: "100", 1000: "1000"}[docs], func(b *testing.B) {
				var m dataset.ViewMemory
				dst := dataset.Views{v}.Append(nil, x, 46, &m)
				b.ReportAllocs()
				for b.Loop() {
					dst = dataset.Views{v}.Append(dst[:0], x, 46, &m)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(x)), "ns/value")
			})
		}
	}
}
