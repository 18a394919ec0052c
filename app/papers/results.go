package papers

import (
	"context"
	"fmt"
	"iter"
	"math"
	"slices"

	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/eval/stats"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/tune"
)

// results contains the results of a study.
type results struct {
	*study
	options Options
	missing []string  // names of sets that were not found
	columns []*column // sets in order, and the readings of each set
}

// column contains the results on one set in one reading.
type column struct {
	source
	reading reading
	removed int      // number of documents that the reading removed from the test parts
	dropped []int    // number of queries that the reading removed from the test part of each fold
	names   []string // names of the folds
	queries int      // number of queries in all test parts, before the reading removes any
	lowest  float64  // share of test documents with the lowest grade of their query

	rows  [][]*tune.Row // by row, then seed; empty for a row without a method
	views []view
}

// view contains a column's numbers in one convention.
type view struct {
	convention measure.Convention
	measures   []string
	published  numbers
	values     [][]map[string]number // by row, seed and measure
	trivial    map[string][]trivial  // by measure
	strata     []stratum             // the sets of an average; nil for a single set
}

// number is the value of a measure for one row and seed.
type number struct {
	mean, neutral, pooled float64   // means of [tune.Summary]
	each                  []float64 // value on each test query

	// tried contains the results of every setting, by fold. It is nil without published numbers.
	tried []stats.Tried
}

// numbers contains published values by row and measure.
type numbers map[string]map[string]float64

// of returns a published value, or NaN if there is none.
func (n numbers) of(row, m string) float64 {
	if v, ok := n[row][m]; ok {
		return v
	}
	return math.NaN()
}

// newColumn returns a column without rows, and the folds after applying the reading.
func newColumn(s *source, r reading, folds []tune.Fold) (*column, []tune.Fold, error) {
	c := &column{source: *s, reading: r, queries: queries(folds), lowest: lowestShare(folds)}
	c.folds = nil // release the folds, which may be large
	for i := range folds {
		c.names = append(c.names, folds[i].Name)
	}
	taken, removed, err := r.apply(folds)
	if err != nil {
		return c, nil, err
	}
	c.removed = removed
	for i := range folds {
		c.dropped = append(c.dropped, len(folds[i].Test.Queries)-len(taken[i].Test.Queries))
	}
	return c, taken, nil
}

// kept returns the number of test queries that remain after the reading.
func (c *column) kept() int {
	n := c.queries
	for _, dropped := range c.dropped {
		n -= dropped
	}
	return n
}

// cleaning describes the effect of a reading that cleans the data. It returns "" for other
// readings.
func (c *column) cleaning() string {
	if !c.reading.clean {
		return ""
	}
	return fmt.Sprintf("; cleaning leaves %d test queries and removes %d test documents", c.kept(), c.removed)
}

// heading returns the name of the column within the study.
func (c *column) heading(s *study) string {
	if len(s.readings) > 1 {
		return c.name + ", " + c.reading.name
	}
	return c.name
}

// lowestShare returns the share of test documents with the lowest grade of their query.
func lowestShare(folds []tune.Fold) float64 {
	lowest, all := 0, 0
	for _, f := range folds {
		for i := range f.Test.Queries {
			grades := f.Test.Queries[i].Grades
			least := slices.Min(grades)
			for _, g := range grades {
				if g == least {
					lowest++
				}
			}
			all += len(grades)
		}
	}
	return float64(lowest) / float64(all)
}

// measured returns the views of a column: the results of tuning, or the results of the chosen
// models in other conventions. With published numbers, views also contain the evidence for
// verdicts.
func (s *study) measured(ctx context.Context, c *column, folds []tune.Fold) ([]view, error) {
	views := []view{{convention: s.convention, measures: s.measures}}
	if s.views != nil {
		views = s.views(c.name)
	} else if s.published != nil {
		views[0].published = s.published(c.name)
	}
	features, err := bestFeatures(ctx, folds)
	if err != nil {
		return nil, err
	}
	for k := range views {
		if err := s.measure(c, &views[k], folds, features); err != nil {
			return nil, err
		}
	}
	c.forgetModels()
	return views, nil
}

// forgetModels frees the models of settings that were not chosen.
func (c *column) forgetModels() {
	for _, seeds := range c.rows {
		for _, row := range seeds {
			for k := range row.Folds {
				row.Folds[k].Models = nil
			}
		}
	}
}

// measure sets the values of a view, and the evidence for its verdicts.
func (s *study) measure(c *column, v *view, folds []tune.Fold, features []*model.Model) error {
	j, err := v.judge(folds)
	if err != nil {
		return err
	}
	if v.trivial, err = j.trivial(features); err != nil {
		return err
	}
	judged := len(v.published) > 0
	v.values = make([][]map[string]number, len(c.rows))
	for i, seeds := range c.rows {
		for _, row := range seeds {
			values := summarised(row)
			if s.views != nil {
				values, err = j.chosen(row)
			}
			if err == nil && judged {
				err = j.tried(row, values)
			}
			if err != nil {
				return err
			}
			v.values[i] = append(v.values[i], values)
		}
	}
	return nil
}

// summarised returns the numbers that tuning computed.
func summarised(row *tune.Row) map[string]number {
	values := make(map[string]number)
	for _, s := range row.Measures {
		values[s.Measure.Name()] = number{mean: s.Mean, neutral: s.TieNeutral, pooled: s.Pooled, each: perQuery(row, s.Measure)}
	}
	return values
}

// perQuery returns a row's values on the test queries of all folds.
func perQuery(row *tune.Row, m measure.Measure) []float64 {
	var all []float64
	for i := range row.Folds {
		all = append(all, row.Folds[i].Test.PerQuery(m)...)
	}
	return all
}

// means returns a row's mean of a measure for each seed.
func (v *view) means(row int, m string) []float64 {
	var means []float64
	for _, values := range v.values[row] {
		means = append(means, values[m].mean)
	}
	return means
}

// mean returns a row's mean of a measure over folds and seeds. It is NaN for a row without results.
func (v *view) mean(row int, m string) float64 { return mean(v.means(row, m)) }

// each returns a row's value on each test query, averaged over the seeds.
func (v *view) each(row int, m string) []float64 {
	var sum []float64
	for _, values := range v.values[row] {
		each := values[m].each
		if sum == nil {
			sum = make([]float64, len(each))
		}
		for i, x := range each {
			sum[i] += x / float64(len(v.values[row]))
		}
	}
	return sum
}

// place identifies a number: a measure of a row in a view of a column. For settings, it identifies
// a fold of a row, and a setting in this fold.
type place struct {
	results *results
	column  *column
	view    *view
	at      int // index of the row
	seed    int
	measure string

	fold    int
	setting int
}

func (p *place) row() *row { return &p.results.rows[p.at] }

// tuned returns the result of tune.Run for the row and the seed.
func (p *place) tuned() *tune.Row { return p.column.rows[p.at][p.seed] }

// number returns our number for the place's seed.
func (p *place) number() number {
	if seeds := p.view.values[p.at]; p.seed < len(seeds) {
		return seeds[p.seed][p.measure]
	}
	return number{mean: math.NaN(), neutral: math.NaN(), pooled: math.NaN()}
}

// ours returns our mean over folds and seeds.
func (p *place) ours() float64 { return p.view.mean(p.at, p.measure) }

// published returns the published number of the row, or NaN if there is none.
func (p *place) published() float64 { return p.view.published.of(p.row().name, p.measure) }

// among selects rows. nil selects all rows.
type among func(*row) bool

// inGroups selects the rows of the named groups.
func inGroups(groups ...string) among {
	return func(r *row) bool { return slices.Contains(groups, r.group) }
}

// places iterates over all numbers of the selected rows, in the order of readings, sets, views,
// rows and measures.
func (s *results) places(of among) iter.Seq[*place] {
	return func(yield func(*place) bool) {
		for k := range s.readings {
			for _, c := range s.columnsOf(k) {
				if !s.placesIn(c, of, yield) {
					return
				}
			}
		}
	}
}

func (s *results) placesIn(c *column, of among, yield func(*place) bool) bool {
	for k := range c.views {
		for i := range s.rows {
			if of != nil && !of(&s.rows[i]) {
				continue
			}
			for _, m := range c.views[k].measures {
				if !yield(&place{results: s, column: c, view: &c.views[k], at: i, measure: m}) {
					return false
				}
			}
		}
	}
	return true
}

// tunings iterates over the trained rows, in the order of columns, rows and seeds.
func (s *results) tunings(of among) iter.Seq[*place] {
	return func(yield func(*place) bool) {
		for _, c := range s.columns {
			for i := range s.rows {
				if of != nil && !of(&s.rows[i]) {
					continue
				}
				for k := range c.rows[i] {
					if !yield(&place{results: s, column: c, view: &c.views[0], at: i, seed: k}) {
						return
					}
				}
			}
		}
	}
}

// columnsOf returns the columns of the k-th reading.
func (s *results) columnsOf(k int) []*column {
	var all []*column
	for i, c := range s.columns {
		if i%len(s.readings) == k {
			all = append(all, c)
		}
	}
	return all
}

// bestAmong returns, for every seed, a row that combines the settings of the named rows. In every
// fold it takes the first named row with the best validation value. The named rows must have the
// same number of seeds and the same selection measure.
func (s *study) bestAmong(c *column, names []string) []*tune.Row {
	first := c.rows[s.rowNamed(names[0])]
	all := make([]*tune.Row, len(first))
	for k := range first {
		rows := make([]*tune.Row, len(names))
		for i, name := range names {
			rows[i] = c.rows[s.rowNamed(name)][k]
		}
		all[k] = merged(rows)
	}
	return all
}

// merged combines rows of one method into a row with all their settings.
func merged(rows []*tune.Row) *tune.Row {
	all := &tune.Row{Entry: rows[0].Entry, Folds: slices.Clone(rows[0].Folds)}
	for _, row := range rows[1:] {
		all.Entry.Settings = slices.Concat(all.Entry.Settings, row.Entry.Settings)
		for k := range all.Folds {
			best, other := &all.Folds[k], &row.Folds[k]
			joint := *best
			if other.Validation > best.Validation {
				joint = *other
			}
			joint.Tried = slices.Concat(best.Tried, other.Tried)
			joint.Models = slices.Concat(best.Models, other.Models)
			joint.Unconverged = best.Unconverged + other.Unconverged
			*best = joint
		}
	}
	tests := make([]*measure.Result, len(all.Folds))
	for k := range tests {
		tests[k] = all.Folds[k].Test
	}
	all.Measures = tune.Summarise(tests...)
	return all
}
