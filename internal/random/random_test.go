package random

import (
	"hash/fnv"
	"math"
	"testing"

	"pgregory.net/rapid"
)

// The numbers of a stream are part of what makes results repeatable: these must
// never change. They are this package's own; what is checked is that they stay.
func TestStreamsStay(t *testing.T) {
	for _, c := range []struct {
		seed         uint64
		purpose, key string
		want         [3]uint64
	}{
		{0, "", "", [3]uint64{0x7aa47a9477895ad4, 0xf1c37b8f62fa3e91, 0x10f4e547331d0615}},
		{1, "bind", "42", [3]uint64{0x22318ed8072e55ab, 0x8539c9187bcc37d7, 0x83d8878712abee90}},
		{math.MaxUint64, "start", "π", [3]uint64{0x6f261eaac9d1a1a6, 0x1d8c638f039e5686, 0x271315ee4cb986e4}},
	} {
		rng := Stream(c.seed, c.purpose, c.key)
		got := [3]uint64{rng.Uint64(), rng.Uint64(), rng.Uint64()}
		if got != c.want {
			t.Errorf("Stream(%d, %q, %q) = %#x, want %#x", c.seed, c.purpose, c.key, got, c.want)
		}
	}
}

// fnv is the standard library's FNV-1a.
func TestFNV(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.String().Draw(t, "a"), rapid.String().Draw(t, "b")
		h := fnv.New64a()
		h.Write([]byte(a + b))
		if got := hash(hash(offset, a), b); got != h.Sum64() {
			t.Fatalf("hash of %q is %x, want %x", a+b, got, h.Sum64())
		}
	})
}

// Equal arguments give equal streams; a change of any of them gives another one,
// also where purpose and key together read the same.
func TestStreamsDiffer(t *testing.T) {
	type args struct {
		seed         uint64
		purpose, key string
	}
	all := []args{{1, "a", "bc"}, {1, "ab", "c"}, {1, "abc", ""}, {1, "", "abc"}, {2, "a", "bc"}, {1 << 63, "a", "bc"}, {1, "b", "bc"}, {1, "a", "b"}}
	seen := map[uint64]args{}
	for _, a := range all {
		v := Stream(a.seed, a.purpose, a.key).Uint64()
		if v != Stream(a.seed, a.purpose, a.key).Uint64() {
			t.Errorf("%v: two streams of equal arguments differ", a)
		}
		if b, ok := seen[v]; ok {
			t.Errorf("%v and %v begin with the same number", a, b)
		}
		seen[v] = a
	}
}

// Streams of neighbouring seeds and keys are unrelated: their first numbers are
// uniform and do not correlate.
func TestNeighbouringStreamsAreUnrelated(t *testing.T) {
	const n = 20000
	firsts := func(i int) (bySeed, byKey float64) {
		return Stream(uint64(i), "p", "k").Float64(), Stream(1, "p", string(rune('0'+i))).Float64()
	}
	var sum, square, lag, cross [2]float64
	previous := [2]float64{0.5, 0.5}
	for i := range n {
		a, b := firsts(i)
		for j, v := range [2]float64{a, b} {
			v -= 0.5
			sum[j] += v
			square[j] += v * v
			lag[j] += v * (previous[j] - 0.5)
			cross[j] += v * (b - 0.5)
			previous[j] = v + 0.5
		}
	}
	for j, name := range []string{"seeds", "keys"} {
		// Five standard deviations of each mean under uniform independent numbers.
		if m := sum[j] / n; math.Abs(m) > 5*math.Sqrt(1.0/12/n) {
			t.Errorf("%s: the mean is off by %v", name, m)
		}
		if v := square[j]/n - 1.0/12; math.Abs(v) > 5*math.Sqrt(1.0/180/n) {
			t.Errorf("%s: the variance is off by %v", name, v)
		}
		if c := lag[j] / n; math.Abs(c) > 5*math.Sqrt(1.0/144/n) {
			t.Errorf("%s: neighbours have the covariance %v", name, c)
		}
	}
	if c := cross[0] / n; math.Abs(c) > 5*math.Sqrt(1.0/144/n) {
		t.Errorf("seeds and keys have the covariance %v", c)
	}
}

// A deferred stream is the stream of its key, which is asked for once, at the first draw.
func TestDeferred(t *testing.T) {
	asked := 0
	rng := Deferred(1, "bind", func() string { asked++; return "42" })
	if asked != 0 {
		t.Error("the key was asked for before a draw")
	}
	want := Stream(1, "bind", "42")
	for i := range 3 {
		if got, want := rng.Uint64(), want.Uint64(); got != want {
			t.Errorf("draw %d is %#x, want %#x", i, got, want)
		}
	}
	if asked != 1 {
		t.Errorf("the key was asked for %d times", asked)
	}
}
