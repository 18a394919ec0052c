package papers

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/listwise/listwise/eval/stats"
	"github.com/listwise/listwise/internal/elementary"
)

// This file makes tables of rows by sets, one for each measure and reading. They mark the best
// values of every column. The last column is the average over the sets.

// microaverage is the name of the column after the sets.
const microaverage = "microavg"

// withAverage returns the columns of the k-th reading. If there are several, it appends their
// average.
func (s *results) withAverage(k int) []*column {
	sets := s.columnsOf(k)
	if len(sets) < 2 {
		return sets
	}
	return append(sets, s.average(k))
}

// average returns a column with the average of our and of the published numbers over the sets of
// the k-th reading. Sets are weighted by their numbers of queries.
func (s *results) average(k int) *column {
	sets := s.columnsOf(k)
	average := func(at func(v *view) float64) float64 {
		var sum, weights float64
		for _, c := range sets {
			w := s.weight(c)
			sum += float64(w * at(&c.views[0]))
			weights += w
		}
		return sum / weights
	}
	v := view{convention: s.convention, measures: s.measures, published: make(numbers), values: make([][]map[string]number, len(s.rows))}
	for i := range s.rows {
		name, values := s.rows[i].name, make(map[string]number)
		for _, m := range s.measures {
			if p := average(func(v *view) float64 { return v.published.of(name, m) }); !math.IsNaN(p) {
				v.published.set(name, m, p)
			}
			values[m] = number{mean: average(func(v *view) float64 { return v.mean(i, m) }), neutral: math.NaN(), pooled: math.NaN()}
		}
		v.values[i] = []map[string]number{values}
	}
	for _, c := range sets {
		v.strata = append(v.strata, stratum{&c.views[0], s.weight(c)})
	}
	return &column{source: source{name: microaverage}, reading: s.readings[k], views: []view{v}}
}

// stratum is a set of an average, with its weight.
type stratum struct {
	*view
	weight float64
}

// averaged returns the difference of two rows' averages over independent sets. The interval and the
// p-value are based on the normal distribution, because there are hundreds of queries.
func (v *view) averaged(a, b int, m string) difference {
	if len(v.strata) == 1 {
		return v.strata[0].difference(a, b, m)
	}
	all := difference{runs: math.MaxInt, against: math.MaxInt}
	var weights, variance float64
	for _, s := range v.strata {
		d := s.difference(a, b, m)
		all.Mean += float64(s.weight * d.Mean)
		variance += float64(s.weight * d.Error * s.weight * d.Error)
		weights += s.weight
		all.queries += d.queries
		all.runs, all.against = min(all.runs, d.runs), min(all.against, d.against)
	}
	all.Mean, all.Error = all.Mean/weights, math.Sqrt(variance)/weights
	all.DF = math.Inf(1)
	if all.P = elementary.Erfc(math.Abs(all.Mean) / (all.Error * math.Sqrt2)); all.Error == 0 && math.Abs(all.Mean) <= stats.Same {
		all.P = 1
	}
	half := float64(math.Sqrt2 * elementary.Erfinv(1-stats.Alpha) * all.Error)
	all.Interval, all.holm = stats.Interval{Low: all.Mean - half, High: all.Mean + half}, all.P
	return all
}

// weight returns a set's weight in the average: its published number of queries if known, otherwise
// its number of queries.
func (s *results) weight(c *column) float64 {
	if known, ok := s.sizes.named(c.name); ok {
		return float64(known.queries)
	}
	return float64(c.queries)
}

// comparable reports whether there are published numbers for every set.
func (s *results) comparable() bool {
	for _, c := range s.columns {
		if c.lacksPublished() {
			return false
		}
	}
	return true
}

// shown returns the indices of the rows in the tables. These are the rows without a group. If a set
// has no published numbers, rows without a method are omitted.
func (s *results) shown() []int {
	var rows []int
	for i := range s.rows {
		if s.rows[i].group == "" && (s.rows[i].method != "" || s.comparable()) {
			rows = append(rows, i)
		}
	}
	return rows
}

// ours returns our number of the named row, or NaN if there is none.
func (s *results) ours(v *view, name, m string) float64 {
	if i := s.rowNamed(name); i >= 0 {
		return v.mean(i, m)
	}
	return math.NaN()
}

// columnOf returns our and the published numbers of the shown rows in a column.
func (s *results) columnOf(c *column, m string) (ours, published []float64) {
	for _, i := range s.shown() {
		ours = append(ours, c.views[0].mean(i, m))
		published = append(published, c.views[0].published.of(s.rows[i].name, m))
	}
	return ours, published
}

// markedTables adds a table for every reading and measure.
var markedTables partFunc = func(s *results, r *Report) {
	for k, reading := range s.readings {
		for _, m := range s.measures {
			r.Tables = append(r.Tables, s.markedTable(k, m, fmt.Sprintf("%s, %s data", title(m), reading.name)))
		}
	}
}

func (s *results) markedTable(k int, m, heading string) Table {
	t := Table{Title: heading, Columns: []string{"method"}, Left: 1}
	for _, i := range s.shown() {
		t.Rows = append(t.Rows, []string{s.rows[i].name})
	}
	add := func(heading string, values []float64, decimals int) {
		t.Columns = append(t.Columns, heading+marks[0])
		for i, rank := range ranks(values) {
			t.Rows[i] = append(t.Rows[i], marked(values[i], rank, decimals))
		}
	}
	for _, c := range s.withAverage(k) {
		ours, published := s.columnOf(c, m)
		add(c.name, ours, 4)
		if s.comparable() {
			add("paper", published, 3)
		}
	}
	return t
}

// markedSheet adds a sheet with a row for every number of these tables.
var markedSheet partFunc = func(s *results, r *Report) {
	sheet := Sheet{Columns: []string{"reading", "measure", "method", "data", "ours", "ours_rank", "tie_neutral", "pooled", "paper", "paper_rank"}}
	for k, reading := range s.readings {
		for _, m := range s.measures {
			for _, c := range s.withAverage(k) {
				ours, published := s.columnOf(c, m)
				ourRanks, theirRanks := ranks(ours), ranks(published)
				for n, i := range s.shown() {
					p := place{results: s, column: c, view: &c.views[0], at: i, measure: m}
					sheet.Rows = append(sheet.Rows, []any{
						reading.name, m, s.rows[i].name, c.name, orNil(ours[n]), rankOrNil(ourRanks[n]), orNil(p.number().neutral), orNil(p.number().pooled),
						orNil(published[n]), rankOrNil(theirRanks[n]),
					})
				}
			}
		}
	}
	r.Sheets = append(r.Sheets, sheet)
}

// setList returns the names of the sets of an experiment, separated by commas.
func (s *results) setList() string {
	var names []string
	for _, c := range s.columnsOf(0) {
		names = append(names, c.name)
	}
	return strings.Join(names, ", ")
}

// ranks returns the rank of every value, from 1 for the highest. Equal values have equal ranks. NaN
// has rank 0.
func ranks(values []float64) []int {
	r := make([]int, len(values))
	for i, v := range values {
		if math.IsNaN(v) {
			continue
		}
		r[i] = 1
		for _, u := range values {
			if u > v {
				r[i]++
			}
		}
	}
	return r
}

// marks are the marks of the best three values of a column, and the empty mark. They have equal
// widths, so that numbers remain aligned.
var marks = [...]string{"   ", "***", "** ", "*  "}

// marked formats a value with the mark of its rank. NaN becomes "".
func marked(v float64, rank, decimals int) string {
	if math.IsNaN(v) {
		return ""
	}
	m := marks[0]
	if rank < len(marks) {
		m = marks[rank]
	}
	return strconv.FormatFloat(v, 'f', decimals, 64) + m
}

// orNil returns v as the cell of a sheet, or nil for NaN.
func orNil(v float64) any {
	if math.IsNaN(v) {
		return nil
	}
	return v
}

// rankOrNil returns a rank as the cell of a sheet, or nil for 0.
func rankOrNil(rank int) any {
	if rank == 0 {
		return nil
	}
	return rank
}

// mean and sd return the mean and the sample standard deviation of values. The deviation of a
// single value is NaN.
func mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

func sd(values []float64) float64 {
	m, sum := mean(values), 0.0
	for _, v := range values {
		sum += float64((v - m) * (v - m))
	}
	return math.Sqrt(sum / float64(len(values)-1))
}

// meanAndDeviation returns the text "0.4512 ± 0.0031". For a single value it omits the deviation.
func meanAndDeviation(values []float64, decimals int) string {
	text := fmt.Sprintf("%.*f", decimals, mean(values))
	if len(values) > 1 {
		text += fmt.Sprintf(" ± %.*f", decimals, sd(values))
	}
	return text
}
