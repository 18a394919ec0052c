package papers

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/listwise/listwise/eval/stats"
	"github.com/listwise/listwise/internal/testing/long"
)

// The data have the paper's division, 2+2+1 parts, and its 400 queries of 87 features, of which
// each is tested once.
func TestIntranetData(t *testing.T) {
	found, _, err := intranetData(Options{Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	tested := make(map[string]bool)
	for _, f := range found[0].folds {
		if len(f.Train.Queries) != 160 || len(f.Valid.Queries) != 160 || len(f.Test.Queries) != 80 || f.Train.Features != 87 {
			t.Errorf("%s: %d, %d and %d queries, %d features", f.Name, len(f.Train.Queries), len(f.Valid.Queries), len(f.Test.Queries), f.Train.Features)
		}
		for i := range f.Test.Queries {
			tested[f.Test.Queries[i].ID] = true
		}
	}
	if len(found[0].folds) != 5 || len(tested) != 400 {
		t.Errorf("%d folds, %d queries tested", len(found[0].folds), len(tested))
	}
}

// The report is the same from records and with several jobs, and has the claims of 6.3.2.
func TestIntranetReport(t *testing.T) {
	long.Test(t)
	s := quickly(lambdaRankIntranet())
	o := Options{Seed: 2, Jobs: 1, Scale: 0.05, Records: t.TempDir()}
	r := reportOf(t, s, o)
	text := everything(t, r)
	if text != everything(t, reportOf(t, s, o)) {
		t.Error("a run from records gives another report")
	}
	o.Jobs, o.Records = 3, ""
	if text != everything(t, reportOf(t, s, o)) {
		t.Error("three jobs give another report")
	}
	if len(r.Findings) != 3 {
		t.Errorf("findings %+v", r.Findings)
	}
	for _, f := range r.Findings {
		if f.Verdict == ClaimHeld {
			t.Errorf("%s: held on one draw of made data", f.Claim)
		}
	}
}

// A large validation set reduces variance if most folds say so. Choices that are all the same, as
// those among untrained models, say nothing.
func TestSteadier(t *testing.T) {
	equal, half := make([]float64, 10), slices.Repeat([]float64{0, 1}, 5)
	ones := slices.Repeat([]float64{1}, 10)
	for _, c := range []struct {
		large, small []float64
		want         FindVerdict
	}{{equal, ones, ClaimHeld}, {ones, equal, ClaimFailed}, {equal, equal, ClaimUndecided}, {half, slices.Repeat([]float64{0.5}, 10), ClaimUndecided}} {
		if got, _, _ := steadier(c.large, c.small); got != c.want {
			t.Errorf("%v and %v: %s, expected %s", c.large, c.small, got, c.want)
		}
	}
	same := slices.Repeat([]epochChoice{{[]float64{0.5, 0.25}, 0.4}}, 3)
	if s := spreadOfChoice(same, 2, rand.New(rand.NewPCG(1, 2))); s > 1e-12 {
		t.Errorf("equal choices spread by %v", s)
	}
}

// A quarter of the validation queries chooses less steadily on the made data, in few queries.
func TestLargeValidation(t *testing.T) {
	r := &Report{}
	if err := largeValidation(context.Background(), Options{Seed: 2, Scale: 0.05}, r); err != nil {
		t.Fatal(err)
	}
	if f := r.Findings[0]; f.Verdict == ClaimHeld || !strings.Contains(f.Figure, "with 8 of them") {
		t.Errorf("%+v", f)
	}
}

// Rows that are equal, or below, or above by chance at some levels only, are not what 6.3.2
// says; nor is a significant lead, but in part.
func TestHigherNotSignificantly(t *testing.T) {
	for _, c := range []struct {
		higher, above, below int
		want                 FindVerdict
	}{{10, 0, 0, ClaimHeld}, {10, 2, 0, ClaimPartly}, {7, 0, 0, ClaimUndecided}, {0, 0, 0, ClaimUndecided}, {3, 0, 0, ClaimUndecided}, {9, 0, 1, ClaimFailed}} {
		if got := higherNotSignificantly(&OrderClaim{Cells: 10, Higher: c.higher, Above: c.above, Below: c.below}); got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
}

// A lead is closer if the interval of the difference of leads says so.
func TestCloserThan(t *testing.T) {
	for _, c := range []struct {
		first, second, low, high float64
		want                     FindVerdict
	}{
		{0.02, 0.01, 0.005, 0.015, ClaimHeld},
		{0.02, 0.01, -0.005, 0.025, ClaimUndecided},
		{0.01, 0.02, -0.015, -0.005, ClaimFailed},
		{0.01, -0.03, 0.02, 0.06, ClaimFailed}, // further, the other way
		{-0.02, -0.01, 0.005, 0.015, ClaimHeld},
	} {
		if got := closerThan(c.first, c.second, stats.Interval{Low: c.low, High: c.high}); got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
}

// Two rows that are equal to each other, and to a trivial system, support nothing.
func TestEqualTrivialSystems(t *testing.T) {
	s := drawnResults(0.1, 4)
	c := s.columns[0]
	v := &c.views[0]
	s.rows[1].name, s.rows[2].name = "a", "b"
	v.values[2] = v.values[1]
	if verdict, figure := s.equalRows(c, "a", "b", []string{"map"}); verdict != ClaimHeld {
		t.Errorf("a row is not equal to itself: %s, %s", verdict, figure)
	}
	v.trivial = map[string][]trivial{"map": {{system: "the order of the file", value: v.mean(1, "map")}}}
	if verdict, figure := s.equalRows(c, "a", "b", []string{"map"}); verdict != ClaimTrivial || !strings.Contains(figure, "the order of the file") {
		t.Errorf("verdict %s, %s", verdict, figure)
	}
}

// The number of queries that a lead needs is that at which its standard error is the lead over
// 2.8: a lead that is seen needs no more, and one that is none is undecided.
func TestMoreQueries(t *testing.T) {
	d := difference{Difference: stats.Difference{Mean: 0.01, Error: 0.01}, queries: 100}
	if verdict, figure := moreQueries(&d); verdict != ClaimHeld || !strings.Contains(figure, "785 queries (here 100)") {
		t.Errorf("%s, %s", verdict, figure)
	}
	d.Error = 0.003
	if verdict, _ := moreQueries(&d); verdict != ClaimFailed {
		t.Errorf("a lead of 3.3 standard errors: %s", verdict)
	}
	d.Mean = -0.01
	if verdict, _ := moreQueries(&d); verdict != ClaimUndecided {
		t.Errorf("no lead: %s", verdict)
	}
}
