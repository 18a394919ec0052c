package paper

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/listwise/listwise/internal/svg"
)

// report lays the table out.
func (t *figure3Table) report(o Options, missing []string) (*Report, error) {
	r := &Report{Name: "logrank-fig3", Title: figure3Experiment().Title}
	r.fact("source", "%s, Figure 3", logRank)
	r.fact("command", "%s", o.Command)
	r.fact("seed", "%d", o.Seed)
	r.fact("convention", "%s (%s)", letor3.Name(), letor3.Explanation())
	for _, c := range t.columns {
		r.fact("data", "%s: %d folds, %d test queries; cleaning removes %d test documents", c.set, c.folds, c.queries, c.removed[1])
	}
	if len(missing) > 0 {
		r.fact("not found", "%s", strings.Join(missing, ", "))
	}
	for _, reading := range figure3Readings {
		r.fact(reading.name, "%s", reading.about)
	}
	r.fact("chosen by", "validation NDCG@10 where NDCG is trained for, otherwise validation MAP")
	r.fact("numbers", "means over folds; "+microaverage+" is over the sets present, weighted by the sets' published numbers of queries, ours and the paper's alike")
	r.fact("marks", "*** ** * are the best three of a column, ours among ours and the paper's among the paper's")
	for k, reading := range figure3Readings {
		for _, m := range reported {
			r.Tables = append(r.Tables, t.table(k, m, fmt.Sprintf("%s, %s data", title(m), reading.name)))
		}
	}
	if t.comparable() {
		r.Tables = append(r.Tables, t.counted())
		r.Plots = append(r.Plots, t.plot())
	}
	r.Tables = append(r.Tables, t.grids(), t.chosen())
	r.Sheets = []Sheet{t.sheet(), t.choices()}
	t.claim(r, o.Seed)
	t.notes(r)
	return r, nil
}

// table is one measure under one reading.
func (t *figure3Table) table(reading int, m, heading string) Table {
	table := Table{Title: heading, Columns: []string{"method"}, Left: 1, Rows: make([][]string, len(t.paperNames))}
	for i, name := range t.paperNames {
		table.Rows[i] = []string{name}
	}
	add := func(heading string, values []float64, decimals int) {
		table.Columns = append(table.Columns, heading+marks[0])
		for i, rank := range ranks(values) {
			table.Rows[i] = append(table.Rows[i], marked(values[i], rank, decimals))
		}
	}
	for k, column := range t.columnNames() {
		add(column, t.column(func(name string) float64 { return t.value(reading, m, name, k) }), 4)
		if t.comparable() {
			add("paper", t.column(func(name string) float64 { return t.published(m, name, k) }), 3)
		}
	}
	return table
}

// plot sets our numbers on cleaned data against the paper's.
func (t *figure3Table) plot() Plot {
	p := Plot{Plot: svg.Plot{
		Title: "LogRank's Figure 3: ours against the paper's, " + strings.Join(t.columnNames()[:len(t.columns)], ", "),
		X:     svg.Axis{Label: "the paper's value"},
		Y:     svg.Axis{Label: "our value, cleaned data"},
	}}
	low, high := math.Inf(1), math.Inf(-1)
	for _, m := range reported {
		s := svg.Series{Name: title(m), Kind: svg.Scatter}
		for _, row := range t.rows {
			for k := range t.columns {
				x, y := t.published(m, row.name, k), t.value(1, m, row.name, k)
				s.X, s.Y = append(s.X, x), append(s.Y, y)
				low, high = min(low, x, y), max(high, x, y)
			}
		}
		p.Series = append(p.Series, s)
	}
	p.Series = append(p.Series, svg.Series{Name: "equal", Kind: svg.Line, X: []float64{low, high}, Y: []float64{low, high}})
	return p
}

// grids lists what was tried for every row.
func (t *figure3Table) grids() Table {
	table := Table{Title: "settings tried: every combination", Columns: []string{"method", "training measure", "grid"}, Left: 3}
	for i, r := range t.rows {
		training := r.training
		if training == "" {
			training = "-"
		}
		table.Rows = append(table.Rows, []string{r.name, training, t.ours[0][i][0].grid})
	}
	return table
}

// chosen lists what validation chose.
func (t *figure3Table) chosen() Table {
	table := Table{Title: "settings chosen, fold by fold", Columns: []string{"data", "reading", "method", "chosen"}, Left: 4}
	t.eachCell(func(reading, row, column int, c *figure3Cell) {
		table.Rows = append(table.Rows, []string{t.columns[column].set, figure3Readings[reading].name, t.rows[row].name, strings.Join(c.chosen, " | ")})
	})
	return table
}

func (t *figure3Table) eachCell(visit func(reading, row, column int, c *figure3Cell)) {
	for column := range t.columns {
		for reading := range figure3Readings {
			for row := range t.rows {
				visit(reading, row, column, t.ours[reading][row][column])
			}
		}
	}
}

// sheet has one line for every number.
func (t *figure3Table) sheet() Sheet {
	s := Sheet{Columns: []string{"reading", "measure", "method", "data", "ours", "ours_rank", "tie_neutral", "pooled", "paper", "paper_rank"}}
	for reading, about := range figure3Readings {
		for _, m := range reported {
			for k, column := range t.columnNames() {
				ours := t.column(func(name string) float64 { return t.value(reading, m, name, k) })
				paper := t.column(func(name string) float64 { return t.published(m, name, k) })
				oursRank, paperRank := ranks(ours), ranks(paper)
				for i, name := range t.paperNames {
					neutral, pooled := t.beside(reading, m, name, k)
					s.Rows = append(s.Rows, []any{
						about.name, m, name, column, orNil(ours[i]), rankOrNil(oursRank[i]), orNil(neutral), orNil(pooled),
						orNil(paper[i]), rankOrNil(paperRank[i]),
					})
				}
			}
		}
	}
	return s
}

// beside returns the tie-neutral and the pooled value of a row on a set; NaN for
// the micro-average and for rows that are not ours.
func (t *figure3Table) beside(reading int, m, name string, column int) (neutral, pooled float64) {
	for i := range t.rows {
		if t.rows[i].name == name && column < len(t.columns) {
			v := t.ours[reading][i][column].values[m]
			return v.TieNeutral, v.Pooled
		}
	}
	return math.NaN(), math.NaN()
}

func (t *figure3Table) choices() Sheet {
	s := Sheet{Name: "chosen", Columns: []string{"data", "reading", "method", "selected_by", "fold", "settings", "validation"}}
	t.eachCell(func(reading, row, column int, c *figure3Cell) {
		for k := range c.folds {
			s.Rows = append(s.Rows, []any{
				t.columns[column].set, figure3Readings[reading].name, t.rows[row].name, t.rows[row].selection(), c.folds[k], c.chosen[k], c.valid[k],
			})
		}
	})
	return s
}

// notes adds the caveats of the tables.
func (t *figure3Table) notes(r *Report) {
	if t.comparable() {
		r.note("ListNet and BoltzRank2 stand with the paper's numbers alone, which were measured on uncleaned data; how the paper cleaned is not known for certain. Which settings of the baselines it tried is not told; ours are in the tables.")
	} else {
		r.note("The paper has no numbers for these data.")
	}
	for _, c := range t.columns {
		if published, ok := knownSet(c.set); ok && c.queries != published.queries {
			r.note("%s has %d queries here, the published set %d: these are other data of that name.", c.set, c.queries, published.queries)
		}
	}
	edges := make(map[string][]string)
	worst, queries := 0.0, 0
	t.eachCell(func(reading, row, column int, c *figure3Cell) {
		if slices.Contains(c.atEdge, "C") {
			where := t.columns[column].set + ", " + figure3Readings[reading].name
			edges[where] = append(edges[where], t.rows[row].name)
		}
		worst, queries = max(worst, c.tieDiff), max(queries, c.tiedIn)
	})
	for _, where := range slices.Sorted(maps.Keys(edges)) {
		r.note("%s: in some fold the chosen C is the lowest or highest tried of %s.", where, strings.Join(edges[where], ", "))
	}
	if queries > 0 {
		r.note("Documents tie: in up to %d test queries more than 1 %% of the differently graded pairs have equal scores. Random order of tied documents changes a mean by up to %.4f (tie_neutral in the CSV).", queries, worst)
	}
}
