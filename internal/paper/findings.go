package paper

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/listwise/listwise/stats"
)

// Finding is a claim of a paper, and what became of it here.
type Finding struct {
	Claim   string      `json:"claim"`
	Verdict FindVerdict `json:"verdict"`
	Figure  string      `json:"figure"` // what the verdict rests on
}

// FindVerdict says what became of a claim.
type FindVerdict string

// The verdicts on claims. A claim is undecided where ours point one way or the other, but
// not by more than chance.
const (
	ClaimHeld      FindVerdict = "held"
	ClaimPartly    FindVerdict = "held in part"
	ClaimFailed    FindVerdict = "did not hold"
	ClaimUndecided FindVerdict = "undecided"
	ClaimOpen      FindVerdict = "cannot be known"

	// ClaimOnce is for what held on one draw of made data, of which others would have to be seen.
	ClaimOnce FindVerdict = "held on one draw"
)

// found adds a finding.
func (r *Report) found(v FindVerdict, claim, figure string, args ...any) {
	r.Findings = append(r.Findings, Finding{Claim: claim, Verdict: v, Figure: fmt.Sprintf(figure, args...)})
}

// holdsIf is the verdict on a claim that is either right or wrong.
func holdsIf(right bool) FindVerdict {
	if right {
		return ClaimHeld
	}
	return ClaimFailed
}

// stated adds a finding, and a note that says the same in a sentence.
func (r *Report) stated(v FindVerdict, claim, figure string, args ...any) {
	r.found(v, claim, figure, args...)
	r.note("%s: %s. %s.", claim, v, fmt.Sprintf(figure, args...))
}

// once is the verdict where one draw of made data was seen.
func (v FindVerdict) once() FindVerdict {
	if v == ClaimHeld {
		return ClaimOnce
	}
	return v
}

// ofAll is the verdict on a claim that several verdicts are about: theirs, if they agree.
func ofAll(verdicts ...FindVerdict) FindVerdict {
	for _, v := range verdicts {
		if v != verdicts[0] {
			if slices.Contains(verdicts, ClaimHeld) || slices.Contains(verdicts, ClaimPartly) {
				return ClaimPartly
			}
			return ClaimUndecided
		}
	}
	return verdicts[0]
}

// rises is the verdict on the claim that one row of a view is above another in several measures,
// with the differences: held if it is, significantly, in one (after Holm's correction), and
// significantly below in none.
func (s *results) rises(v *view, row, than int, measures ...string) (verdict FindVerdict, figure string) {
	found := make([]difference, len(measures))
	p := make([]float64, len(measures))
	for i, m := range measures {
		found[i] = v.difference(row, than, m)
		if p[i] = found[i].P; math.IsNaN(p[i]) {
			p[i] = 1
		}
	}
	above, below := 0, 0
	figures := make([]string, len(measures))
	for i, corrected := range stats.Holm(p) {
		figures[i] = fmt.Sprintf("%s %+.4f (%+.4f … %+.4f)", title(measures[i]), found[i].Mean, found[i].Interval.Low, found[i].Interval.High)
		switch {
		case corrected >= stats.Alpha:
		case found[i].Mean > 0:
			above++
		default:
			below++
		}
	}
	return byCounts(above, below), strings.Join(figures, ", ")
}

// byCounts is the verdict on a claim that something is above another, by the numbers of cells
// in which it significantly is and in which it is below.
func byCounts(above, below int) FindVerdict {
	switch {
	case above > 0 && below > 0:
		return ClaimPartly
	case above > 0:
		return ClaimHeld
	case below > 0:
		return ClaimFailed
	}
	return ClaimUndecided
}

// ofOrder is the verdict in words on an order.
var ofOrder = map[OrderVerdict]FindVerdict{
	OrderHeld: ClaimHeld, OrderMixed: ClaimPartly, OrderReversed: ClaimFailed, OrderUndecided: ClaimUndecided,
}

// finding is what an order's test comes to.
func (c *OrderClaim) finding() Finding {
	verdict := ofOrder[c.Verdict]
	if c.once {
		verdict = verdict.once()
	}
	counted := ""
	if c.Counted != "" {
		counted = " in " + c.Counted
	}
	return Finding{Claim: c.Text + counted, Verdict: verdict, Figure: fmt.Sprintf("above in %d of %d, significantly in %d; below in %d (%s)", c.Higher, c.Cells, c.Above, c.Below, c.Data)}
}

// findings are those of the report and of its orders.
func (r *Report) findings() []Finding {
	var all []Finding
	for i := range r.Orders {
		all = append(all, r.Orders[i].finding())
	}
	return append(all, r.Findings...)
}

// fact returns the value of a fact of all experiments.
func (a *All) fact(name string) string {
	for _, f := range a.Facts {
		if f.Name == name {
			return f.Value
		}
	}
	return ""
}

// WriteHeld writes the page of what held and what did not, a line a claim, in GitHub's
// Markdown.
func (a *All) WriteHeld(w io.Writer) error {
	b := &markdown{}
	b.line("# What held and what did not")
	b.line("A claim of the papers a line, written by `%s`; changes by hand are lost. The command of a line writes the tables that it sums up. Differences are paired over test queries and seeds, with 95 %% intervals in brackets; a claim is undecided where they may be chance. That something is alike, or brings nothing, is said where the interval lies within the margin that the command's report names.", a.fact("command"))
	t := Table{Left: 5, Columns: []string{"paper", "claim", "verdict", "figure", "command"}}
	for i := range a.Outcomes {
		o := &a.Outcomes[i]
		if o.Report == nil {
			continue
		}
		for _, f := range o.Report.findings() {
			t.Rows = append(t.Rows, []string{o.Paper, f.Claim, string(f.Verdict), f.Figure, "reproduce " + o.Name})
		}
	}
	b.table(&t)
	_, err := w.Write(b.Bytes())
	return err
}
