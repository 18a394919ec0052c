package papers

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/listwise/listwise/internal/svg"
)

// interval is a mean over queries with a 95 % confidence interval, mean ± half,
// from the normal distribution.
type interval struct{ mean, half float64 }

// confidence returns the interval of the mean of independent values.
func confidence(values []float64) interval {
	return interval{mean(values), 1.959963984540054 * sd(values) / math.Sqrt(float64(len(values)))}
}

// excludes0 reports whether the mean differs from 0 at the 5 % level.
func (i interval) excludes0() bool { return math.Abs(i.mean) > i.half }

func (i interval) text() string { return fmt.Sprintf("%.4f ± %.4f", i.mean, i.half) }

// netResult is what one kind of net reached: for every truncation level, RankNet,
// LambdaRank and LambdaRank's lead, query by query.
type netResult struct {
	name    string
	systems [2][]interval
	lead    []interval
	growth  interval // of the lead at the first level over that at the last
	order   OrderClaim
}

// artificialSystems are the rows of each net.
var artificialSystems = [2]string{"RankNet", "LambdaRank"}

// netResults reads the rows, two a net.
func netResults(s *results) []netResult {
	nets := make([]netResult, len(artificialNets))
	v := &s.columns[0].views[0]
	for k := range nets {
		n := &nets[k]
		n.name = artificialNets[k].name
		var leads [][]float64
		for _, m := range s.measures {
			var values [2][]float64
			for i := range values {
				values[i] = v.each(2*k+i, m)
				n.systems[i] = append(n.systems[i], confidence(values[i]))
			}
			lead := make([]float64, len(values[0]))
			for q := range lead {
				lead[q] = values[1][q] - values[0][q]
			}
			n.lead = append(n.lead, confidence(lead))
			leads = append(leads, lead)
		}
		growth := leads[0]
		for q, last := range leads[len(leads)-1] {
			growth[q] -= last
		}
		n.growth = confidence(growth)
		n.order = artificialOrder(s, v, k)
	}
	return nets
}

// artificialOrder tests the paper's statement on the k-th net, LambdaRank above RankNet, over
// the truncation levels.
func artificialOrder(s *results, v *view, k int) OrderClaim {
	c := OrderClaim{Text: "LambdaRank > RankNet, " + artificialNets[k].name + " nets", Data: s.columns[0].name, Cells: len(s.measures)}
	above, below := make([]float64, c.Cells), make([]float64, c.Cells)
	for i, m := range s.measures {
		above[i], below[i] = v.oneSided(2*k+1, 2*k, m), v.oneSided(2*k, 2*k+1, m)
		if v.mean(2*k+1, m) > v.mean(2*k, m) {
			c.Higher++
		}
	}
	c.decide(above, below)
	return c
}

func (a artificial) dataFacts(s *results, r *Report) {
	b := a.scaled(s.options)
	r.fact("data", "a random cubic polynomial (seed %d) of %d features: %d training, %d validation and %d test queries of %d documents",
		s.options.Seed, b.features, b.train, b.valid, b.test, b.docs)
	r.fact("grades", "0 to %d in shares %s", len(b.shares)-1, numberList(b.shares))
}

// onePolynomial is what the intervals are about: queries, not polynomials.
const onePolynomial = "one random polynomial; of others see docs/gradient-family.md"

func artificialReport(s *results, r *Report) {
	nets := netResults(s)
	r.Tables = append(r.Tables, artificialTable(nets), artificialChoices(s))
	r.Sheets = append(r.Sheets, artificialSheet(nets, s.measures))
	r.Plots = append(r.Plots, artificialPlot(nets))
	for _, n := range nets {
		n.order.Section, n.order.Data, n.order.once = "6.3.1", onePolynomial, true
		r.Orders = append(r.Orders, n.order)
	}
}

func (a artificial) notes(s *results, r *Report) {
	var leads []FindVerdict
	var figures []string
	for _, n := range netResults(s) {
		r.note("%s", n.verdict())
		verdict := ClaimUndecided
		if n.lead[0].excludes0() && n.growth.excludes0() {
			verdict = holdsIf(n.lead[0].mean > 0 && n.growth.mean > 0)
		}
		leads = append(leads, verdict)
		figures = append(figures, fmt.Sprintf("%s %s at 1, %s at %d", n.name, n.lead[0].text(), n.lead[artificialTop-1].text(), artificialTop))
		for p := range s.tunings(inGroups(n.name)) {
			if edge := p.tuned().AtEdge(); len(edge) > 0 {
				r.note("With %s nets %s's best rate is at the edge of those tried, which are the paper's: a wider range may serve it better.", n.name, p.row().name)
			}
		}
	}
	r.found(ofAll(leads...).once(), "LambdaRank's lead over RankNet on cubic polynomials is larger at higher ranks (6.3.1)", "%s; %s", onePolynomial, strings.Join(figures, ", "))
	r.note("The paper's figure has no numbers to compare with (its axis goes from 0.55 to 0.75), and the shares of its grades, \"corresponding to real datasets\", are not published: those here are of MSLR-WEB10K's fold 1. What can be compared is the order of the four and the sign of the leads.")
	if scale := s.options.Scale; scale != 0 && scale != 1 {
		r.note("This is the experiment at scale %v: the paper has %d, %d and %d queries.", scale, burges2006.train, burges2006.valid, burges2006.test)
	}
}

// leads counts the truncation levels at which LambdaRank is significantly ahead or behind.
func (n *netResult) leads() (ahead, behind int) {
	for _, l := range n.lead {
		switch {
		case l.excludes0() && l.mean > 0:
			ahead++
		case l.excludes0():
			behind++
		}
	}
	return ahead, behind
}

// verdict holds the leads against what the paper says of them.
func (n *netResult) verdict() string {
	ahead, behind := n.leads()
	first, last := n.lead[0], n.lead[artificialTop-1]
	return fmt.Sprintf("The paper: LambdaRank clearly outperforms RankNet, by more at higher ranks. Here with %s nets its NDCG is significantly higher at %d and lower at %d of %d truncation levels; it leads by %s at 1 and by %s at %d, which is less by %s.",
		n.name, ahead, behind, artificialTop, first.text(), last.text(), artificialTop, n.growth.text())
}

func artificialTable(nets []netResult) Table {
	t := Table{Title: "NDCG on the test queries", Columns: []string{"at"}}
	for _, n := range nets {
		for _, name := range artificialSystems {
			t.Columns = append(t.Columns, name+" "+n.name)
		}
		t.Columns = append(t.Columns, "lead")
	}
	for k := range artificialTop {
		row := []string{strconv.Itoa(k + 1)}
		for _, n := range nets {
			for i := range n.systems {
				row = append(row, n.systems[i][k].text())
			}
			row = append(row, fmt.Sprintf("%+.4f ± %.4f", n.lead[k].mean, n.lead[k].half))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// artificialChoices lists what validation chose.
func artificialChoices(s *results) Table {
	t := Table{Title: "chosen on the validation queries", Columns: []string{"net", "method", "rate", "epoch", "NDCG@10"}, Left: 2}
	for p := range s.tunings(nil) {
		f := &p.tuned().Folds[0]
		t.Rows = append(t.Rows, []string{
			p.row().group, p.row().name, f.Chosen.Text("rate"), strconv.Itoa(f.Model.Training.BestEpoch), fmt.Sprintf("%.4f", f.Validation),
		})
	}
	return t
}

func artificialSheet(nets []netResult, measures []string) Sheet {
	s := Sheet{Columns: []string{"net", "method", "measure", "mean", "ci_low", "ci_high", "lead", "lead_low", "lead_high"}}
	for _, n := range nets {
		for i, name := range artificialSystems {
			for k, m := range measures {
				v, lead := n.systems[i][k], n.lead[k]
				row := []any{n.name, name, m, v.mean, v.mean - v.half, v.mean + v.half, nil, nil, nil}
				if i > 0 {
					row[6], row[7], row[8] = lead.mean, lead.mean-lead.half, lead.mean+lead.half
				}
				s.Rows = append(s.Rows, row)
			}
		}
	}
	return s
}

// artificialPlot is the figure: lines through the means, with a stroke from end to
// end of each interval. The four stand a little apart.
func artificialPlot(nets []netResult) Plot {
	p := svg.Plot{
		Title: "RankNet and LambdaRank on cubic polynomials, 95 % intervals",
		X:     svg.Axis{Label: "truncation level", Ticks: rankTicks(artificialTop)},
		Y:     svg.Axis{Label: "NDCG"},
	}
	for _, n := range nets {
		for i, name := range artificialSystems {
			s := svg.Series{Name: name + ", " + n.name, Kind: svg.Line}
			for k, v := range n.systems[i] {
				at := float64(k+1) + float64(0.07*(float64(len(p.Series))-1.5))
				s.X = append(s.X, at, at, at, at)
				s.Y = append(s.Y, v.mean, v.mean+v.half, v.mean-v.half, v.mean)
			}
			p.Series = append(p.Series, s)
		}
	}
	return Plot{Plot: p}
}
