package papers

import (
	"fmt"
	"slices"
	"strings"
)

// figure3Average is the microaverage on cleaned data: ours and the paper's over the sets
// present, and the printed one over all seven. Claims of section 5.2 about it, or about every
// column, need all sets.
func figure3Average(s *results, r *Report) {
	k := slices.IndexFunc(s.readings, func(r reading) bool { return r.clean })
	if k < 0 || !s.comparable() {
		return
	}
	all, printed := s.average(k), publishedFigure3(microaverage)
	v := &all.views[0]
	t := Table{Title: fmt.Sprintf("microaverage over %s, %s data; the paper's over the same sets; printed, over all seven", s.setList(), s.readings[k].name), Left: 1, Main: true, Columns: []string{"method"}}
	sheet := Sheet{Name: "microaverage", Columns: []string{"method", "measure", "ours", "paper", "printed"}}
	for _, m := range s.measures {
		t.Columns = append(t.Columns, title(m), "paper", "printed")
	}
	for _, i := range s.shown() {
		name := s.rows[i].name
		line := []string{name}
		for _, m := range s.measures {
			ours, paper, whole := v.mean(i, m), v.published.of(name, m), printed.of(name, m)
			line = append(line, four("%.4f", ours), four("%.3f", paper), four("%.3f", whole))
			sheet.Rows = append(sheet.Rows, []any{name, m, orNil(ours), orNil(paper), orNil(whole)})
		}
		t.Rows = append(t.Rows, line)
	}
	r.Tables, r.Sheets = append(r.Tables, t), append(r.Sheets, sheet)
	if s.otherData(k) {
		return
	}
	for i := range averageClaims {
		o := &averageClaims[i]
		f, verdict := s.orderOn(o, all), ClaimOpen
		if s.complete(k) {
			verdict = ofOrder[f.Verdict]
		}
		r.found(verdict, o.text, "%smicroaverage over %s: above in %d of %d, significantly in %d; below in %d; printed: %s",
			s.needs(k), s.setList(), f.Higher, f.Cells, f.Above, f.Below, o.count(s.paperCells([]*column{{views: []view{{published: printed}}}})))
	}
	s.bestL3(k, r)
	d := v.difference(s.rowNamed("ConvexLoss_NDCG"), s.rowNamed("RankSVM"), "map")
	r.found(ClaimOpen, "the gains are at par with, or larger than, typical gains of new algorithms (5.2)",
		"the paper names no typical gain; ConvexLoss_NDCG − RankSVM, MAP: printed microaverage %+.3f; ours over %s %+.4f (%+.4f … %+.4f)",
		printed.of("ConvexLoss_NDCG", "map")-printed.of("RankSVM", "map"), s.setList(), d.Mean, d.Interval.Low, d.Interval.High)
}

// averageClaims are those of section 5.2 about the microaverage.
var averageClaims = []order{
	{text: "the microaverage of every ExpGain is greater than that of the baselines (5.2.2)", better: expGainRows, than: baselineNames, atLeast: 3},
	{text: "overall, the best ExpGain is better than MLE (5.2.2)", better: expGainRows, than: []string{"MLE"}},
	{text: "the best ConvexLoss gives the best result overall (5.2.3)", better: convexLossRows, than: otherRows(convexLossRows...)},
	{text: "ConvexLoss_NDCG is the best in the microaverage (5.2.3)", better: convexLossRows[2:], than: otherRows("ConvexLoss_NDCG")},
}

// bestL3 is what became of the remark on L_3: it is best in every column some times, but not as
// often as ConvexLoss. Counts alone would hold of equal rows with some chance, so that
// ConvexLoss must also be above L_3 significantly.
func (s *results) bestL3(k int, r *Report) {
	best := func(rows []string, cells []tableCell) int {
		o, n := order{better: rows, than: otherRows(rows...)}, 0
		for _, at := range cells {
			if held, tied := o.holds(at); held || tied {
				n++
			}
		}
		return n
	}
	ours, theirs := s.ourCells(s.withAverage(k)), printedCells()
	columns, everywhere := len(theirs)/len(s.measures), 0
	for c := range columns {
		var cells []tableCell
		for m := range s.measures {
			cells = append(cells, theirs[m*columns+c])
		}
		everywhere += min(1, best(l3Rows, cells))
	}
	o := order{better: convexLossRows, than: l3Rows}
	c, verdict := s.orderClaim(&o, k), ClaimOpen
	if s.complete(k) {
		if verdict = ofOrder[c.Verdict]; verdict == ClaimHeld && (best(l3Rows, ours) == 0 || best(l3Rows, ours) >= best(convexLossRows, ours)) {
			verdict = ClaimPartly
		}
	}
	r.found(verdict, "L_3 is also the best some number of times, but not as often as ConvexLoss (5.2.3)",
		"%sof %d cells over %s L_3 is the best in %d and ConvexLoss in %d, which is significantly above in %d and below in %d; printed: %d and %d of %d, L_3 in %d of %d columns",
		s.needs(k), len(ours), s.setList(), best(l3Rows, ours), best(convexLossRows, ours), c.Above, c.Below,
		best(l3Rows, theirs), best(convexLossRows, theirs), len(theirs), everywhere, columns)
}

// complete reports whether the k-th reading has all sets, as published.
func (s *results) complete(k int) bool { return s.needs(k) == "" }

// needs says which sets are lacking; "" if none.
func (s *results) needs(k int) string {
	var lacking []string
	for _, set := range s.sizes {
		if !slices.ContainsFunc(s.columnsOf(k), func(c *column) bool { return c.name == set.name && s.otherThanPublished(c) == "" }) {
			lacking = append(lacking, set.name)
		}
	}
	if lacking == nil {
		return ""
	}
	return "without " + strings.Join(lacking, ", ") + ": "
}
