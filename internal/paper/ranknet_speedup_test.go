package paper

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"
)

// A small version of the experiment: both forms end at the same weights, V2 is
// faster where there are many pairs, and its time grows by a smaller power of the
// documents. The bounds leave room for a busy machine.
func TestSpeedup(t *testing.T) {
	small := speedup{web: webShape{queries: 12, docs: 26, features: 60}, lists: 6, lengths: []int{8, 32, 128}, pairs: 9000, times: 3}
	var stages []string
	r, err := small.run(t.Context(), Options{Seed: 2, Observe: func(stage string, done, total int) {
		if done == total {
			stages = append(stages, stage)
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"web data", "documents per query"}; !slices.Equal(stages, want) {
		t.Errorf("stages %q, expected %q", stages, want)
	}
	web, lists, slopes := r.Sheets[0], r.Sheets[1], r.Sheets[2]
	if len(web.Rows) != 2 || len(lists.Rows) != 2*2*3 || len(slopes.Rows) != 2*2 {
		t.Fatalf("%d, %d and %d rows", len(web.Rows), len(lists.Rows), len(slopes.Rows))
	}
	for i, row := range web.Rows {
		if ratio := row[6].(float64); !(ratio > 2) {
			t.Errorf("%v: V1 takes %v times as long as V2, expected more than 2", row[0], ratio)
		}
		if want := []float64{5.1, 8.0}[i]; row[7] != want {
			t.Errorf("%v: published %v, expected %v", row[0], row[7], want)
		}
	}
	for i := 0; i < len(slopes.Rows); i += 2 {
		v1, v2 := slopes.Rows[i], slopes.Rows[i+1]
		if v1[1] != "V1" || v2[1] != "V2" || !(v1[2].(float64) > v2[2].(float64)+0.2) {
			t.Errorf("slopes %v and %v: expected V1's to be larger", v1, v2)
		}
	}
	var text bytes.Buffer
	if err := r.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	for _, plot := range r.Plots {
		if err := plot.Write(&text); err != nil {
			t.Error(err)
		}
	}
}

// Epochs of both forms lead to the same weights; the claim behind all ratios.
func TestSpeedupFormsAgree(t *testing.T) {
	d, err := webShape{queries: 5, docs: 20, features: 30}.generate(3)
	if err != nil {
		t.Fatal(err)
	}
	for _, net := range speedupNets {
		r, err := newRace(d, net, 5, 1)
		if err != nil {
			t.Fatal(err)
		}
		l, err := r.run(t.Context(), 1)
		if err != nil {
			t.Fatal(err)
		}
		if !(l.disagreed < 1e-9) {
			t.Errorf("%s: weights differ by %v of the largest step", net.name, l.disagreed)
		}
		few, err := newRace(d, net, 2, 1)
		if err != nil {
			t.Fatal(err)
		}
		if few.v1.Terms() != 2 || few.v2.Terms() != 5 {
			t.Errorf("%s: %d and %d queries, expected 2 and 5", net.name, few.v1.Terms(), few.v2.Terms())
		}
	}
}

// The least squares line through y = 3x² on logarithmic axes has slope 2; through
// three points off a line it is the textbook's.
func TestLeastSquaresSlope(t *testing.T) {
	x, y := []float64{1, 2, 5}, []float64{0, 0, 0}
	for i, v := range x {
		x[i], y[i] = math.Log2(v), math.Log2(3*v*v)
	}
	if got := leastSquaresSlope(x, y); math.Abs(got-2) > 1e-14 {
		t.Errorf("slope %v of a parabola, expected 2", got)
	}
	if got := leastSquaresSlope([]float64{0, 1, 2}, []float64{1, 0, 2}); got != 0.5 {
		t.Errorf("slope %v, expected 0.5", got)
	}
}

// The web data have the shape and the grades asked for, and depend on the seed.
func TestWebData(t *testing.T) {
	d, err := webShape{queries: 400, docs: 26, features: 2}.generate(1)
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Queries) != 400 || d.Docs() != 400*26 || d.Features != 2 {
		t.Fatalf("%d queries, %d documents, %d features", len(d.Queries), d.Docs(), d.Features)
	}
	counts := make([]float64, len(webShares))
	for _, g := range d.Grades() {
		counts[int(g)]++
	}
	for g, p := range webShares {
		n := float64(d.Docs())
		if off := math.Abs(counts[g] - n*p); off > 5*math.Sqrt(n*p*(1-p)) {
			t.Errorf("%v documents of grade %d, expected about %v", counts[g], g, n*p)
		}
	}
	other, err := webShape{queries: 400, docs: 26, features: 2}.generate(2)
	if err != nil {
		t.Fatal(err)
	}
	if slices.Equal(d.X(), other.X()) {
		t.Error("two seeds gave the same features")
	}
}

// BenchmarkRankNetEpoch is the first table of ranknet-speedup: an epoch of V2, and
// in what ratio V1's stands to it.
func BenchmarkRankNetEpoch(b *testing.B) {
	d, err := burgesSpeedup.web.generate(1)
	if err != nil {
		b.Fatal(err)
	}
	for _, l := range speedupNets {
		b.Run(strings.ReplaceAll(l.name, ", ", "/"), func(b *testing.B) {
			r, err := newRace(d, l, len(d.Queries), 1)
			if err != nil {
				b.Fatal(err)
			}
			took, err := r.run(b.Context(), 7)
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if _, _, err := r.epoch(b.Context(), r.v2); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(took.v1, "V1-ns/query")
			b.ReportMetric(took.v2, "V2-ns/query")
			b.ReportMetric(took.ratio, "V1/V2")
		})
	}
}
