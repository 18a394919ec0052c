package paper

import (
	"bytes"
	"strings"
	"testing"
)

// A claim that a row is above another held only where the difference is significant.
func TestRises(t *testing.T) {
	for _, c := range []struct {
		above     float64
		row, than int
		want      FindVerdict
	}{
		{0.1, 1, 0, ClaimHeld}, {0.1, 0, 1, ClaimFailed}, {0, 1, 0, ClaimUndecided}, {0.1, 2, 0, ClaimUndecided},
	} {
		s := drawnResults(c.above, 1)
		v := &s.columns[0].views[0]
		if got, figure := s.rises(v, c.row, c.than, "map"); got != c.want || !strings.HasPrefix(figure, "MAP ") {
			t.Errorf("row %d above row %d, which are %v apart: %s (%s), expected %s", c.row, c.than, c.above, got, figure, c.want)
		}
	}
	s := drawnResults(0.1, 1)
	if got, _ := s.rises(&s.columns[0].views[0], 1, 0, "err"); got != ClaimUndecided {
		t.Errorf("a measure that nothing is known of: %s", got)
	}
}

// The page has a line for every claim, those of orders first, with the experiment's command.
func TestHeldPage(t *testing.T) {
	r := &Report{Name: "one"}
	r.found(ClaimFailed, "a|b is convex", "%d of %d", 1, 3)
	r.Orders = []OrderClaim{{Text: "A > B", Data: "OHSUMED", Counted: "26 of 32", Cells: 4, Higher: 3, Below: 1, Verdict: OrderReversed}}
	all := &All{Outcomes: []Outcome{
		{Experiment: Experiment{Name: "one", Paper: "LogRank"}, Report: r}, {Experiment: Experiment{Name: "skipped"}},
	}}
	var page bytes.Buffer
	if err := all.WriteHeld(&page); err != nil {
		t.Fatal(err)
	}
	var lines []string
	for line := range strings.Lines(page.String()) {
		if strings.Contains(line, "reproduce ") {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	want := []string{
		`| LogRank | A > B in 26 of 32 | did not hold | above in 3 of 4, significantly in 0; below in 1 (OHSUMED) | reproduce one |`,
		`| LogRank | a\|b is convex | did not hold | 1 of 3 | reproduce one |`,
	}
	if strings.Join(lines, "\n") != strings.Join(want, "\n") {
		t.Errorf("found %q, expected %q", lines, want)
	}
}

// What held on one draw is not said to hold.
func TestHeldOnOneDraw(t *testing.T) {
	for _, c := range []struct {
		order OrderClaim
		want  FindVerdict
	}{
		{OrderClaim{Verdict: OrderHeld, once: true}, ClaimOnce}, {OrderClaim{Verdict: OrderHeld}, ClaimHeld}, {OrderClaim{Verdict: OrderReversed, once: true}, ClaimFailedOnce}, {OrderClaim{Verdict: OrderReversed}, ClaimFailed},
	} {
		if got := c.order.finding().Verdict; got != c.want {
			t.Errorf("%+v: %s, expected %s", c.order, got, c.want)
		}
	}
}

// Verdicts combine symmetrically: exchanging held and failed exchanges the results.
func TestOfAll(t *testing.T) {
	opposite := map[FindVerdict]FindVerdict{
		ClaimHeld: ClaimFailed, ClaimPartly: ClaimFailedPartly, ClaimOnce: ClaimFailedOnce, ClaimMixed: ClaimMixed, ClaimUndecided: ClaimUndecided, ClaimOpen: ClaimOpen,
	}
	for v, other := range opposite {
		opposite[other] = v
	}
	for _, c := range []struct {
		of   []FindVerdict
		want FindVerdict
	}{
		{[]FindVerdict{ClaimHeld, ClaimHeld}, ClaimHeld},
		{[]FindVerdict{ClaimUndecided, ClaimHeld}, ClaimPartly},
		{[]FindVerdict{ClaimPartly, ClaimHeld, ClaimOpen}, ClaimPartly},
		{[]FindVerdict{ClaimHeld, ClaimUndecided, ClaimFailed}, ClaimMixed},
		{[]FindVerdict{ClaimMixed, ClaimHeld}, ClaimMixed},
		{[]FindVerdict{ClaimOnce, ClaimUndecided}, ClaimPartly},
		{[]FindVerdict{ClaimOpen, ClaimUndecided}, ClaimUndecided},
		{[]FindVerdict{ClaimOpen}, ClaimOpen},
	} {
		var turned []FindVerdict
		for _, v := range c.of {
			turned = append(turned, opposite[v])
		}
		if got := ofAll(c.of...); got != c.want {
			t.Errorf("%v: %s, expected %s", c.of, got, c.want)
		}
		if got := ofAll(turned...); got != opposite[c.want] {
			t.Errorf("%v: %s, expected %s", turned, got, opposite[c.want])
		}
	}
}

// Rows are alike only if the intervals lie within the margin: neither a difference that is merely
// not significant nor a significant one will do. For "no improvement" a row may be worse.
func TestAlike(t *testing.T) {
	each := func(shift, noise float64) map[string]number {
		values := make(map[string]number)
		for _, m := range []string{"ndcg@10", "map"} {
			var n number
			for q := range 40 {
				n.each = append(n.each, 0.5+shift+noise*float64(q%2*2-1))
			}
			values[m] = n
		}
		return values
	}
	rows := []map[string]number{each(0, 0), each(0.001, 0.001), each(0.1, 0.001), each(-0.1, 0.001), each(0, 0.2)}
	s, v := &results{study: &study{}}, &view{}
	for _, values := range rows {
		v.values = append(v.values, []map[string]number{values})
	}
	for _, c := range []struct {
		row         int
		alike, none FindVerdict
	}{
		{1, ClaimHeld, ClaimHeld}, {2, ClaimFailed, ClaimFailed}, {3, ClaimFailed, ClaimHeld}, {4, ClaimUndecided, ClaimUndecided}, {-1, ClaimUndecided, ClaimUndecided},
	} {
		got, figure := s.alike(v, c.row, 0, gainMargin, "ndcg@10", "map")
		if got != c.alike || !strings.HasSuffix(figure, "; margin ±0.005") {
			t.Errorf("row %d: alike %s (%s), expected %s", c.row, got, figure, c.alike)
		}
		got, figure = s.noGain(v, c.row, 0, gainMargin, "ndcg@10", "map")
		if got != c.none || !strings.HasSuffix(figure, "; margin +0.005") {
			t.Errorf("row %d: no improvement %s (%s), expected %s", c.row, got, figure, c.none)
		}
	}
}
