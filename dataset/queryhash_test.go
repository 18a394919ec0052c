package dataset

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
)

func numbered(t *testing.T, seed uint64, from, to int) *Dataset {
	t.Helper()
	var b Builder
	for i := from; i < to; i++ {
		rng := rand.New(rand.NewPCG(seed, uint64(i)))
		x := make([]float32, 6)
		for j := range x {
			x[j] = rng.Float32()
		}
		if err := b.Add(strconv.Itoa(i), []float64{0, 1, 2}, x, nil); err != nil {
			t.Fatal(err)
		}
	}
	return b.Dataset()
}

// Claim: the queries that two data sets share are counted exactly while the set keeps all
// hashes, and about in proportion beyond; queries of the same ids but other documents
// are others; a set that is stored and read back counts the same.
func TestQuerySet(t *testing.T) {
	for _, c := range []struct{ trained, from, to, common int }{
		{100, 0, 100, 100}, {100, 90, 130, 10}, {100, 100, 200, 0}, {QuerySetSize, 0, 5, 5},
	} {
		text, err := numbered(t, 1, 0, c.trained).QuerySet().MarshalText()
		if err != nil {
			t.Fatal(err)
		}
		var s QuerySet
		if err := s.UnmarshalText(text); err != nil {
			t.Fatal(err)
		}
		if common, told := s.Common(numbered(t, 1, c.from, c.to), nil); common != c.common || told != c.to-c.from {
			t.Errorf("%+v: %d queries in common of %d", c, common, told)
		}
		if common, _ := s.Common(numbered(t, 2, c.from, c.to), nil); common != 0 {
			t.Errorf("%+v: %d queries of the same ids, but other features, are taken for the same", c, common)
		}
	}
	many := numbered(t, 1, 0, 20*QuerySetSize).QuerySet()
	text, _ := many.MarshalText()
	var s QuerySet
	if err := s.UnmarshalText(text); err != nil || !slices.Equal(s.hashes, many.hashes) || s.all {
		t.Fatalf("a sample does not come back: %v", err)
	}
	common, told := s.Common(numbered(t, 1, 10*QuerySetSize, 30*QuerySetSize), nil)
	if told < QuerySetSize/2 || told > 3*QuerySetSize/2 || common < told/3 || common > 2*told/3 {
		t.Errorf("half of the queries are shared; found %d of %d", common, told)
	}
}

// Claim: a query's hash does not depend on grades, the sign of zero or the data set
// that holds it, and does on every value at its ends and on the number of documents.
func TestQueryHash(t *testing.T) {
	query := func(id string, grades []float64, x ...float32) uint64 {
		var b Builder
		if err := b.Add("before", []float64{1}, make([]float32, len(x)/len(grades)), nil); err != nil {
			t.Fatal(err)
		}
		if err := b.Add(id, grades, x, nil); err != nil {
			t.Fatal(err)
		}
		return b.Dataset().Queries[1].Hash()
	}
	zero := float32(0)
	want := query("q", []float64{0, 1}, 1, 2, 3, 0)
	if query("q", []float64{2, 0}, 1, 2, 3, -zero) != want {
		t.Error("the hash depends on grades or the sign of zero")
	}
	for _, other := range []uint64{
		query("r", []float64{0, 1}, 1, 2, 3, 0), query("q", []float64{0, 1}, 1, 2, 3, 1),
		query("q", []float64{0, 1, 2, 3}, 1, 2, 3, 0), query("q", []float64{0, 1}, 2, 1, 3, 0),
	} {
		if other == want {
			t.Error("different queries have the same hash")
		}
	}
}

func FuzzQuerySet(f *testing.F) {
	f.Add([]byte(""))
	f.Add([]byte("~AAAAAAAAAAA"))
	f.Fuzz(func(t *testing.T, text []byte) {
		var s QuerySet
		if s.UnmarshalText(text) != nil {
			return
		}
		s.Common(numbered(t, 1, 0, 3), nil)
		again, err := s.MarshalText()
		var back QuerySet
		if err != nil || back.UnmarshalText(again) != nil || !slices.Equal(s.hashes, back.hashes) {
			t.Fatalf("%q does not come back", text)
		}
	})
}

// Claim: a union knows the queries of both data sets, each once; of samples it is one of both
// together, and what it says of a query is right wherever it says anything.
func TestUnionOfQuerySets(t *testing.T) {
	set := func(from, to int) *Dataset { return numbered(t, 1, from, to) }
	for _, c := range []struct{ a, b, c, d int }{{0, 10, 5, 20}, {0, 3000, 2000, 2500}, {0, 100, 50, 4000}, {0, 5000, 4000, 9000}} {
		first, second := set(c.a, c.b), set(c.c, c.d)
		u := first.QuerySet().Union(second.QuerySet())
		if want := set(min(c.a, c.c), max(c.b, c.d)).QuerySet(); !u.Equal(want) {
			t.Errorf("%v: the union is not the set of all", c)
		}
		for _, d := range []*Dataset{first, second} {
			if common, known := u.Common(d, nil); common != known || known == 0 {
				t.Errorf("%v: %d of %d known queries are in the union", c, common, known)
			}
		}
		if common, _ := u.Common(set(10000, 10100), nil); common != 0 {
			t.Errorf("%v: %d other queries are in the union", c, common)
		}
	}
	one := set(0, 3).QuerySet()
	if !one.Union(nil).Equal(one) {
		t.Error("the union with what is not known is another set")
	}
}
