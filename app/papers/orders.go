package papers

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/listwise/listwise/eval/stats"
)

// order is a claim that rows of one group are above the best row of another, over the cells of a
// table.
type order struct {
	text         string // text of the claim in our tables
	better, than []string
	atLeast      int    // number of better rows that must be above; 0 means 1
	paper        string // if it differs from the experiment's paper
}

// publishedOrder is the statement on an order in a publication's text.
type publishedOrder struct {
	counted string // "26 of 32"; "" if the text states no count
	words   string // words of the text instead of a count
	section string
}

// OrderClaim is an order of systems that a publication claims, tested on our runs.
type OrderClaim struct {
	Section string // section of the publication
	Text    string // "ConvexLoss_MAP > SVMmap"
	Data    string // name of the set, and how it was read
	Counted string // count in the publication's text, "26 of 32"; "" if it states none
	Printed string // count in the printed table, over the columns that we have
	Whole   string // count in the whole printed table; "" if it equals Printed
	Words   string // words of the publication if it states no count

	Cells, Higher int // number of our cells, and of cells in which the order holds in the mean
	Above, Below  int // number of cells in which the order holds significantly, and in which its opposite does
	Verdict       OrderVerdict

	once    bool   // based on one draw of synthetic data
	trivial int    // number of significant cells in which a trivial system does as well; set if there are no other significant cells
	paper   string // if it differs from the experiment's paper
}

// OrderVerdict is the verdict on an order.
type OrderVerdict string

// The verdicts on orders. An order held if it holds significantly in some cell and its opposite in
// none. It was reversed in the opposite case. A cell counts as above if no trivial system is above
// the second group, or if the first group is above the trivial systems.
const (
	OrderHeld      OrderVerdict = "held"
	OrderReversed  OrderVerdict = "reversed"
	OrderMixed     OrderVerdict = "mixed"
	OrderUndecided OrderVerdict = "undecided"
	OrderTrivial   OrderVerdict = "not informative" // it would hold if the cells with trivial systems counted
)

// OrderVerdicts returns all verdicts on orders.
func OrderVerdicts() []OrderVerdict {
	return []OrderVerdict{OrderHeld, OrderReversed, OrderMixed, OrderUndecided, OrderTrivial}
}

// decide sets the verdict by the one-sided p-values of the cells: above for the order, and below
// for its opposite. Holm's correction is over the cells of the claim.
func (c *OrderClaim) decide(above, below []float64) {
	p := make([]float64, len(above))
	for i := range p {
		p[i] = min(1, 2*min(above[i], below[i]))
	}
	for i, corrected := range stats.Holm(p) {
		switch {
		case corrected >= stats.Alpha:
		case above[i] < below[i]:
			c.Above++
		default:
			c.Below++
		}
	}
	switch {
	case c.Above > 0 && c.Below > 0:
		c.Verdict = OrderMixed
	case c.Above > 0:
		c.Verdict = OrderHeld
	case c.Below > 0:
		c.Verdict = OrderReversed
	default:
		c.Verdict = OrderUndecided
	}
}

// tableCell returns the number of the named row in one column and measure.
type tableCell func(row string) float64

// holds reports whether the order holds in a cell, and whether the groups are equal there.
func (o *order) holds(at tableCell) (held, tied bool) {
	of := func(rows []string) []float64 {
		values := make([]float64, len(rows))
		for i, name := range rows {
			values[i] = at(name)
		}
		slices.Sort(values) // NaN sorts first, so a missing row is above none
		return values
	}
	better, than := of(o.better), of(o.than)
	first, second := better[len(better)-max(1, o.atLeast)], than[len(than)-1]
	if math.IsNaN(than[0]) {
		return false, false
	}
	return first > second, first == second
}

// count returns the number of cells in which the order holds, and the number including equal cells:
// "14 of 32 (15)".
func (o *order) count(cells []tableCell) string {
	held, tied := 0, 0
	for _, at := range cells {
		holds, equal := o.holds(at)
		if holds {
			held++
		}
		if equal {
			tied++
		}
	}
	text := fmt.Sprintf("%d of %d", held, len(cells))
	if tied > 0 {
		text += fmt.Sprintf(" (%d)", held+tied)
	}
	return text
}

// test returns the one-sided p-values of the order and of its opposite in a measure of a view. The
// order states that at least k of the n rows in better are above every row in than. The opposite
// states that at least n−k+1 of them are below some row in than. Both are partial conjunctions. The
// p-value for k false among n hypotheses is n−k+1 times the k-th smallest p-value (Benjamini and
// Heller 2008). The p-values therefore account for choosing rows by their test values.
func (o *order) test(s *results, v *view, m string) (above, below float64) {
	p := func(a, b string) float64 { return v.oneSided(s.rowNamed(a), s.rowNamed(b), m) }
	var over, under []float64
	for _, a := range o.better {
		largest, least := 0.0, 1.0
		for _, b := range o.than {
			largest, least = max(largest, p(a, b)), min(least, p(b, a))
		}
		over, under = append(over, largest), append(under, float64(len(o.than))*least)
	}
	conjunction := func(p []float64, k int) float64 {
		slices.Sort(p)
		return min(1, float64(len(p)-k+1)*p[k-1])
	}
	k := max(1, o.atLeast)
	return conjunction(over, k), conjunction(under, len(under)-k+1)
}

// learned reports whether at least atLeast of the better rows are above the trivial systems.
func (o *order) learned(s *results, v *view) bool {
	above := 0
	for _, name := range o.better {
		if row := s.rowNamed(name); row >= 0 && v.notAbove(row, s.measures) == "" {
			above++
		}
	}
	return above >= max(1, o.atLeast)
}

// trivialPasses reports whether a trivial system's mean is above every row of the second group.
func (o *order) trivialPasses(s *results, v *view, m string) bool {
	for i := range v.trivial[m] {
		passes := true
		for _, name := range o.than {
			row := s.rowNamed(name)
			if row < 0 {
				return false
			}
			passes = passes && v.lessTrivial(row, i, []string{m})[0].Mean < 0
		}
		if passes {
			return true
		}
	}
	return false
}

// oneSided returns the one-sided p-value for row a being above row b. It is 1 if the difference is
// not known.
func (v *view) oneSided(a, b int, m string) float64 {
	d := v.difference(a, b, m)
	switch {
	case math.IsNaN(d.P):
		return 1
	case d.Mean > 0:
		return float64(d.P / 2)
	}
	return 1 - float64(d.P/2)
}

// testedOrders is a table of orders that a paper claims of its systems. It shows the count in the
// text, the count in the paper's table, and our count with tests over the queries. Orders that the
// text does not claim appear in the table, but do not become an OrderClaim.
type testedOrders struct {
	title   string
	section string // statements of the paper, by the text of the order; nil for none
	orders  []order
	text    func() map[string]publishedOrder // what the paper says, by the orders' texts; nil for none
	printed func() []tableCell               // cells of the paper's table; nil if we have all its columns
}

func (n testedOrders) add(s *results, r *Report) {
	if !s.comparable() {
		return
	}
	t := Table{Title: n.title, Left: 1, Main: true, Columns: []string{""}}
	var text map[string]publishedOrder
	if n.text != nil {
		text = n.text()
		t.Columns = append(t.Columns, "paper's text")
	}
	if n.printed != nil {
		t.Columns = append(t.Columns, "paper's table")
	}
	t.Columns = append(t.Columns, "paper's table, columns at hand")
	for _, reading := range s.readings {
		label := "ours"
		if len(s.readings) > 1 {
			label += ", " + reading.name + " data"
		}
		t.Columns = append(t.Columns, label, "significantly")
	}
	t.Columns = append(t.Columns, "verdict")
	for i := range n.orders {
		t.Rows = append(t.Rows, n.line(s, r, &n.orders[i], text))
	}
	r.Tables = append(r.Tables, t)
}

// line returns the table row of an order, and adds its claims to the report.
func (n *testedOrders) line(s *results, r *Report, o *order, text map[string]publishedOrder) []string {
	line := []string{o.text}
	says, claimed := text[o.text]
	if text != nil {
		said := says.counted
		if claimed && said == "" {
			said = "in words"
		}
		line = append(line, said)
	}
	whole := ""
	if n.printed != nil {
		whole = o.count(n.printed())
		line = append(line, whole)
	}
	printed := o.count(s.paperCells(s.withAverage(0)))
	line = append(line, printed)
	verdict := "not comparable"
	for k := range s.readings {
		c := s.orderClaim(o, k)
		c.Section, c.Counted, c.Words, c.Printed, c.Whole = cmp.Or(says.section, n.section), says.counted, says.words, printed, whole
		line = append(line, o.count(s.ourCells(s.withAverage(k))), fmt.Sprintf("%d above, %d below", c.Above, c.Below))
		switch {
		case s.otherData(k):
		case text != nil && !claimed:
			verdict = string(c.Verdict) + ", not claimed"
		default:
			verdict = string(c.Verdict)
			r.Orders = append(r.Orders, c)
		}
	}
	return append(line, verdict)
}

// otherData reports whether a column of the k-th reading is not comparable with published numbers.
func (s *results) otherData(k int) bool {
	return slices.ContainsFunc(s.columnsOf(k), func(c *column) bool { return s.otherThanPublished(c) != "" })
}

// orderClaim tests an order on the columns of the k-th reading.
func (s *results) orderClaim(o *order, k int) OrderClaim { return s.orderOn(o, s.columnsOf(k)...) }

// orderOn tests an order on the given columns.
func (s *results) orderOn(o *order, columns ...*column) OrderClaim {
	c := OrderClaim{Text: o.text, paper: o.paper}
	var names []string
	var above, below, whole []float64 // whole is above regardless of trivial systems
	for _, column := range columns {
		names = append(names, column.heading(s.study))
		v := &column.views[0]
		learned := o.learned(s, v)
		for _, m := range s.measures {
			a, b := o.test(s, v, m)
			whole = append(whole, a)
			if !learned && o.trivialPasses(s, v, m) {
				a = 1
			}
			above, below = append(above, a), append(below, b)
			if held, _ := o.holds(func(row string) float64 { return s.ours(v, row, m) }); held {
				c.Higher++
			}
		}
	}
	c.Data, c.Cells = strings.Join(names, "; "), len(above)
	c.decide(above, below)
	other := OrderClaim{}
	if other.decide(whole, below); c.Verdict == OrderUndecided && other.Verdict == OrderHeld {
		c.Verdict, c.trivial = OrderTrivial, other.Above
	}
	return c
}

// ordersText returns the text "2 held, 1 reversed, 0 mixed, 9 undecided".
func ordersText(claims []OrderClaim) string {
	n := make(map[OrderVerdict]int)
	for i := range claims {
		n[claims[i].Verdict]++
	}
	var parts []string
	for _, v := range OrderVerdicts() {
		parts = append(parts, fmt.Sprintf("%d %s", n[v], v))
	}
	return strings.Join(parts, ", ")
}

// orderSheet returns a sheet of all claims of orders.
func orderSheet(claims []OrderClaim) Sheet {
	s := Sheet{Name: "orders", Columns: []string{"order", "data", "counted", "printed", "whole", "cells", "higher", "above", "below", "verdict"}}
	for _, c := range claims {
		s.Rows = append(s.Rows, []any{c.Text, c.Data, c.Counted, c.Printed, c.Whole, c.Cells, c.Higher, c.Above, c.Below, string(c.Verdict)})
	}
	return s
}

// ourCells and paperCells return the cells of columns, with our numbers and with published numbers.
func (s *results) ourCells(columns []*column) []tableCell {
	return cellsOf(s.measures, columns, func(v *view, row, m string) float64 { return s.ours(v, row, m) })
}

func (s *results) paperCells(columns []*column) []tableCell {
	return cellsOf(s.measures, columns, func(v *view, row, m string) float64 { return v.published.of(row, m) })
}

func cellsOf(measures []string, columns []*column, value func(v *view, row, m string) float64) []tableCell {
	var cells []tableCell
	for _, m := range measures {
		for _, c := range columns {
			cells = append(cells, func(row string) float64 { return value(&c.views[0], row, m) })
		}
	}
	return cells
}
