package dataset

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// summaryData returns documents of one query with random features of several kinds: continuous,
// counts with many equal values, constant, half missing, all missing.
func summaryData(t *testing.T, docs int, seed uint64) *Dataset {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 2))
	nan := float32(math.NaN())
	b := Blocks{Features: 5, IDs: []string{"q"}, Counts: []int{docs}}
	for range docs {
		half := nan
		if r.IntN(2) == 0 {
			half = float32(r.NormFloat64())
		}
		b.X = append(b.X, float32(r.NormFloat64()), float32(r.IntN(4)*r.IntN(2)), 7, half, nan)
		b.Grades = append(b.Grades, float64(r.IntN(3)))
	}
	return FromBlocks(b)
}

// TestSummaryCountsBins claims that the share of each bin is the share of the sampled values for
// which Bin returns it, counted one by one.
func TestSummaryCountsBins(t *testing.T) {
	for _, docs := range []int{1, 2, 9, 100, SummaryDocuments, 3*SummaryDocuments + 17} {
		d := summaryData(t, docs, uint64(docs))
		s := d.Summary()
		n := min(docs, SummaryDocuments)
		if s.Documents() != n || s.NumFeatures() != 5 {
			t.Fatalf("%d documents: a summary of %d documents and %d features, want %d and 5", docs, s.Documents(), s.NumFeatures(), n)
		}
		for j := range 5 {
			counts, present := make(map[int]int), 0
			for i := range n {
				bin := s.Bin(j, d.X()[i*docs/n*5+j])
				counts[bin]++
				if bin >= 0 {
					present++
				}
			}
			if got, want := s.Share(j, -1), float64(counts[-1])/float64(n); got != want {
				t.Errorf("%d documents, feature %d: %v missing, want %v", docs, j, got, want)
			}
			for k := range s.Bins(j) {
				if got, want := s.Share(j, k), float64(counts[k])/float64(max(present, 1)); got != want {
					t.Errorf("%d documents, feature %d, bin %d: share %v, want %v", docs, j, k, got, want)
				}
			}
		}
	}
}

// TestSummaryBinsAreDeciles claims that ten equally likely bins describe a feature without equal
// values, one a constant feature, and that values outside the data's range are in bins without share.
func TestSummaryBinsAreDeciles(t *testing.T) {
	d := summaryData(t, SummaryDocuments, 1)
	s := d.Summary()
	if s.Bins(0) != MaxSummaryBins || s.Bins(2) != 3 || s.Bins(4) != 1 {
		t.Fatalf("found %d, %d and %d bins of a normal, a constant and a missing feature, want %d, 3 and 1", s.Bins(0), s.Bins(2), s.Bins(4), MaxSummaryBins)
	}
	for k := 1; k < s.Bins(0)-1; k++ {
		if share := s.Share(0, k); math.Abs(share-0.1) > 1.0/SummaryDocuments {
			t.Errorf("bin %d has the share %v, want 0.1", k, share)
		}
	}
	normal := []float64{-1.2816, -0.8416, -0.5244, -0.2533, 0, 0.2533, 0.5244, 0.8416, 1.2816}
	for k, want := range normal {
		if b := s.Bounds(0)[k+1]; math.Abs(float64(b)-want) > 0.12 {
			t.Errorf("bound %d is %v, want about the normal distribution's %v", k+1, b, want)
		}
	}
	for v, want := range map[float32]int{6.999: 0, 7: 1, 7.001: 2, float32(math.Inf(-1)): 0, float32(math.Inf(1)): 2} {
		if got := s.Bin(2, v); got != want || s.Share(2, got) != map[int]float64{1: 1}[want] {
			t.Errorf("%v is in bin %d of the constant feature, of share %v; want bin %d", v, got, s.Share(2, got), want)
		}
	}
}

// TestSummaryKeepsItsJSON claims that a summary read from its JSON form is the same, and that
// damaged forms are refused.
func TestSummaryKeepsItsJSON(t *testing.T) {
	s := summaryData(t, 500, 3).Summary()
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	var back Summary
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	for j := range s.features {
		a, b := &s.features[j], &back.features[j]
		if !slices.Equal(a.bounds, b.bounds) || !slices.Equal(a.counts, b.counts) || a.n != b.n {
			t.Errorf("feature %d: found %v, want %v", j, b, a)
		}
	}
	for _, bad := range []string{
		`{"documents":-1,"bounds":[],"counts":[]}`,
		`{"documents":9999999,"bounds":[],"counts":[]}`,
		`{"documents":1,"bounds":[""],"counts":[]}`,
		`{"documents":1,"bounds":["1"],"counts":["1"]}`,
		`{"documents":1,"bounds":["2 1"],"counts":["0 1 0"]}`,
		`{"documents":1,"bounds":["1 1"],"counts":["0 1 0"]}`,
		`{"documents":1,"bounds":["1"],"counts":["1 1"]}`,
		`{"documents":1,"bounds":["1"],"counts":["2 -1"]}`,
		`{"documents":1,"bounds":["1e99"],"counts":["0 1"]}`,
		`{"documents":1,"bounds":["nan"],"counts":["0 1"]}`,
		`{"documents":1,"bounds":["1 2 3 4 5 6 7 8 9 10 11 12"],"counts":["0 0 0 0 0 0 0 0 0 0 0 0 0"]}`,
		`{"documents":1,"bounds":[[1]],"counts":[[1,0]]}`,
	} {
		if err := json.Unmarshal([]byte(bad), new(Summary)); err == nil {
			t.Errorf("read %s, want an error", bad)
		}
	}
}

func BenchmarkSummary(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	blocks := Blocks{Features: 136, IDs: []string{"q"}, Counts: []int{20_000}, Grades: make([]float64, 20_000)}
	for range 136 * 20_000 {
		blocks.X = append(blocks.X, float32(r.NormFloat64()))
	}
	d := FromBlocks(blocks)
	for b.Loop() {
		d.Summary()
	}
}
