package papers

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/listwise/listwise/eval/stats"
)

// Finding is a claim of a paper with a verdict from our results.
type Finding struct {
	Paper   string      `json:"paper,omitempty"`   // if it differs from the experiment's paper
	Section string      `json:"section,omitempty"` // of the paper: "5.3.1", "slide 7"
	Claim   string      `json:"claim"`
	Verdict FindVerdict `json:"verdict"`
	Figure  string      `json:"figure"`         // numbers behind the verdict
	Rule    string      `json:"rule,omitempty"` // our criteria for the claim to hold

	trained bool // compared with a trivial system, although the experiment has none
}

// FindVerdict is the verdict on a claim.
type FindVerdict string

// The verdicts on claims. verdictMeanings explains each of them.
const (
	ClaimHeld         FindVerdict = "held"
	ClaimPartly       FindVerdict = "held in part"
	ClaimMixed        FindVerdict = "mixed"
	ClaimFailedPartly FindVerdict = "failed in part"
	ClaimFailed       FindVerdict = "did not hold"
	ClaimUndecided    FindVerdict = "undecided"
	ClaimTrivial      FindVerdict = "not informative"
	ClaimOpen         FindVerdict = "cannot be known"
	ClaimNotTested    FindVerdict = "not tested" // set by notTested only

	// These verdicts are based on one draw of synthetic data. Other draws may differ.
	ClaimOnce       FindVerdict = "held on one draw"
	ClaimFailedOnce FindVerdict = "failed on one draw"
)

// found adds a finding and returns it. The pointer is valid until the next finding is added.
func (r *Report) found(v FindVerdict, claim, figure string, args ...any) *Finding {
	if r.once {
		v = v.once()
	}
	r.Findings = append(r.Findings, Finding{Claim: claim, Verdict: v, Figure: fmt.Sprintf(figure, args...)})
	return &r.Findings[len(r.Findings)-1]
}

// holdsIf returns the verdict on a claim that is either right or wrong.
func holdsIf(right bool) FindVerdict {
	if right {
		return ClaimHeld
	}
	return ClaimFailed
}

// stated adds a finding, and a note with the same content.
func (r *Report) stated(v FindVerdict, claim, figure string, args ...any) *Finding {
	f := r.found(v, claim, figure, args...)
	r.note("%s: %s. %s.", claim, f.Verdict, f.Figure)
	return f
}

// once returns the verdict for evidence from one draw of synthetic data.
func (v FindVerdict) once() FindVerdict {
	switch v {
	case ClaimHeld:
		return ClaimOnce
	case ClaimFailed:
		return ClaimFailedOnce
	}
	return v
}

// ofAll combines the verdicts on the cases of a claim. The claim held in part if some cases held
// and others are undecided. It failed in part if some cases failed and others are undecided. If
// every deciding case is a single draw, the result is a verdict on one draw.
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

// ofCases returns the verdict on a claim that is right in a number of its cases and wrong in the
// other cases.
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

// rises returns the verdict on the claim that one row of a view is above another in several
// measures, and the differences. The claim held if the row is significantly above in one measure,
// after Holm's correction, and significantly below in none. It is not informative if a trivial
// system does as well: in a measure in which the first row is significantly above the second, the
// system is above the second, too, and the first row is significantly above the system in no
// measure.
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

// unlessTrivial replaces a verdict that supports a claim if a trivial system passes the same test.
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

// lessTrivial returns the differences of a row from the i-th trivial system in several measures.
func (v *view) lessTrivial(row, i int, measures []string) severalDifferences {
	found := make(severalDifferences, len(measures))
	for k, m := range measures {
		found[k] = between(v.runs(row, m), [][]float64{v.trivial[m][i].each})
	}
	return found.corrected()
}

// needsLearning guards verdicts that rows can get without learning. It returns undecided unless
// every row is above all trivial systems.
func (v *view) needsLearning(verdict FindVerdict, rows []int, measures ...string) FindVerdict {
	for _, row := range rows {
		if row < 0 || v.notAbove(row, measures) != "" {
			return ClaimUndecided
		}
	}
	return verdict
}

// notAbove returns the name of a trivial system that a row is not above, or "". A row is above a
// system if it is significantly better in at least one of the measures.
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
	alikeMargin = 0.02  // two rows are alike
	gainMargin  = 0.005 // a row does not improve on another
)

// alike returns the verdict on the claim that two rows of a view are alike in several measures, and
// the differences. The claim held if all 95 % intervals lie within ±margin. It failed if a
// difference is significant and its interval is not within the margin. A difference that is not
// significant leaves the claim undecided.
func (s *results) alike(v *view, row, than int, margin float64, measures ...string) (verdict FindVerdict, figure string) {
	found := v.differences(row, than, measures)
	figure = fmt.Sprintf("%s; margin ±%v", found.text(measures), margin)
	return v.unlessTrivial(found.within(-margin, margin), figure, measures, func(i int) bool {
		return v.lessTrivial(than, i, measures).within(-margin, margin) == ClaimHeld
	})
}

// noGain returns the verdict on the claim that a row does not improve on another, and the
// differences. The claim held if the upper ends of all 95 % intervals lie below gainMargin. It
// failed if a significant improvement reaches the margin. It is not informative if the row does not
// improve on a trivial system either.
func (s *results) noGain(v *view, row, than int, measures ...string) (verdict FindVerdict, figure string) {
	found := v.differences(row, than, measures)
	figure = fmt.Sprintf("%s; margin +%v", found.text(measures), gainMargin)
	return v.unlessTrivial(found.within(math.Inf(-1), gainMargin), figure, measures, func(i int) bool {
		return v.lessTrivial(row, i, measures).within(math.Inf(-1), gainMargin) == ClaimHeld
	})
}

type severalDifferences []difference

// differences returns the differences of two rows in several measures, with Holm's correction over
// the measures.
func (v *view) differences(row, than int, measures []string) severalDifferences {
	found := make(severalDifferences, len(measures))
	for i, m := range measures {
		found[i] = v.difference(row, than, m)
	}
	return found.corrected()
}

// corrected applies Holm's correction to d and returns d.
func (d severalDifferences) corrected() severalDifferences {
	correct(len(d), func(i int) *difference { return &d[i] })
	return d
}

// correct applies Holm's correction to n differences. A NaN p-value counts as 1.
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

// significant returns the number of measures in which the first row is significantly above, and
// below.
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

// within returns the verdict on the claim that all differences lie between low and high.
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

// text formats differences as "MAP +0.0012 (-0.0031 … +0.0055), …".
func (d severalDifferences) text(measures []string) string {
	figures := make([]string, len(d))
	for i := range d {
		figures[i] = fmt.Sprintf("%s %+.4f (%+.4f … %+.4f)", title(measures[i]), d[i].Mean, d[i].Interval.Low, d[i].Interval.High)
	}
	return strings.Join(figures, ", ")
}

// byCounts returns the verdict on the claim that one row is above another. above and below are the
// numbers of cells with a significant difference in either direction.
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

// ofOrder maps the verdict on an order to the verdict on a claim.
var ofOrder = map[OrderVerdict]FindVerdict{
	OrderHeld: ClaimHeld, OrderMixed: ClaimMixed, OrderReversed: ClaimFailed, OrderUndecided: ClaimUndecided, OrderTrivial: ClaimTrivial,
}

// finding returns the finding of an order's test.
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

// claim returns the order as the publication claims it: "A > B in 26 of 32 (14 of 32, 15 with equal
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

// findings returns the findings of the report and of its orders. It moves section numbers from the
// texts to Section.
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

// fact returns the value of the named fact, or "".
func (a *All) fact(name string) string {
	for _, f := range a.Facts {
		if f.Name == name {
			return f.Value
		}
	}
	return ""
}

// pair names two rows to compare: row minus than.
type pair struct{ row, than string }

// differences adds a table and a sheet of differences between rows on the same test queries, over
// all seeds, with 95 % intervals. A star marks a difference that is significant at 5 % after Holm's
// correction over the table.
type differences struct {
	title    func(*column, *view) string
	name     string // of the sheet
	pairs    []pair
	measures []string // nil: the measures of the view
	main     bool     // the table belongs on the page of all experiments
}

// overQueries is the usual title of these tables.
func overQueries(c *column, _ *view) string {
	return "differences over the test queries of " + c.name + ", with 95 % intervals; * significant at 5 % after Holm's correction"
}

// difference is the difference of two rows in a measure.
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

// find returns the differences in a view, by pair and measure.
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

// isFor reports whether both rows exist for a column's data set.
func (p pair) isFor(s *results, c *column) bool {
	for _, name := range []string{p.row, p.than} {
		if at := s.rowNamed(name); at >= 0 && s.rows[at].on != nil && !s.rows[at].on(c) {
			return false
		}
	}
	return true
}

// text formats the difference as "+0.0012 (-0.0031 … +0.0055)". A star follows if it is
// significant, otherwise a space.
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

// difference returns the difference of row a minus row b in a measure. Its numbers are NaN if a row
// or its values are missing.
func (v *view) difference(a, b int, m string) difference {
	if a < 0 || b < 0 {
		return unknownDifference()
	}
	if v.strata != nil {
		return v.averaged(a, b, m)
	}
	return between(v.runs(a, m), v.runs(b, m))
}

// between compares two groups of runs. It skips queries without a value in some run.
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

// runs returns a row's values on the test queries, one list for each seed.
func (v *view) runs(row int, m string) [][]float64 {
	var runs [][]float64
	for _, values := range v.values[row] {
		runs = append(runs, values[m].each)
	}
	return runs
}

// known returns runs without the queries on which some run in all has no value.
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
