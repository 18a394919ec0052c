package papers

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/listwise/listwise/eval/stats"
)

// drawnResults has three rows on 40 queries: "low", "high" above it by a difference, and
// "like", which is like "low" but for noise; of two seeds each.
func drawnResults(above float64, seed uint64) *results {
	rng := rand.New(rand.NewPCG(seed, 1))
	s := &study{measures: []string{"map"}, readings: []reading{asPublished}}
	v := view{measures: s.measures, published: numbers{"low": {"map": 0.2}, "high": {"map": 0.1}, "like": {"map": 0.2}}}
	base := make([]float64, 40)
	for q := range base {
		base[q] = rng.Float64()
	}
	for _, name := range []string{"low", "high", "like"} {
		s.rows = append(s.rows, row{name: name, method: "listnet"})
		var seeds []map[string]number
		for range 2 {
			each := make([]float64, len(base))
			for q, x := range base {
				each[q] = x + 0.05*rng.NormFloat64()
				if name == "high" {
					each[q] += above
				}
			}
			seeds = append(seeds, map[string]number{"map": {mean: mean(each), each: each}})
		}
		v.values = append(v.values, seeds)
	}
	return &results{study: s, columns: []*column{{source: source{name: "made"}, reading: asPublished, views: []view{v}}}}
}

// An order held where the test says so, is reversed where it says the opposite, and is
// undecided between rows that are alike, whichever has the higher mean.
func TestOrderVerdicts(t *testing.T) {
	for _, c := range []struct {
		above float64
		order order
		want  OrderVerdict
	}{
		{0.1, order{better: []string{"high"}, than: []string{"low"}}, OrderHeld},
		{0.1, order{better: []string{"low"}, than: []string{"high"}}, OrderReversed},
		{0.1, order{better: []string{"low", "high"}, than: []string{"like"}}, OrderHeld},
		{0.1, order{better: []string{"like"}, than: []string{"low", "high"}}, OrderReversed},
		{0.1, order{better: []string{"low", "high"}, than: []string{"like"}, atLeast: 2}, OrderUndecided},
		{0.1, order{better: []string{"low", "like"}, than: []string{"high"}, atLeast: 2}, OrderReversed},
		{-0.1, order{better: []string{"low", "like"}, than: []string{"high"}, atLeast: 2}, OrderHeld},
		{0, order{better: []string{"high"}, than: []string{"low"}}, OrderUndecided},
		{0, order{better: []string{"high", "low"}, than: []string{"like"}}, OrderUndecided},
	} {
		s := drawnResults(c.above, 1)
		if got := s.orderClaim(&c.order, 0); got.Verdict != c.want || got.Cells != 1 {
			t.Errorf("%+v with a difference of %v: %+v, expected %s", c.order, c.above, got, c.want)
		}
	}
}

// Where all rows are alike, at most 5 % of the claims, with room for chance, are decided,
// also where the best of a group is chosen by its test values.
func TestOrdersAreUndecidedUnderTheNull(t *testing.T) {
	orders := []order{
		{better: []string{"high"}, than: []string{"low"}},
		{better: []string{"high", "like"}, than: []string{"low"}},
		{better: []string{"high"}, than: []string{"low", "like"}},
		{better: []string{"high", "like"}, than: []string{"low"}, atLeast: 2},
	}
	decided := make([]int, len(orders))
	const draws = 400
	for seed := range uint64(draws) {
		s := drawnResults(0, seed)
		for i := range orders {
			if s.orderClaim(&orders[i], 0).Verdict != OrderUndecided {
				decided[i]++
			}
		}
	}
	for i, n := range decided {
		if n > draws*8/100 {
			t.Errorf("%+v is decided in %d of %d draws of equal rows", orders[i], n, draws)
		}
	}
}

// An order is turned round where another row is significantly on the other side than in the
// publication: by more than the seeds of both rows explain, however even the queries are.
func TestTurned(t *testing.T) {
	with := func(above, offset float64) string {
		s := drawnResults(above, 1)
		v := &s.columns[0].views[0]
		for seed, values := range v.values[1] { // of "high": the mean over seeds stays
			for q := range values["map"].each {
				values["map"].each[q] += offset * float64(1-2*seed)
			}
		}
		p := place{results: s, column: s.columns[0], view: v, at: 1, measure: "map"}
		return p.turned("high")
	}
	if got := with(0.1, 0); got != "low" {
		t.Errorf("a row that is .1 above one that was published above it: turned %q", got)
	}
	if got := with(-0.1, 0); got != "" {
		t.Errorf("a row below those that were published above it: turned %q", got)
	}
	if got := with(0.1, 0.2); got != "" {
		t.Errorf("a difference of .1 between the means of seeds that lie .4 apart: turned %q", got)
	}
}

// A claim is corrected over its cells, and mixed if it goes both ways.
func TestOrderDecides(t *testing.T) {
	for _, c := range []struct {
		above, below []float64
		want         OrderVerdict
	}{
		{[]float64{0.02, 0.5}, []float64{0.98, 0.5}, OrderUndecided}, // 0.04 twice
		{[]float64{0.02}, []float64{0.98}, OrderHeld},
		{[]float64{0.03}, []float64{0.97}, OrderUndecided}, // two-sided
		{[]float64{0.001, 0.999}, []float64{0.999, 0.001}, OrderMixed},
		{[]float64{1, 1}, []float64{1, 0.001}, OrderReversed},
	} {
		var claim OrderClaim
		claim.decide(c.above, c.below)
		if claim.Verdict != c.want {
			t.Errorf("%v, %v: %s, expected %s", c.above, c.below, claim.Verdict, c.want)
		}
	}
}

// The table of differences has what stats.Between has of the rows' runs, corrected over the
// table, and leaves queries without a value out.
func TestDifferences(t *testing.T) {
	s := drawnResults(0.1, 2)
	v := &s.columns[0].views[0]
	v.values[1][0]["map"].each[3] = math.NaN()
	d := differences{
		title: func(*column, *view) string { return "" },
		pairs: []pair{{"high", "low"}, {"like", "low"}, {"nobody", "low"}},
	}
	var r Report
	d.add(s, &r)
	without := func(row int) [][]float64 {
		var runs [][]float64
		for _, values := range v.values[row] {
			each := values["map"].each
			runs = append(runs, append(append([]float64(nil), each[:3]...), each[4:]...))
		}
		return runs
	}
	want, err := stats.Between(without(1), without(0))
	if err != nil {
		t.Fatal(err)
	}
	sheet := r.Sheets[0]
	for column, value := range map[string]any{"difference": want.Mean, "error": want.Error, "p": want.P, "queries": 39, "runs": 2} {
		if got := cell(t, sheet, column, "made", asPublished.name, "standard", "high", "low"); got != value {
			t.Errorf("%s of high − low: %v, expected %v", column, got, value)
		}
	}
	first, second := cell(t, sheet, "p", "made", asPublished.name, "standard", "high", "low").(float64), cell(t, sheet, "p", "made", asPublished.name, "standard", "like", "low").(float64)
	corrected := stats.Holm([]float64{first, second})
	if got := cell(t, sheet, "holm", "made", asPublished.name, "standard", "like", "low"); got != corrected[1] {
		t.Errorf("corrected p of like − low: %v, expected %v", got, corrected[1])
	}
	if got := cell(t, sheet, "difference", "made", asPublished.name, "standard", "nobody", "low"); got != nil {
		t.Errorf("a row that is not there differs by %v", got)
	}
	if text := r.Tables[0].Rows[0][1]; text[len(text)-1] != '*' {
		t.Errorf("%q has no star", text)
	}
}

// A claim has the publication's count and, where its table has another, that too.
func TestOrderClaimText(t *testing.T) {
	for want, c := range map[string]OrderClaim{
		"A > B in 26 of 32": {Text: "A > B", Counted: "26 of 32", Whole: "26 of 32"},
		"A > B in 26 of 32 (14 of 32, 15 with equal cells in the printed table)": {Text: "A > B", Counted: "26 of 32", Whole: "14 of 32 (15)"},
		`A > B, "A is the best" (7 of 32 in the printed table)`:                  {Text: "A > B", Words: "A is the best", Whole: "7 of 32"},
		"A > B": {Text: "A > B"},
	} {
		if got := c.claim(); got != want {
			t.Errorf("%q, expected %q", got, want)
		}
	}
}
