package papers

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/listwise/listwise/internal/svg"
	"github.com/listwise/listwise/tune"
)

// publishedCounts returns what the paper's section 5.2 says of orders.
func publishedCounts() map[string]publishedOrder {
	_, rows := publishedTable("logrank-counts.csv")
	says := make(map[string]publishedOrder)
	for _, row := range rows {
		o := publishedOrder{section: row[1], words: row[4]}
		if row[2] != "" {
			o.counted = row[2] + " of " + row[3]
		}
		says[row[0]] = o
	}
	return says
}

// printedCells are those of the whole figure, with its own micro-average.
func printedCells() []tableCell {
	var columns []*column
	for _, name := range append(letorSets.names(), microaverage) {
		columns = append(columns, &column{views: []view{{published: publishedFigure3(name)}}})
	}
	return (&results{study: &study{measures: reported}}).paperCells(columns)
}

// figure3Plot sets our numbers on cleaned data against the paper's.
func figure3Plot(s *results, r *Report) {
	if !s.comparable() {
		return
	}
	p := Plot{Plot: svg.Plot{
		Title: "LogRank's Figure 3: ours against the paper's, " + s.setList(),
		X:     svg.Axis{Label: "the paper's value"},
		Y:     svg.Axis{Label: "our value, cleaned data"},
	}}
	low, high := math.Inf(1), math.Inf(-1)
	for _, m := range s.measures {
		dots := svg.Series{Name: title(m), Kind: svg.Scatter}
		for i := range s.rows {
			if s.rows[i].method == "" {
				continue
			}
			for _, c := range s.columnsOf(1) {
				x, y := c.views[0].published.of(s.rows[i].name, m), c.views[0].mean(i, m)
				if math.IsNaN(x) {
					continue // a row that stands beside those of the figure
				}
				dots.X, dots.Y = append(dots.X, x), append(dots.Y, y)
				low, high = min(low, x, y), max(high, x, y)
			}
		}
		p.Series = append(p.Series, dots)
	}
	p.Series = append(p.Series, svg.Series{Name: "equal", Kind: svg.Line, X: []float64{low, high}, Y: []float64{low, high}})
	r.Plots = append(r.Plots, p)
}

// figure3Dropped says what removing the queries without a relevant document changes in MLE. Such
// a query has the value 0 in every ranking, and no part in training. Its fold's mean without the
// removal therefore follows from the mean with it.
func figure3Dropped(s *results, r *Report) {
	at := s.rowNamed("MLE")
	for _, c := range s.columns {
		if n := c.queries - c.kept(); n > 0 && at >= 0 {
			var changes []string
			for _, m := range []string{"map", "ndcg@10"} {
				changes = append(changes, fmt.Sprintf("%s is %.4f instead of %.4f", title(m), c.views[0].mean(at, m), c.withDropped(c.rows[at][0], m)))
			}
			r.note("%s: test queries without a relevant document are removed, as in the paper's section 5.1.1: %d of %d. MLE's %s.", c.heading(s.study), n, c.queries, strings.Join(changes, " and its "))
		}
	}
}

// withDropped is a row's mean over folds if the dropped queries counted as 0.
func (c *column) withDropped(row *tune.Row, m string) float64 {
	sum := 0.0
	for _, s := range row.Measures {
		if s.Measure.Name() != m {
			continue
		}
		for k := range row.Folds {
			n := float64(len(row.Folds[k].Test.PerQuery(s.Measure)))
			sum += row.Folds[k].Test.Mean(s.Measure) * n / (n + float64(c.dropped[k]))
		}
	}
	return sum / float64(len(row.Folds))
}

func figure3Caveat(s *results, r *Report) {
	if s.comparable() {
		r.note("The paper's total of 575 queries is that of the six .gov sets; with OHSUMED LETOR 3.0 has 681. The printed microaverage weighs all seven.")
		r.note("ListNet and BoltzRank2 stand with the paper's numbers alone, which were measured on uncleaned data; how the paper cleaned is not known for certain. Which settings of the baselines it tried is not told; ours are in the tables.")
	} else {
		r.note("The paper has no numbers for these data.")
	}
}

// figure3Notes adds the caveats of the tables.
func figure3Notes(s *results, r *Report) {
	edges := make(map[string][]string)
	worst, queries := 0.0, 0
	for p := range s.tunings(inGroups("")) {
		where := p.column.heading(s.study)
		if slices.Contains(p.tuned().AtEdge(), "C") && !slices.Contains(edges[where], p.row().name) {
			edges[where] = append(edges[where], p.row().name)
		}
		for _, n := range p.view.values[p.at][0] {
			worst = max(worst, math.Abs(n.mean-n.neutral))
		}
		queries = max(queries, p.tuned().TiedQueries())
	}
	for _, where := range slices.Sorted(maps.Keys(edges)) {
		r.note("%s: in some fold, with some seed, the chosen C is the lowest or highest tried of %s.", where, strings.Join(edges[where], ", "))
	}
	if queries > 0 {
		r.note("Documents tie: in up to %d test queries more than 1 %% of the differently graded pairs have equal scores. Random order of tied documents changes a mean by up to %.4f (tie_neutral in the CSV).", queries, worst)
	}
}
