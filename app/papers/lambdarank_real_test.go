package papers

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/listwise/listwise/eval/stats"
	"github.com/listwise/listwise/internal/random"
	"github.com/listwise/listwise/internal/testing/long"
)

// quickly returns a study whose rows are trained in no time, with two seeds.
func quickly(s study) study {
	s.rows, s.seeds = slices.Clone(s.rows), 2
	for i := range s.rows {
		r := &s.rows[i]
		r.seeds, r.grid = 2, maps.Clone(r.grid)
		r.grid["rate"], r.grid["epochs"] = []string{"0.0001", "0.05"}, []string{"3"}
	}
	return s
}

// RankNet and LambdaRank have equal grids, with each net; alpha's steps are small enough.
func TestLambdaRankRealGrids(t *testing.T) {
	s := lambdaRankReal()
	for _, n := range artificialNets {
		a, b := s.rows[s.rowNamed("RankNet "+n.name)], s.rows[s.rowNamed("LambdaRank "+n.name)]
		if !maps.EqualFunc(a.grid, b.grid, slices.Equal) || a.scorer != b.scorer || a.seeds != b.seeds || a.seeds < 5 {
			t.Errorf("%s: %+v and %+v", n.name, a, b)
		}
	}
	pulled := 0
	for _, r := range s.rows {
		for _, alpha := range r.grid["alpha"] {
			pulled++
			for _, rate := range r.grid["rate"] {
				if parse(alpha)*parse(rate) > 1.0001e-4 {
					t.Errorf("%s is tried at %s", r.name, rate)
				}
			}
		}
	}
	if pulled != 6 {
		t.Errorf("%d rows have alpha", pulled)
	}
}

// The report is the same from records and with several jobs, and has every level, order and
// contrast of both sets, with curves.
func TestLambdaRankRealReport(t *testing.T) {
	long.Test(t)
	s := quickly(lambdaRankReal())
	o := Options{Data: setsOf(t, "OHSUMED", "MQ2008"), Seed: 2, Jobs: 1, Records: t.TempDir()}
	r := reportOf(t, s, o)
	again := reportOf(t, s, o)
	o.Jobs, o.Records = 3, ""
	if text := everything(t, r); text != everything(t, again) || text != everything(t, reportOf(t, s, o)) {
		t.Error("three jobs, or a run from records, give another report")
	}
	rows := make(map[string]int)
	for _, sheet := range r.Sheets {
		rows[sheet.Name] = len(sheet.Rows)
	}
	want := map[string]int{"": 2 * 10 * 10, "differences": 2 * 3 * 4, "orders": 2 * 2, "contrasts": 2 * 4, "alpha": 2 * 6 * 4, "chosen": 2 * 10 * 2 * 3}
	if !maps.Equal(rows, want) {
		t.Errorf("sheets %v, expected %v", rows, want)
	}
	var names []string
	for i := range r.Plots {
		names = append(names, r.plotName(i))
	}
	if want := []string{"lambdarank-real.svg", "lambdarank-real-mq2008.svg", "lambdarank-real-lead.svg", "lambdarank-real-lead-mq2008.svg"}; !slices.Equal(names, want) {
		t.Errorf("plots %v, expected %v", names, want)
	}
	if len(r.Orders) != 0 {
		t.Error("orders on other data than the paper's count as published ones")
	}
	if len(r.Findings) != 3+4 || !strings.Contains(r.Findings[4].Claim, "two-layer") || !strings.Contains(r.Findings[4].Figure, "; MQ2008: above at ") {
		t.Errorf("findings %+v", r.Findings)
	}
	if margin := fmt.Sprintf("margin ±%v", ndcgMargin); strings.Count(r.Findings[6].Figure, margin)+strings.Count(r.Findings[6].Figure, "is as good") != 2 {
		t.Errorf("the finding on equality is %+v", r.Findings[6])
	}
	if len(r.Notes) != 1+2*2 || !strings.Contains(r.Notes[4], "MQ2008, two-layer nets: LambdaRank leads by ") {
		t.Errorf("notes %q", r.Notes)
	}
}

// A contrast is the difference of two differences, run by run, and is found where there is
// one: "high" leads "low" by more at the first measure than at the last.
func TestLeadContrasts(t *testing.T) {
	s := drawnResults(0.1, 4)
	v := &s.columns[0].views[0]
	s.measures = []string{"map", "mrr"}
	rng := random.Stream(1, "contrasts", "")
	for row := range v.values {
		for _, seed := range v.values[row] {
			each := slices.Clone(seed["map"].each)
			for q := range each {
				each[q] += 0.01 * rng.NormFloat64()
				if s.rows[row].name == "high" {
					each[q] -= 0.05
				}
			}
			seed["mrr"] = number{mean: mean(each), each: each}
		}
	}
	l := leadContrasts{[]pair{{"high", "low"}, {"like", "low"}}}
	found := l.find(s, v)
	value := func(row int, m string) float64 { return mean(v.means(row, m)) }
	want := []float64{
		value(1, "map") - value(0, "map") - (value(1, "mrr") - value(0, "mrr")),
		value(2, "map") - value(0, "map") - (value(2, "mrr") - value(0, "mrr")),
		value(2, "map") - value(1, "map"),
		value(2, "mrr") - value(1, "mrr"),
	}
	for i, x := range found {
		if math.Abs(x.Mean-want[i]) > 1e-12 {
			t.Errorf("%s: %v, expected %v", x.name, x.Mean, want[i])
		}
	}
	if found[0].holm > stats.Alpha || found[0].Mean < 0.03 || found[1].holm < stats.Alpha {
		t.Errorf("contrasts %+v, expected the first alone of the first two to be significant", found[:2])
	}
}

// Rates are counted once a fold and seed, and those that were not tried have no number.
func TestRatesChosen(t *testing.T) {
	s := quickly(lambdaRankReal())
	s.rows = s.rows[:2]
	s.rows[1].grid["rate"] = []string{"0.01", "0.05", "1"}
	s.parts = []part{ratesChosen}
	table := reportOf(t, s, Options{Data: setsOf(t, "OHSUMED", "TD2003"), Seed: 1}).Tables[0]
	if !slices.Equal(table.Columns[2:], []string{"0.0001", "0.01", "0.05", "1"}) || len(table.Rows) != 2 {
		t.Fatalf("table %+v", table)
	}
	for i, line := range table.Rows {
		sum := 0.0
		for _, count := range line[2:] {
			if count != "" {
				sum += parse(count)
			}
		}
		if sum != 2*3 || (line[2] == "") != (i == 1) || (line[5] == "") != (i == 0) {
			t.Errorf("line %q, expected 3 folds of 2 seeds among the rates tried", line)
		}
	}
}
