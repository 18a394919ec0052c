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
		{OrderClaim{Verdict: OrderHeld, once: true}, ClaimOnce}, {OrderClaim{Verdict: OrderHeld}, ClaimHeld}, {OrderClaim{Verdict: OrderReversed, once: true}, ClaimFailed},
	} {
		if got := c.order.finding().Verdict; got != c.want {
			t.Errorf("%+v: %s, expected %s", c.order, got, c.want)
		}
	}
}

// What several verdicts come to: themselves if they agree, in part if something held.
func TestOfAll(t *testing.T) {
	for _, c := range []struct {
		of   []FindVerdict
		want FindVerdict
	}{
		{[]FindVerdict{ClaimHeld, ClaimHeld}, ClaimHeld}, {[]FindVerdict{ClaimFailed}, ClaimFailed},
		{[]FindVerdict{ClaimUndecided, ClaimHeld}, ClaimPartly}, {[]FindVerdict{ClaimFailed, ClaimUndecided}, ClaimUndecided},
	} {
		if got := ofAll(c.of...); got != c.want {
			t.Errorf("%v: %s, expected %s", c.of, got, c.want)
		}
	}
}
