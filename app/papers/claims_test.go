package papers

import (
	"math"
	"strings"
	"testing"

	"github.com/listwise/listwise/eval/stats"
)

// spanning is evidence of an interval around 0.45, half wide.
func spanning(half float64, t ...trivial) evidence {
	return evidence{low: 0.45 - half, high: 0.45 + half, trivial: t}
}

// A published number inside the interval is reproduced. It is not informative if a trivial system
// is also in the interval, or as near to the published number. Outside the interval ours is
// better or worse, or turns an order round.
func TestVerdicts(t *testing.T) {
	near, far := trivial{system: "the order of the file", value: 0.447}, trivial{system: "a random order", value: 0.3}
	turned := spanning(0.005)
	turned.turned = "ListNet"
	for _, c := range []struct {
		published float64
		less      bool
		e         evidence
		want      Verdict
		why       string
	}{
		{0.45, false, spanning(0.005, far), Reproduced, ""},
		{0.4549, false, spanning(0.005, far), Reproduced, ""},
		{0.4549, false, spanning(0.005, trivial{system: "a random order", value: 0.4451}), NotInformative, "a random order does as well"},
		{0.4551, false, spanning(0.005, far), Worse, ""},
		{0.4449, false, spanning(0.005, far), Better, ""},
		{0.4551, true, spanning(0.005, far), Better, ""},
		{0.4449, true, spanning(0.005, far), Worse, ""},
		{0.45, false, spanning(0.005, far, near), NotInformative, "the order of the file does as well"},
		{0.4525, false, spanning(0.005, far, near), NotInformative, "the order of the file does as well"}, // in the interval, if not as near
		{0.4551, false, spanning(0.005, near), Worse, ""},
		{0.45, false, turned, Reproduced, ""},
		{0.4551, false, turned, OrderChanged, "against ListNet"},
		{0.45, false, incomparable("other data"), NotComparable, "other data"},
	} {
		var r Report
		r.claim(Claim{Published: c.published, Ours: 0.45, less: c.less}, c.e)
		if got := r.Claims[0]; got.Verdict != c.want || got.Why != c.why {
			t.Errorf("%v published, evidence %+v: %s (%s), expected %s (%s)", c.published, c.e, got.Verdict, got.Why, c.want, c.why)
		}
	}
}

// A trivial system in the place of ours reproduces nothing, whatever was published and
// however wide the interval: its own number is among the trivial ones.
func TestTrivialSystemsReproduceNothing(t *testing.T) {
	for _, half := range []float64{0, 1e-4, 0.01, 0.3} {
		for published := 0.0; published <= 1; published += 0.001 {
			var r Report
			r.claim(Claim{Published: published, Ours: 0.45}, spanning(half, trivial{system: "the best single feature", value: 0.45}))
			if r.Claims[0].Verdict == Reproduced {
				t.Fatalf("%v is reproduced within ±%v of 0.45 by the best single feature", published, half)
			}
		}
	}
}

// The interval is that of another run, with half a unit of the last digit printed.
func TestOverRuns(t *testing.T) {
	runs := [][]stats.Tried{{{Validation: []float64{0.5, 0.4}, Test: []float64{0.45, 0.43}}}}
	want, err := stats.Replicate(runs, stats.ReplicationConfig{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	e := overRuns(runs, 0, 0.0005, 1)
	if math.Abs(e.low-want.Interval.Low+0.0005) > 1e-15 || math.Abs(e.high-want.Interval.High-0.0005) > 1e-15 || e.basis == "" || e.detectable <= e.high-want.Mean {
		t.Errorf("%+v, expected the interval %+v, wider by 0.0005", e, want)
	}
	if e := overRuns(nil, 0, 0.0005, 1); e.why == "" {
		t.Errorf("without runs: %+v, expected that nothing is comparable", e)
	}
}

// Numbers are rounded as the most precise of a table shows.
func TestRounding(t *testing.T) {
	for _, c := range []struct {
		n    numbers
		want float64
	}{
		{numbers{"a": {"map": 0.45, "ndcg@1": 0.449}}, 0.0005},
		{numbers{"a": {"map": 0.4457}, "b": {"map": 0.45}}, 0.00005},
		{numbers{"a": {"map": math.NaN(), "ndcg@1": 0.5}}, 0.05},
	} {
		if got := c.n.rounding(); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%v: half a unit is %v, expected %v", c.n, got, c.want)
		}
	}
}

// What cannot be judged says why; what was not published is no claim; a number that two rows
// are held against, or two experiments have, counts once, and baselines apart.
func TestCounts(t *testing.T) {
	one, two := &Report{Name: "one"}, &Report{Name: "two"}
	one.claim(Claim{Published: math.NaN(), Ours: 1}, spanning(1))
	one.claim(Claim{Data: "OHSUMED, cleaned", Row: "AdaRank.NDCG", Measure: "MAP", Published: 0.45, Ours: 0.45, Quoted: true}, spanning(0.01))
	one.claim(Claim{Data: "OHSUMED", Row: "ListNet", Measure: "MAP", Published: 0.45, Ours: 0.45, Quoted: true}, spanning(0.01))
	one.claim(Claim{Data: "OHSUMED", Row: "ListNet, descent", Against: "ListNet", Measure: "MAP", Published: 0.45, Ours: 0.45, Quoted: true}, spanning(0.01))
	one.claim(Claim{Data: "TD2004, published", Row: "MLE", Measure: "MAP", Published: 0.3, Ours: 0.45}, incomparable("uncleaned"))
	one.claim(Claim{Data: "TD2004, cleaned", Row: "MLE", Measure: "MAP", Published: 0.3, Ours: 0.45}, spanning(0.01))
	two.claim(Claim{Data: "OHSUMED", Row: "AdaRank-NDCG", Measure: "MAP", Published: 0.45, Ours: 0.47, Quoted: true}, spanning(0.01))
	two.claim(Claim{Data: "OHSUMED", Row: "BoltzRank1", Measure: "MAP", Published: 0.46, Ours: 0.45}, spanning(0.01))
	two.claim(Claim{Data: "OHSUMED", Row: "BoltzRank2", Measure: "MAP", Published: 0.46, Ours: 0.45}, incomparable("other data"))
	_, oneDraw := overDraws([]float64{1}, 0)
	two.claim(Claim{Row: "made", Published: 1, Ours: 1}, oneDraw)
	all := All{Outcomes: []Outcome{{Report: one}, {}, {Report: two}}}
	markRepeats(all.reports()...)
	var repeats []string
	for _, c := range all.claims() {
		repeats = append(repeats, c.Repeats)
	}
	if got, want := strings.Join(repeats, "|"), "||one|one||one|||"; got != want {
		t.Errorf("repetitions: %s, expected %s", got, want)
	}
	want := "the papers' own systems: 1 reproduced, 1 better, 0 worse, 0 order changed, 0 not informative, 2 not comparable; " +
		"quoted baselines: 2 reproduced, 0 better, 0 worse, 0 order changed, 0 not informative, 0 not comparable"
	if got := countsText(all.claims()); got != want {
		t.Errorf("counts: %s, expected %s", got, want)
	}
}

// A number that one table prints in per cent and another as a fraction counts once: in
// floating point 53.88/100 is not .5388.
func TestPerCentCountsOnce(t *testing.T) {
	one, two := &Report{Name: "one"}, &Report{Name: "two"}
	perCent, fraction := publishedBoltzRank("OHSUMED"), publishedNumbers("letor3-ohsumed-ndcg.csv")
	for theirs, ours := range map[string]string{"AdaRank.MAP": "AdaRank-MAP", "ListNet": "ListNet"} {
		for m, value := range perCent[theirs] {
			one.claim(Claim{Data: "OHSUMED", Row: theirs, Measure: title(m), Published: value, Ours: value}, spanning(0.01))
			two.claim(Claim{Data: "OHSUMED", Row: ours, Measure: title(m), Published: fraction[ours][m], Ours: value}, spanning(0.01))
		}
	}
	markRepeats(one, two)
	for _, c := range two.Claims {
		if c.Repeats != "one" {
			t.Errorf("%s, %s %v counts again", c.Row, c.Measure, c.Published)
		}
	}
	if len(two.Claims) != 12 {
		t.Errorf("%d numbers are in both tables, expected 12", len(two.Claims))
	}
}
