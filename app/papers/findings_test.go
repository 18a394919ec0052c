package papers

import (
	"bytes"
	"slices"
	"strconv"
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

// A row supports no claim that a trivial system in its place supports, too. It may still contradict
// one.
func TestClaimsNeedLearning(t *testing.T) {
	s := drawnResults(0.1, 1) // row 1 is above rows 0 and 2
	v := &s.columns[0].views[0]
	up, down := order{better: []string{"high"}, than: []string{"low"}}, order{better: []string{"low"}, than: []string{"high"}}
	for _, c := range []struct {
		trivial             int // the row that the trivial system is
		rises, falls, alike FindVerdict
		order               OrderVerdict
	}{
		{-1, ClaimHeld, ClaimFailed, ClaimHeld, OrderHeld},
		{1, ClaimTrivial, ClaimFailed, ClaimHeld, OrderTrivial},
		{0, ClaimHeld, ClaimFailed, ClaimTrivial, OrderHeld},
	} {
		v.trivial = nil
		if c.trivial >= 0 {
			v.trivial = map[string][]trivial{"map": {{system: "the order of the file", each: v.each(c.trivial, "map")}}}
		}
		rises, figure := s.rises(v, 1, 0, "map")
		falls, _ := s.rises(v, 0, 1, "map")
		alike, _ := s.alike(v, 2, 0, 0.05, "map")
		if rises != c.rises || falls != c.falls || alike != c.alike {
			t.Errorf("trivial row %d: above %s (%s), below %s, alike %s; expected %s, %s, %s", c.trivial, rises, figure, falls, alike, c.rises, c.falls, c.alike)
		}
		if says := strings.HasSuffix(figure, "; the order of the file does as well"); says != (c.rises == ClaimTrivial) {
			t.Errorf("trivial row %d: %s", c.trivial, figure)
		}
		if got := s.orderClaim(&up, 0).Verdict; got != c.order {
			t.Errorf("trivial row %d: the order %s, expected %s", c.trivial, got, c.order)
		}
		if got := s.orderClaim(&down, 0).Verdict; got != OrderReversed {
			t.Errorf("trivial row %d: the opposite order %s, expected %s", c.trivial, got, OrderReversed)
		}
	}
}

// The page has a table for each paper and a line for every claim, in the order of the sections.
func TestHeldPage(t *testing.T) {
	r := &Report{Name: "one"}
	r.found(ClaimFailed, "a|b is convex (10.1)", "%d of %d", 1, 3).Rule = "all"
	r.Reaches = []Reach{{"Table 1", 12, 8, "TD2003 4 of 4"}}
	r.found(ClaimHeld, "no section", "all")
	r.Orders = []OrderClaim{{Section: "9.2", Text: "A > B", Data: "OHSUMED", Counted: "26 of 32", Cells: 4, Higher: 3, Below: 1, Verdict: OrderReversed}}
	all := &All{Outcomes: []Outcome{
		{Experiment: Experiment{Name: "other", Picture: "Figure 2", Untrained: "a formula"}, Report: &Report{Findings: []Finding{{Claim: "c", Verdict: ClaimFailed}, {Claim: "d", Verdict: ClaimTrivial}, {Claim: "e", Verdict: ClaimOnce, trained: true}}}},
		{Experiment: Experiment{Name: "one", Paper: "LogRank"}, Report: r}, {Experiment: Experiment{Name: "skipped"}},
	}}
	var page bytes.Buffer
	if err := all.WriteHeld(&page); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		"| not tested | " + strconv.Itoa(len(notTested["LogRank"])) + " |",
		"| 1.2 | y is a boolean vector indexed by good–bad pairs | not tested | definition |  |\n",
	} {
		if !strings.Contains(page.String(), line) {
			t.Errorf("no %q", line)
		}
	}
	if strings.Contains(page.String(), "## LambdaRank") {
		t.Error("claims of a paper without an experiment")
	}
	var lines []string
	for line := range strings.Lines(page.String()) {
		if strings.Contains(line, "reproduce o") || strings.HasPrefix(line, "## ") || strings.Contains(line, "| held |") {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	want := []string{
		"| held | 1 | " + verdictMeanings[0].meaning + " |",
		"## Other experiments",
		"|  | c | did not hold | ; no trivial system: a formula | reproduce other |",
		"|  | d | not informative |  | reproduce other |",
		"|  | e | held on one draw |  | reproduce other |",
		"## LogRank",
		`| 9.2 | A > B in 26 of 32 | did not hold | above in 3 of 4, significantly in 0; below in 1 (OHSUMED) | reproduce one |`,
		`| 10.1 | a\|b is convex | did not hold | 1 of 3; to hold, by our rule: all | reproduce one |`,
		`|  | no section | held | all | reproduce one |`,
		"## Published tables",
		"| Other experiments | Figure 2 | none |  | a picture without numbers | reproduce other |",
		"| LogRank | Table 1 | 12 | 8 | TD2003 4 of 4 | reproduce one |",
	}
	if strings.Join(lines, "\n") != strings.Join(want, "\n") {
		t.Errorf("found %q, expected %q", lines, want)
	}
}

// The section is taken from the text, whose other words stay; numbers of equations are no sections.
func TestSections(t *testing.T) {
	for text, want := range map[string]Finding{
		"a > b (5.3.1)": {Section: "5.3.1", Claim: "a > b"},
		"real data (6.3.2, 6.4; the paper's are not public)":   {Section: "6.3.2, 6.4", Claim: "real data (the paper's are not public)"},
		"loss (4) or (5) is similar (section 2)":               {Section: "2", Claim: "loss (4) or (5) is similar"},
		"a combination (section 6, proposed)":                  {Section: "6", Claim: "a combination (proposed)"},
		"loss (4)":                                             {Claim: "loss (4)"},
		"most (slides: .920)":                                  {Section: "slides", Claim: "most (paper: .920)"},
		"a pattern (last slide, a picture)":                    {Section: "last slide", Claim: "a pattern (a picture)"},
		"consistent (theorem)":                                 {Section: "theorem", Claim: "consistent"},
		"A above B (chart), all features":                      {Section: "chart", Claim: "A above B, all features"},
		"ours (slide 12) is best":                              {Section: "slide 12", Claim: "ours is best"},
		"ϕ helps (slide Results)":                              {Section: "slide Results", Claim: "ϕ helps"},
		"the first is above in 3 of 4 (in brackets: or equal)": {Claim: "the first is above in 3 of 4 (in brackets: or equal)"},
	} {
		got := Finding{Claim: text}
		got.splitSection()
		if got != want {
			t.Errorf("%q: %+v, expected %+v", text, got, want)
		}
	}
	sections := []string{"2", "5.2", "5.2.1", "5.10", "6.3.2, 6.4", "theorem", ""}
	if !slices.IsSortedFunc(sections, compareSections) {
		t.Errorf("%q are not in order", sections)
	}
}

// Every verdict is explained on the page.
func TestVerdictsAreExplained(t *testing.T) {
	for _, v := range []FindVerdict{ClaimHeld, ClaimPartly, ClaimMixed, ClaimFailedPartly, ClaimFailed, ClaimUndecided, ClaimTrivial, ClaimOpen, ClaimOnce, ClaimFailedOnce, ClaimNotTested} {
		n := 0
		for _, m := range verdictMeanings {
			if m.verdict == v {
				n++
			}
		}
		if n != 1 {
			t.Errorf("%s is explained %d times", v, n)
		}
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
		ClaimHeld: ClaimFailed, ClaimPartly: ClaimFailedPartly, ClaimOnce: ClaimFailedOnce, ClaimMixed: ClaimMixed, ClaimUndecided: ClaimUndecided, ClaimOpen: ClaimOpen, ClaimTrivial: ClaimTrivial,
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
		{[]FindVerdict{ClaimOnce, ClaimUndecided}, ClaimOnce},
		{[]FindVerdict{ClaimOnce, ClaimHeld}, ClaimPartly},
		{[]FindVerdict{ClaimOpen, ClaimUndecided}, ClaimUndecided},
		{[]FindVerdict{ClaimOpen}, ClaimOpen},
		{[]FindVerdict{ClaimTrivial, ClaimTrivial}, ClaimTrivial},
		{[]FindVerdict{ClaimTrivial, ClaimHeld}, ClaimPartly},
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
		got, figure = s.noGain(v, c.row, 0, "ndcg@10", "map")
		if got != c.none || !strings.HasSuffix(figure, "; margin +0.005") {
			t.Errorf("row %d: no improvement %s (%s), expected %s", c.row, got, figure, c.none)
		}
	}
}
