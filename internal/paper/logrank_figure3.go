package paper

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/listwise/listwise/measure"
	"github.com/listwise/listwise/tune"
)

func figure3Experiment() Experiment {
	return Experiment{
		Name:  "logrank-fig3",
		Title: "LogRank, Figure 3: all objectives on the sets of LETOR 3.0",
		Shows: "whether training for a measure helps: the convex bound against maximum likelihood and expected gain",
		Data:  "--data, any of " + strings.Join(setNames(), ", "),
		Reads: true,
		Run: func(ctx context.Context, o Options) (*Report, error) {
			return figure3{rows: logRankRows}.run(ctx, o)
		},
	}
}

// figure3 is the experiment with the rows to compute.
type figure3 struct {
	rows []logRankRow
}

// run computes every row on every set under both readings of the data.
func (f figure3) run(ctx context.Context, o Options) (*Report, error) {
	found, missing, err := findSets(o)
	if err != nil {
		return nil, err
	}
	t := newFigure3Table(f.rows, found)
	for i := range found {
		folds, err := found[i].read()
		if err != nil {
			return nil, err
		}
		t.columns[i].folds, t.columns[i].queries = len(folds), queries(folds)
		for k, r := range figure3Readings {
			taken, removed := r.apply(folds)
			t.columns[i].removed[k] = removed
			if err := f.train(ctx, o, t, i, k, taken); err != nil {
				return nil, fmt.Errorf("%s, %s: %w", found[i].name, r.name, err)
			}
		}
	}
	return t.report(o, missing)
}

var figure3Readings = []reading{asPublished, cleaned}

// train computes all rows on the folds, one tune.Run for each way to select.
func (f figure3) train(ctx context.Context, o Options, t *figure3Table, column, reading int, folds []tune.Fold) error {
	for _, selection := range []string{"map", "ndcg@10"} {
		c, err := tuneConfig(o, t.columns[column].set+", "+figure3Readings[reading].name+", chosen by "+selection, folds, selection)
		if err != nil {
			return err
		}
		if o.Records != "" {
			c.Dir = filepath.Join(o.Records, t.columns[column].set, figure3Readings[reading].name)
		}
		var at []int
		for i := range f.rows {
			if f.rows[i].selection() != selection {
				continue
			}
			e, err := f.rows[i].entry(f.rows[i].name, nil)
			if err != nil {
				return err
			}
			at = append(at, i)
			c.Entries = append(c.Entries, e)
		}
		if len(at) == 0 {
			continue
		}
		result, err := tune.Run(ctx, c)
		if err != nil {
			return err
		}
		for k := range result.Rows {
			t.ours[reading][at[k]][column] = newCell(&result.Rows[k])
		}
	}
	return nil
}

// figure3Table holds what was computed, by reading, row and column.
type figure3Table struct {
	rows    []logRankRow
	columns []figure3Column
	ours    [][][]*figure3Cell

	paper      figure3Numbers
	paperNames []string // rows in the paper's order
}

// figure3Column is a data set.
type figure3Column struct {
	set     string
	known   bool
	folds   int
	queries int
	removed [2]int // documents of the test parts, by reading
}

// weight is the set's weight in the micro-average: the paper's number of queries
// where it has one.
func (c *figure3Column) weight() float64 {
	if s, ok := knownSet(c.set); ok {
		return float64(s.queries)
	}
	return float64(c.queries)
}

// figure3Cell is one row on one set.
type figure3Cell struct {
	values  map[string]tune.Summary // by measure
	queries map[string][]float64    // values on the test queries, by measure
	chosen  []string                // by fold
	valid   []float64               // validation value of the chosen
	folds   []string
	grid    string
	atEdge  []string
	tiedIn  int     // queries with notable ties
	tieDiff float64 // largest difference that ties make in any measure
}

func newCell(row *tune.Row) *figure3Cell {
	c := &figure3Cell{values: make(map[string]tune.Summary), queries: make(map[string][]float64), grid: describeGrid(&row.Entry), atEdge: row.AtEdge(), tiedIn: row.TiedQueries()}
	for _, s := range row.Measures {
		name := s.Measure.Name()
		c.values[name], c.queries[name] = s, perQuery(row, name)
		c.tieDiff = max(c.tieDiff, math.Abs(s.Mean-s.TieNeutral))
	}
	for i := range row.Folds {
		f := &row.Folds[i]
		c.chosen = append(c.chosen, describeChoice(row, f))
		c.valid = append(c.valid, f.Validation)
		c.folds = append(c.folds, f.Fold)
	}
	return c
}

func newFigure3Table(rows []logRankRow, found []source) *figure3Table {
	t := &figure3Table{rows: rows}
	t.paper, t.paperNames = publishedFigure3()
	for _, s := range found {
		t.columns = append(t.columns, figure3Column{set: s.name, known: s.known})
	}
	if !t.comparable() {
		t.paperNames = nil
	}
	for _, r := range rows {
		if !slices.Contains(t.paperNames, r.name) {
			t.paperNames = append(t.paperNames, r.name)
		}
	}
	t.ours = make([][][]*figure3Cell, len(figure3Readings))
	for k := range t.ours {
		t.ours[k] = make([][]*figure3Cell, len(rows))
		for i := range rows {
			t.ours[k][i] = make([]*figure3Cell, len(found))
		}
	}
	return t
}

// comparable reports whether the paper has numbers for every column.
func (t *figure3Table) comparable() bool {
	return !slices.ContainsFunc(t.columns, func(c figure3Column) bool { return !c.known })
}

// microaverage is the column after the sets.
const microaverage = "microavg"

// columnNames are the sets and, where there are several, the micro-average.
func (t *figure3Table) columnNames() []string {
	var names []string
	for _, c := range t.columns {
		names = append(names, c.set)
	}
	if len(names) > 1 {
		names = append(names, microaverage)
	}
	return names
}

// value returns our number of a row, by its name, in a column, the last being
// the micro-average over the sets present; NaN if there is none.
func (t *figure3Table) value(reading int, m, name string, column int) float64 {
	i := slices.IndexFunc(t.rows, func(r logRankRow) bool { return r.name == name })
	if i < 0 {
		return math.NaN()
	}
	return t.average(column, func(k int) float64 { return t.ours[reading][i][k].values[m].Mean })
}

// published is value for the paper's number; its micro-average is taken over the
// same sets.
func (t *figure3Table) published(m, name string, column int) float64 {
	return t.average(column, func(k int) float64 {
		if v, ok := t.paper[m][name][t.columns[k].set]; ok {
			return v
		}
		return math.NaN()
	})
}

func (t *figure3Table) average(column int, at func(k int) float64) float64 {
	if column < len(t.columns) {
		return at(column)
	}
	var sum, weights float64
	for k := range t.columns {
		w := t.columns[k].weight()
		sum += w * at(k)
		weights += w
	}
	return sum / weights
}

// column returns the values of all rows in one column.
func (t *figure3Table) column(value func(name string) float64) []float64 {
	values := make([]float64, len(t.paperNames))
	for i, name := range t.paperNames {
		values[i] = value(name)
	}
	return values
}

// title of a measure: "NDCG@10".
func title(m string) string { return strings.ToUpper(m) }

// letor3 is the convention of all experiments here.
var letor3 = measure.Convention{}
