package paper

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/listwise/listwise/internal/svg"
	"github.com/listwise/listwise/tune"
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
}

// newNetResult reads the rows of artificialMethods.
func newNetResult(name string, rows []tune.Row) netResult {
	n := netResult{name: name}
	for _, m := range rows[0].Folds[0].Test.Measures() {
		var values [2][]float64
		for i := range values {
			values[i] = rows[i].Folds[0].Test.PerQuery(m)
			n.systems[i] = append(n.systems[i], confidence(values[i]))
		}
		lead := make([]float64, len(values[0]))
		for q := range lead {
			lead[q] = values[1][q] - values[0][q]
		}
		n.lead = append(n.lead, confidence(lead))
	}
	return n
}

func (a artificial) report(o Options, rows [][]tune.Row) *Report {
	r := &Report{Name: "lambdarank-artificial", Title: artificialExperiment().Title}
	r.fact("source", "%s, section 6.3.1", lambdaRank)
	r.fact("command", "%s", o.Command)
	r.fact("data", "a random cubic polynomial (seed %d) of %d features: %d training, %d validation and %d test queries of %d documents",
		o.Seed, a.features, a.train, a.valid, a.test, a.docs)
	r.fact("grades", "0 to %d in shares %s", len(a.shares)-1, shareList(a.shares))
	r.fact("convention", "%s (%s)", standard.Name(), standard.Explanation())
	r.fact("intervals", "95 %%, from the normal distribution; those of a lead from the differences query by query")
	r.fact("schedule", "a step a query, rate × 0.8 when the training cost rose, new weights after 50 epochs without a lower one, %s epochs", a.epochs)
	r.fact("chosen", "rate and epoch by validation NDCG@%d; rates tried: %s", artificialTop, strings.Join(a.rates, ", "))
	nets := make([]netResult, len(rows))
	for i := range rows {
		nets[i] = newNetResult(artificialNets[i].name, rows[i])
	}
	r.Tables = []Table{artificialTable(nets), artificialChoices(rows)}
	r.Sheets = []Sheet{artificialSheet(nets), artificialTried(rows)}
	r.Plots = []Plot{artificialPlot(nets)}
	for i, n := range nets {
		r.note("%s", n.verdict())
		for _, row := range rows[i] {
			if edge := row.AtEdge(); len(edge) > 0 {
				r.note("With %s nets %s's best rate is at the edge of those tried, which are the paper's: a wider range may serve it better.", n.name, row.Entry.Name)
			}
		}
	}
	r.note("The paper's figure has no numbers to compare with (its axis goes from 0.55 to 0.75), and the shares of its grades, \"corresponding to real datasets\", are not published: those here are of MSLR-WEB10K's fold 1. What can be compared is the order of the four and the sign of the leads.")
	if o.Scale != 0 && o.Scale != 1 {
		r.note("This is the experiment at scale %v: the paper has %d, %d and %d queries.", o.Scale, burges2006.train, burges2006.valid, burges2006.test)
	}
	return r
}

func shareList(shares []float64) string {
	words := make([]string, len(shares))
	for i, p := range shares {
		words[i] = fmt.Sprint(p)
	}
	return strings.Join(words, ", ")
}

// verdict compares with the paper's two statements: LambdaRank clearly outperforms
// RankNet, and the gap is larger near the top.
func (n *netResult) verdict() string {
	ahead, behind := 0, 0
	for _, l := range n.lead {
		switch {
		case l.excludes0() && l.mean > 0:
			ahead++
		case l.excludes0():
			behind++
		}
	}
	first, last := n.lead[0], n.lead[artificialTop-1]
	return fmt.Sprintf("The paper: LambdaRank clearly outperforms RankNet, by more at higher ranks. Here with %s nets its NDCG is significantly higher at %d and lower at %d of %d truncation levels; it leads by %s at 1 and by %s at %d.",
		n.name, ahead, behind, artificialTop, first.text(), last.text(), artificialTop)
}

func artificialTable(nets []netResult) Table {
	t := Table{Title: "NDCG on the test queries", Columns: []string{"at"}}
	for _, n := range nets {
		for _, m := range artificialMethods {
			t.Columns = append(t.Columns, m.name+" "+n.name)
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
func artificialChoices(rows [][]tune.Row) Table {
	t := Table{Title: "chosen on the validation queries", Columns: []string{"net", "method", "rate", "epoch", "NDCG@10"}, Left: 2}
	for i := range rows {
		for k := range rows[i] {
			f := &rows[i][k].Folds[0]
			t.Rows = append(t.Rows, []string{
				artificialNets[i].name, rows[i][k].Entry.Name, f.Chosen.Text("rate"),
				strconv.Itoa(f.Model.Training.BestEpoch), fmt.Sprintf("%.4f", f.Validation),
			})
		}
	}
	return t
}

func artificialSheet(nets []netResult) Sheet {
	s := Sheet{Columns: []string{"net", "method", "measure", "mean", "ci_low", "ci_high", "lead", "lead_low", "lead_high"}}
	for _, n := range nets {
		for i, m := range artificialMethods {
			for k, name := range ndcgNames() {
				v, lead := n.systems[i][k], n.lead[k]
				row := []any{n.name, m.name, name, v.mean, v.mean - v.half, v.mean + v.half, nil, nil, nil}
				if i > 0 {
					row[6], row[7], row[8] = lead.mean, lead.mean-lead.half, lead.mean+lead.half
				}
				s.Rows = append(s.Rows, row)
			}
		}
	}
	return s
}

// artificialTried holds the validation value of every rate.
func artificialTried(rows [][]tune.Row) Sheet {
	s := Sheet{Name: "rates", Columns: []string{"net", "method", "rate", "validation"}}
	for i := range rows {
		for _, row := range rows[i] {
			for k, v := range row.Entry.Settings {
				s.Rows = append(s.Rows, []any{artificialNets[i].name, row.Entry.Name, v.Number("rate"), row.Folds[0].Tried[k]})
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
		X:     svg.Axis{Label: "truncation level"},
		Y:     svg.Axis{Label: "NDCG"},
	}
	for k := range artificialTop {
		p.X.Ticks = append(p.X.Ticks, svg.Tick{Value: float64(k + 1), Label: strconv.Itoa(k + 1)})
	}
	for _, n := range nets {
		for i, m := range artificialMethods {
			s := svg.Series{Name: m.name + ", " + n.name, Kind: svg.Line}
			for k, v := range n.systems[i] {
				at := float64(k+1) + 0.07*(float64(len(p.Series))-1.5)
				s.X = append(s.X, at, at, at, at)
				s.Y = append(s.Y, v.mean, v.mean+v.half, v.mean-v.half, v.mean)
			}
			p.Series = append(p.Series, s)
		}
	}
	return Plot{Plot: p}
}
