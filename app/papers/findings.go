package papers

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/listwise/listwise/eval/stats"
)

// Finding is a claim of a paper, and what became of it here.
type Finding struct {
	Paper   string      `json:"paper,omitempty"`   // if another than the experiment's
	Section string      `json:"section,omitempty"` // of the paper: "5.3.1", "slide 7"
	Claim   string      `json:"claim"`
	Verdict FindVerdict `json:"verdict"`
	Figure  string      `json:"figure"`         // what the verdict rests on
	Rule    string      `json:"rule,omitempty"` // our limits that a claim must meet to hold

	trained bool // a trivial system took part, though not in the rest of its experiment
}

// FindVerdict says what became of a claim.
type FindVerdict string

// The verdicts on claims; verdictMeanings explains each.
const (
	ClaimHeld         FindVerdict = "held"
	ClaimPartly       FindVerdict = "held in part"
	ClaimMixed        FindVerdict = "mixed"
	ClaimFailedPartly FindVerdict = "failed in part"
	ClaimFailed       FindVerdict = "did not hold"
	ClaimUndecided    FindVerdict = "undecided"
	ClaimTrivial      FindVerdict = "not informative"
	ClaimOpen         FindVerdict = "cannot be known"
	ClaimNotTested    FindVerdict = "not tested" // of notTested alone

	// These are for one draw of synthetic data: other draws may differ.
	ClaimOnce       FindVerdict = "held on one draw"
	ClaimFailedOnce FindVerdict = "failed on one draw"
)

// found adds a finding. The result is valid until the next one is added.
func (r *Report) found(v FindVerdict, claim, figure string, args ...any) *Finding {
	if r.once {
		v = v.once()
	}
	r.Findings = append(r.Findings, Finding{Claim: claim, Verdict: v, Figure: fmt.Sprintf(figure, args...)})
	return &r.Findings[len(r.Findings)-1]
}

// holdsIf is the verdict on a claim that is either right or wrong.
func holdsIf(right bool) FindVerdict {
	if right {
		return ClaimHeld
	}
	return ClaimFailed
}

// stated adds a finding, and a note that says the same in a sentence.
func (r *Report) stated(v FindVerdict, claim, figure string, args ...any) *Finding {
	f := r.found(v, claim, figure, args...)
	r.note("%s: %s. %s.", claim, f.Verdict, f.Figure)
	return f
}

// once is the verdict where one draw of synthetic data was seen.
func (v FindVerdict) once() FindVerdict {
	switch v {
	case ClaimHeld:
		return ClaimOnce
	case ClaimFailed:
		return ClaimFailedOnce
	}
	return v
}

// ofAll combines verdicts on the cases of a claim. Support and refutation count alike: what
// held and is elsewhere undecided held in part, and what failed and is elsewhere undecided
// failed in part. Where one draw alone decides, the whole is decided on one draw.
func ofAll(verdicts ...FindVerdict) FindVerdict {
	same := func(v FindVerdict) bool { return v == verdicts[0] }
	if !slices.ContainsFunc(verdicts, func(v FindVerdict) bool { return !same(v) }) {
		return verdicts[0]
	}
	some := func(of ...FindVerdict) bool {
		return slices.ContainsFunc(verdicts, func(v FindVerdict) bool { return slices.Contains(of, v) })
	}
	held := some(ClaimHeld, ClaimOnce, ClaimPartly, ClaimMixed)
	failed := some(ClaimFailed, ClaimFailedOnce, ClaimFailedPartly, ClaimMixed)
	switch {
	case held && failed:
		return ClaimMixed
	case held && !some(ClaimHeld, ClaimPartly):
		return ClaimOnce
	case held:
		return ClaimPartly
	case failed && !some(ClaimFailed, ClaimFailedPartly):
		return ClaimFailedOnce
	case failed:
		return ClaimFailedPartly
	}
	return ClaimUndecided
}

// ofCases is the verdict on a claim that is right in some of its cases and wrong in the others.
func ofCases(right, cases int) FindVerdict {
	switch {
	case cases == 0:
		return ClaimUndecided
	case right == cases:
		return ClaimHeld
	case right == 0:
		return ClaimFailed
	}
	return ClaimMixed
}

// rises is the verdict on the claim that one row of a view is above another in several measures,
// with the differences. It held if the row is significantly above in one, after Holm's
// correction, and below in none. It is not informative if a trivial system does as well.
// That system's mean is above the other row's where the first row is significantly above, and the
// first row is nowhere significantly above the system.
func (s *results) rises(v *view, row, than int, measures ...string) (verdict FindVerdict, figure string) {
	found := v.differences(row, than, measures)
	return v.unlessTrivial(byCounts(found.significant()), found.text(measures), measures, func(i int) bool {
		lower, as := v.lessTrivial(than, i, measures), false
		for k := range found {
			as = as || found[k].holm < stats.Alpha && found[k].Mean > 0 && lower[k].Mean < 0
		}
		above, _ := v.lessTrivial(row, i, measures).significant()
		return as && above == 0
	})
}

// unlessTrivial replaces a verdict that supports a claim if a trivial system would get it, too.
func (v *view) unlessTrivial(verdict FindVerdict, figure string, measures []string, passes func(i int) bool) (FindVerdict, string) {
	if verdict != ClaimHeld && verdict != ClaimMixed {
		return verdict, figure
	}
	for i, t := range v.trivial[measures[0]] {
		if passes(i) {
			if verdict == ClaimMixed {
				return ClaimFailedPartly, figure
			}
			return ClaimTrivial, figure + "; " + t.system + " does as well"
		}
	}
	return verdict, figure
}

// lessTrivial returns how far a row is above the i-th trivial system in several measures.
func (v *view) lessTrivial(row, i int, measures []string) severalDifferences {
	found := make(severalDifferences, len(measures))
	for k, m := range measures {
		found[k] = between(v.runs(row, m), [][]float64{v.trivial[m][i].each})
	}
	return found.corrected()
}

// needsLearning guards verdicts that rows can get without learning. It returns undecided unless every
// row is above the trivial systems.
func (v *view) needsLearning(verdict FindVerdict, rows []int, measures ...string) FindVerdict {
	for _, row := range rows {
		if row < 0 || v.notAbove(row, measures) != "" {
			return ClaimUndecided
		}
	}
	return verdict
}

// notAbove returns a trivial system that a row is not above, or "": above is significantly
// in one of the measures at least.
func (v *view) notAbove(row int, measures []string) string {
	for i, t := range v.trivial[measures[0]] {
		if above, _ := v.lessTrivial(row, i, measures).significant(); above == 0 {
			return t.system
		}
	}
	return ""
}

// The margins of equivalence, as differences of a measure between 0 and 1.
const (
	alikeMargin = 0.02  // rows are alike
	gainMargin  = 0.005 // a row brings no improvement over another
)

// alike is the verdict on the claim that two rows of a view are alike in several measures, with
// the differences. It held if all 95 % intervals lie within ±margin. It failed if some
// difference is significant and its interval does not. A difference that is merely not
// significant leaves the claim undecided.
func (s *results) alike(v *view, row, than int, margin float64, measures ...string) (verdict FindVerdict, figure string) {
	found := v.differences(row, than, measures)
	figure = fmt.Sprintf("%s; margin ±%v", found.text(measures), margin)
	return v.unlessTrivial(found.within(-margin, margin), figure, measures, func(i int) bool {
		return v.lessTrivial(than, i, measures).within(-margin, margin) == ClaimHeld
	})
}

// noGain is the verdict on the claim that a row brings no improvement over another, with the
// differences. The rule is the one of alike, but the row may be worse: only the upper ends of the
// intervals have to lie below the margin. It is not informative if the row brings no improvement
// over a trivial system either.
func (s *results) noGain(v *view, row, than int, measures ...string) (verdict FindVerdict, figure string) {
	found := v.differences(row, than, measures)
	figure = fmt.Sprintf("%s; margin +%v", found.text(measures), gainMargin)
	return v.unlessTrivial(found.within(math.Inf(-1), gainMargin), figure, measures, func(i int) bool {
		return v.lessTrivial(row, i, measures).within(math.Inf(-1), gainMargin) == ClaimHeld
	})
}

type severalDifferences []difference

// differences compares two rows, with Holm's correction over the measures.
func (v *view) differences(row, than int, measures []string) severalDifferences {
	found := make(severalDifferences, len(measures))
	for i, m := range measures {
		found[i] = v.difference(row, than, m)
	}
	return found.corrected()
}

// corrected applies Holm's correction.
func (d severalDifferences) corrected() severalDifferences {
	correct(len(d), func(i int) *difference { return &d[i] })
	return d
}

// correct applies Holm's correction to n differences. An unknown one counts as not significant.
func correct(n int, at func(i int) *difference) {
	p := make([]float64, n)
	for i := range p {
		if p[i] = at(i).P; math.IsNaN(p[i]) {
			p[i] = 1
		}
	}
	for i, corrected := range stats.Holm(p) {
		at(i).holm = corrected
	}
}

// significant counts the measures in which the first row is significantly above and below.
func (d severalDifferences) significant() (above, below int) {
	for i := range d {
		switch {
		case d[i].holm >= stats.Alpha:
		case d[i].Mean > 0:
			above++
		default:
			below++
		}
	}
	return above, below
}

// within is the verdict on the claim that all differences are between low and high.
func (d severalDifferences) within(low, high float64) FindVerdict {
	verdict := ClaimHeld
	for i := range d {
		x := &d[i]
		if x.Interval.Low > low && x.Interval.High < high {
			continue
		}
		if x.holm < stats.Alpha && (x.Mean > 0 || !math.IsInf(low, -1)) {
			return ClaimFailed
		}
		verdict = ClaimUndecided
	}
	return verdict
}

// text is "MAP +0.0012 (-0.0031 … +0.0055), …".
func (d severalDifferences) text(measures []string) string {
	figures := make([]string, len(d))
	for i := range d {
		figures[i] = fmt.Sprintf("%s %+.4f (%+.4f … %+.4f)", title(measures[i]), d[i].Mean, d[i].Interval.Low, d[i].Interval.High)
	}
	return strings.Join(figures, ", ")
}

// byCounts is the verdict on the claim that something is above another, given the numbers of cells
// where it is significantly above and below.
func byCounts(above, below int) FindVerdict {
	switch {
	case above > 0 && below > 0:
		return ClaimMixed
	case above > 0:
		return ClaimHeld
	case below > 0:
		return ClaimFailed
	}
	return ClaimUndecided
}

// ofOrder is the verdict in words on an order.
var ofOrder = map[OrderVerdict]FindVerdict{
	OrderHeld: ClaimHeld, OrderMixed: ClaimMixed, OrderReversed: ClaimFailed, OrderUndecided: ClaimUndecided, OrderTrivial: ClaimTrivial,
}

// finding is what an order's test comes to.
func (c *OrderClaim) finding() Finding {
	verdict := ofOrder[c.Verdict]
	if c.once {
		verdict = verdict.once()
	}
	figure := fmt.Sprintf("above in %d of %d, significantly in %d; below in %d (%s)", c.Higher, c.Cells, c.Above, c.Below, c.Data)
	if c.trivial > 0 {
		figure += fmt.Sprintf("; significantly in %d where a trivial system does as well", c.trivial)
	}
	return Finding{Paper: c.paper, Section: c.Section, Claim: c.claim(), Verdict: verdict, Figure: figure}
}

// claim is the order as the publication claims it, "A > B in 26 of 32 (14 of 32, 15 with equal
// cells in the printed table)".
func (c *OrderClaim) claim() string {
	text := c.Text
	if c.Counted != "" {
		text += " in " + c.Counted
	} else if c.Words != "" {
		text += ", \"" + c.Words + "\""
	}
	if c.Whole != "" && c.Whole != c.Counted {
		equal := strings.NewReplacer(" (", ", ", ")", " with equal cells") // of "14 of 32 (15)"
		text += " (" + equal.Replace(c.Whole) + " in the printed table)"
	}
	return text
}

// findings returns the findings of the report and of its orders. Sections are taken out of the texts.
func (r *Report) findings() []Finding {
	var all []Finding
	for i := range r.Orders {
		all = append(all, r.Orders[i].finding())
	}
	all = append(all, r.Findings...)
	for i := range all {
		all[i].splitSection()
	}
	return all
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

// pair names two rows: the first is compared with the second.
type pair struct{ row, than string }

// differences is a table and a sheet of how far rows are above others on the same test
// queries, over all seeds, with 95 % intervals. Stars are for differences that are significant
// at 5 % after Holm's correction over the table.
type differences struct {
	title    func(*column, *view) string
	name     string // of the sheet
	pairs    []pair
	measures []string // nil for the view's
	main     bool     // the table belongs on the page of all experiments
}

// overQueries is the usual title.
func overQueries(c *column, _ *view) string {
	return "differences over the test queries of " + c.name + ", with 95 % intervals; * significant at 5 % after Holm's correction"
}

// difference is one of two rows in a measure.
type difference struct {
	stats.Difference
	holm          float64
	queries       int
	runs, against int // numbers of seeds
}

func (d differences) add(s *results, r *Report) {
	sheet := Sheet{Name: d.name, Columns: []string{"data", "reading", "convention", "method", "than", "measure", "difference", "error", "low", "high", "p", "holm", "queries", "runs", "runs_than"}}
	for _, c := range s.columns {
		for k := range c.views {
			v := &c.views[k]
			found := d.find(s, v)
			r.Tables = append(r.Tables, d.table(s, c, v, found))
			for i, line := range found {
				if !d.pairs[i].isFor(s, c) {
					continue
				}
				for j, x := range line {
					sheet.Rows = append(sheet.Rows, []any{
						c.name, c.reading.name, v.convention.Name(), d.pairs[i].row, d.pairs[i].than, d.of(v)[j],
						orNil(x.Mean), orNil(x.Error), orNil(x.Interval.Low), orNil(x.Interval.High), orNil(x.P), orNil(x.holm), x.queries, x.runs, x.against,
					})
				}
			}
		}
	}
	r.Sheets = append(r.Sheets, sheet)
}

// of returns the measures of the table.
func (d *differences) of(v *view) []string {
	if d.measures != nil {
		return d.measures
	}
	return v.measures
}

// find computes the differences of a view, a line for every pair.
func (d *differences) find(s *results, v *view) [][]difference {
	found := make([][]difference, len(d.pairs))
	var all []*difference
	for i, rows := range d.pairs {
		found[i] = make([]difference, len(d.of(v)))
		for j, m := range d.of(v) {
			found[i][j] = v.difference(s.rowNamed(rows.row), s.rowNamed(rows.than), m)
			if x := &found[i][j]; !math.IsNaN(x.P) {
				all = append(all, x)
			}
		}
	}
	correct(len(all), func(i int) *difference { return all[i] })
	return found
}

func (d *differences) table(s *results, c *column, v *view, found [][]difference) Table {
	t := Table{Title: d.title(c, v), Left: 1, Main: d.main, Columns: []string{"difference"}}
	for _, m := range d.of(v) {
		t.Columns = append(t.Columns, title(m))
	}
	for i, line := range found {
		if !d.pairs[i].isFor(s, c) {
			continue
		}
		cells := []string{d.pairs[i].row + " − " + d.pairs[i].than}
		for _, x := range line {
			cells = append(cells, x.text())
		}
		t.Rows = append(t.Rows, cells)
	}
	return t
}

// isFor reports whether both rows are for a column's set.
func (p pair) isFor(s *results, c *column) bool {
	for _, name := range []string{p.row, p.than} {
		if at := s.rowNamed(name); at >= 0 && s.rows[at].on != nil && !s.rows[at].on(c) {
			return false
		}
	}
	return true
}

// text is "+0.0012 (-0.0031 … +0.0055)" and a star if it is significant.
func (x *difference) text() string {
	if math.IsNaN(x.Mean) {
		return ""
	}
	star := " "
	if x.holm < stats.Alpha {
		star = "*"
	}
	return fmt.Sprintf("%+.4f (%+.4f … %+.4f)%s", x.Mean, x.Interval.Low, x.Interval.High, star)
}

// difference returns how far row a is above row b in a measure; numbers that are NaN if that
// is not known.
func (v *view) difference(a, b int, m string) difference {
	if a < 0 || b < 0 {
		return unknownDifference()
	}
	if v.strata != nil {
		return v.averaged(a, b, m)
	}
	return between(v.runs(a, m), v.runs(b, m))
}

// between compares runs. Queries without a value in some run are left out.
func between(first, second [][]float64) difference {
	all := append(append([][]float64(nil), first...), second...)
	first, second = known(first, all), known(second, all)
	found, err := stats.Between(first, second)
	if err != nil { // too few queries or a row without runs
		return unknownDifference()
	}
	return difference{Difference: found, holm: found.P, queries: len(first[0]), runs: len(first), against: len(second)}
}

func unknownDifference() difference {
	nan := math.NaN()
	return difference{Difference: stats.Difference{Mean: nan, Error: nan, P: nan, Interval: stats.Interval{Low: nan, High: nan}}, holm: nan}
}

// runs returns a row's values on the test queries, a list a seed.
func (v *view) runs(row int, m string) [][]float64 {
	var runs [][]float64
	for _, values := range v.values[row] {
		runs = append(runs, values[m].each)
	}
	return runs
}

// known returns runs without the queries on which one of all has no value.
func known(runs, all [][]float64) [][]float64 {
	kept := make([][]float64, len(runs))
	for r, run := range runs {
		for q, x := range run {
			lacking := false
			for _, other := range all {
				lacking = lacking || math.IsNaN(other[q])
			}
			if !lacking {
				kept[r] = append(kept[r], x)
			}
		}
	}
	return kept
}
