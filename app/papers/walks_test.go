package papers

import (
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"math/bits"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/listwise/listwise/internal/random"
	"github.com/listwise/listwise/learn/loss/bipartite"
	"github.com/listwise/listwise/learn/loss/logrank/ranking"
	"github.com/listwise/listwise/learn/loss/logrank/sample"
	"pgregory.net/rapid"
)

// topFor's Δ is that of the order it describes, and no other number of bads on
// top comes nearer to the one wanted.
func TestTopFor(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		grades := make([]float64, rapid.IntRange(2, 25).Draw(t, "documents"))
		for i := range rapid.IntRange(1, len(grades)-1).Draw(t, "good") {
			grades[i] = 1
		}
		gain, err := additive(rapid.SampledFrom([]string{"map", "ndcg@10", "auc", "mrr"}).Draw(t, "measure"))
		if err != nil {
			t.Fatal(err)
		}
		wanted := rapid.SampledFrom([]float64{0, 0.25, 0.5, 0.9, 1}).Draw(t, "wanted")
		pairs := bipartite.Split(grades, 1)
		top, delta := topFor(pairs, gain, wanted)
		order := ranking.NewOrder(pairs)
		for j := range len(pairs.Bad) + 1 {
			order.Restart(pairs.Bad, j)
			d := 1 - order.Gain(gain)
			if j == top && math.Abs(d-delta) > 1e-12 {
				t.Fatalf("Δ = %v, the order has %v", delta, d)
			}
			if math.Abs(d-wanted) < math.Abs(delta-wanted)-1e-9 {
				t.Fatalf("%d bads on top give %v, nearer to %v than %d with %v", j, d, wanted, top, delta)
			}
		}
		if wanted == 1 && top != len(pairs.Bad) {
			t.Fatalf("Δ = 1 is not asked of the worst ranking but of %d bads on top", top)
		}
	})
}

// The coefficients of φ(y) determine y: (n⁻ − c_g)/2 bads stand above good g, and the gain
// of those counts is the sampled state's.
func TestLastFeatureMap(t *testing.T) {
	gain, err := additive("map")
	if err != nil {
		t.Fatal(err)
	}
	grades := []float64{0, 1, 0, 0, 1, 1, 0, 0, 0}
	pairs := bipartite.Split(grades, 1)
	options := sample.DefaultOptions()
	options.Samples, options.Steps, options.IncludeIdeal = 8, 7, false
	for top := range len(pairs.Bad) + 1 {
		set, err := sample.DrawFrom(pairs, gain, top, options, random.Stream(uint64(top), "test", ""))
		if err != nil {
			t.Fatal(err)
		}
		c := lastFeatureMap(pairs, set)
		var above []int
		total := 0.0
		for _, g := range pairs.Good {
			a := (float64(len(pairs.Bad)) - c[g]) / 2
			if a != math.Trunc(a) || a < 0 || a > float64(len(pairs.Bad)) {
				t.Fatalf("%v bads above a good document", a)
			}
			above = append(above, int(a))
		}
		for _, v := range c {
			total += v
		}
		slices.Sort(above)
		want := 0.0
		for i, a := range above {
			want += gain.GoodGain(i, a, len(pairs.Good), len(pairs.Bad))
		}
		if got := set.Gain[len(set.Gain)-1]; math.Abs(got-want) > 1e-14 || total != 0 {
			t.Errorf("top %d: gain %v, %v from φ; coefficients add to %v", top, got, want, total)
		}
	}
}

// With one relevant document among many, walks smear far from the ideal ranking
// and hardly from the worst: the paper's section 5.3.3.
func TestFigure7Smear(t *testing.T) {
	r, err := figure7{size: govSize{queries: 9, docs: 120}, draws: 200}.run(context.Background(), Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	spread := func(wanted float64) float64 {
		return cell(t, r.Sheets[1], "spread", "synthetic gov1", "map", wanted).(float64)
	}
	if !(spread(0) > 20*spread(1)) {
		t.Errorf("spread %v around Δ = 0, %v around Δ = 1", spread(0), spread(1))
	}
	sums := map[any]float64{}
	for _, row := range r.Sheets[0].Rows {
		sums[[2]any{row[1], row[2]}] += row[5].(float64)
	}
	if len(sums) != 9 {
		t.Errorf("%d histograms, expected 9", len(sums))
	}
	for k, v := range sums {
		if math.Abs(v-1) > 1e-12 {
			t.Errorf("%v: shares add to %v", k, v)
		}
	}
	again, err := figure7{size: govSize{queries: 9, docs: 120}, draws: 200}.run(context.Background(), Options{Seed: 1, Jobs: 1})
	if err != nil || everything(t, r) != everything(t, again) {
		t.Errorf("one job gives another report (error %v)", err)
	}
}

// The ranking of n good documents next to the ideal one has Δ = 1/(n(n+1)) in MAP, by enumeration.
// A sample that is nearer, or that never gets there, fails the claim.
func TestSmallestChange(t *testing.T) {
	for good := 1; good <= 4; good++ {
		least, docs := math.Inf(1), good+4
		for set := range 1 << docs {
			if bits.OnesCount(uint(set)) != good {
				continue
			}
			precision, seen := 0.0, 0
			for rank := range docs {
				if set>>rank&1 == 1 {
					seen++
					precision += float64(seen) / float64(rank+1) / float64(good)
				}
			}
			if delta := 1 - precision; delta > 1e-12 {
				least = min(least, delta)
			}
		}
		for least, want := range map[float64]FindVerdict{least: ClaimHeld, least / 2: ClaimFailed, 2 * least: ClaimFailed} {
			r := &Report{}
			smallestChange("made", &smear{changes: []change{{good, 9, least}, {good + 1, 9, 1}}}, r)
			if f := r.Findings[0]; f.Verdict != want {
				t.Errorf("%d good documents, Δ from %v: %s, expected %s", good, least, f.Verdict, want)
			}
		}
	}
}

// The changes of average precision by flips are those of enumeration.
func TestFlips(t *testing.T) {
	precision := func(relevant []bool) float64 {
		seen, sum := 0, 0.0
		for rank, r := range relevant {
			if r {
				seen++
				sum += float64(seen) / float64(rank+1)
			}
		}
		return sum / float64(seen)
	}
	for good := 1; good < 6; good++ {
		for bad := 1; bad < 7; bad++ {
			best, worst, most := change{good: good, bad: bad}.flipped()
			var wantBest, wantWorst, wantMost float64
			for i := range good {
				for j := range bad {
					for _, atBest := range []bool{true, false} {
						ranking := make([]bool, good+bad)
						for k := range ranking {
							ranking[k] = atBest && k < good || !atBest && k >= bad
						}
						before := precision(ranking)
						g, b := i, good+j
						if !atBest {
							g, b = bad+i, j
						}
						ranking[g], ranking[b] = ranking[b], ranking[g]
						moved := math.Abs(precision(ranking) - before)
						if atBest {
							wantBest, wantMost = wantBest+moved/float64(good*bad), max(wantMost, moved)
						} else {
							wantWorst += moved / float64(good*bad)
						}
					}
				}
			}
			if math.Abs(best-wantBest) > 1e-12 || math.Abs(worst-wantWorst) > 1e-12 || math.Abs(most-wantMost) > 1e-12 {
				t.Errorf("%d good, %d bad: %v, %v, at most %v; enumerated %v, %v, at most %v", good, bad, best, worst, most, wantBest, wantWorst, wantMost)
			}
		}
	}
}

// A sampler that stays at the ideal ranking has no variety of Δ.
func TestVarietyOfDelta(t *testing.T) {
	for draws, want := range map[int]FindVerdict{1: ClaimFailedOnce, 200: ClaimOnce} {
		r, err := figure7{size: govSize{queries: 9, docs: 120}, draws: draws}.run(context.Background(), Options{Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(r.Findings, func(f Finding) bool { return strings.Contains(f.Claim, "variety of Δ") })
		if got := r.Findings[i]; got.Verdict != want {
			t.Errorf("%d states: %s (%s), expected %s", draws, got.Verdict, got.Figure, want)
		}
	}
}

// At w = 0 all w·φ are 0; ten iterations later they exceed Δ.
func TestFigure8(t *testing.T) {
	f := figure8{size: govSize{queries: 15, docs: 40}, queries: 4, rankings: 3, iterations: 10, grid: map[string][]string{"C": {"1"}}}
	r, err := f.run(context.Background(), Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Sheets[0].Rows) != 12 {
		t.Fatalf("%d rankings", len(r.Sheets[0].Rows))
	}
	for _, row := range r.Sheets[0].Rows {
		delta, average, dots := row[2].(float64), row[3].(float64), row[4:]
		sum := 0.0
		for _, v := range dots {
			sum += v.(float64)
		}
		if dots[0] != 0.0 || math.Abs(sum/float64(len(dots))-average) > 1e-9 {
			t.Errorf("w·φ starts at %v, averages %v", dots[0], average)
		}
		if last := dots[len(dots)-1].(float64); !(math.Abs(last) > delta) {
			t.Errorf("w·φ = %v in the end, Δ = %v", last, delta)
		}
	}
	again, err := f.run(context.Background(), Options{Seed: 1, Jobs: 1})
	if err != nil || everything(t, r) != everything(t, again) {
		t.Errorf("one job gives another report (error %v)", err)
	}
}

// A model is good early if it is significantly above the trivial systems and no better in the
// end. A trivial system in its place is not.
func TestQuick(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	level := func(v float64) []float64 {
		each := make([]float64, 30)
		for i := range each {
			each[i] = v + 0.01*rng.NormFloat64()
		}
		return each
	}
	course := func(early, late float64) [][]float64 {
		at := [][]float64{level(0.2)}
		for range 10 {
			at = append(at, level(early))
		}
		return append(at, level(late))
	}
	for _, c := range []struct {
		early, late float64
		want        FindVerdict
	}{{0.5, 0.5, ClaimHeld}, {0.5, 0.8, ClaimFailed}, {0.4, 0.4, ClaimUndecided}, {0.3, 0.3, ClaimUndecided}} {
		p := &progress{at: course(c.early, c.late), trivial: map[string][]float64{"the best single feature": level(0.4), "the order of the file": level(0.3)}}
		r := &Report{}
		p.quick("made", r)
		if f := r.Findings[0]; f.Verdict != c.want {
			t.Errorf("%v after ten iterations, %v in the end: %s (%s), expected %s", c.early, c.late, f.Verdict, f.Figure, c.want)
		}
	}
}

// Small Δ comes with large w·φ where it does so in most queries, by a sign test whose p values
// are binomial sums.
func TestTrumps(t *testing.T) {
	for _, c := range []struct {
		k, n int
		want float64
	}{{10, 10, 2.0 / 1024}, {9, 10, 22.0 / 1024}, {5, 10, 1}, {0, 3, 0.25}} {
		if got := signTest(c.k, c.n); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%d of %d: p is %v, expected %v", c.k, c.n, got, c.want)
		}
	}
	for negative, want := range map[int]FindVerdict{10: ClaimHeld, 8: ClaimUndecided, 0: ClaimFailed} {
		var rankings []watched
		for q := range 10 {
			sign := 1.0
			if q < negative {
				sign = -1
			}
			for k := range 3 {
				rankings = append(rankings, watched{query: strconv.Itoa(q), delta: float64(k), dot: []float64{0, sign * float64(k)}})
			}
		}
		r := &Report{}
		trumps("made", rankings, r)
		if f := r.Findings[0]; f.Verdict != want {
			t.Errorf("%d of 10 negative: %s, expected %s", negative, f.Verdict, want)
		}
	}
}

// Write leaves whole, well-formed files under the report's name.
func TestReportWrite(t *testing.T) {
	r, err := figure7{size: govSize{queries: 6, docs: 30}, draws: 50}.run(context.Background(), Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	paths, err := r.Write(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, p := range paths {
		names = append(names, filepath.Base(p))
		text, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		switch filepath.Ext(p) {
		case ".json":
			if !json.Valid(text) {
				t.Errorf("%s is not JSON", p)
			}
		case ".svg":
			d := xml.NewDecoder(strings.NewReader(string(text)))
			for err == nil {
				_, err = d.Token()
			}
			if !errors.Is(err, io.EOF) {
				t.Errorf("%s: %v", p, err)
			}
		}
	}
	want := []string{"logrank-fig7.txt", "logrank-fig7.json", "logrank-fig7.csv", "logrank-fig7-spread.csv", "logrank-fig7.svg", "logrank-fig7-ndcg10.svg", "logrank-fig7-auc.svg"}
	if !slices.Equal(names, want) {
		t.Errorf("files %v, expected %v", names, want)
	}
}

// Every experiment is found by its name, and no other name is.
func TestLookup(t *testing.T) {
	for _, e := range Experiments() {
		if found, err := Lookup(e.Name); err != nil || found.Title != e.Title {
			t.Errorf("%s: %v", e.Name, err)
		}
	}
	var input *InputError
	if _, err := Lookup("logrank-fig9"); !errors.As(err, &input) || !strings.Contains(err.Error(), "logrank-fig8") {
		t.Errorf("an unknown name gives %v", err)
	}
}
