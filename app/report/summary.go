package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/eval/slicing"
	"github.com/listwise/listwise/eval/stats"
)

// view is the part of the page that the template shows. It is readable without scripts.
type view struct {
	Title, Source, Convention, Explanation, Ties string
	Baseline                                     string
	Queries, Documents, Features                 int
	Measures                                     []string
	Rows                                         []row
	Folds                                        []string
	ByFold                                       []foldRow // means in every fold by the first measure
	Runs                                         []string  // numbers of the runs, if a system has several
	ByRun                                        []runsTable
	Single                                       []string // systems with one run, if others have several
	Tests                                        string   // description of the tests; "" without tests
	Few                                          bool     // intervals of means are not from the bootstrap, because queries are few
	Verdict, Finding                             string   // the best system by the first measure, and the significant differences
	Needed                                       string   // size limit in MB for the rankings of all queries; "" if the page has them
	Weighted                                     bool     // means are weighted by query weights
	Trees                                        []treesText
	Slices                                       []slicesTable
	SliceTests                                   string // description of the tests on slices; "" without tests
}

type row struct {
	Name, About string
	Baseline    bool
	Cells       []cell
}

type cell struct {
	Mean     string
	Interval string // "" without an interval

	Deviation string // standard deviation over runs; "" for one run

	Best bool
	Mark string // "better" or "worse" than the baseline; "" if the difference is not significant
	P    string // p-value with Holm's correction; "" for the baseline
}

// foldRow contains a system's mean in every fold, the mean of these, and the mean over all queries.
type foldRow struct {
	Name         string
	Folds        []string
	Mean, Pooled string
}

// runsTable has the means of each system's runs by a measure.
type runsTable struct {
	Measure string
	Rows    []runsRow
}

type runsRow struct {
	Name            string
	Means           []string // "" beyond the system's runs
	Mean, Deviation string
}

// summarise tests the systems against the baseline and fills in the summary table.
func (r *Report) summarise(in *input) error {
	first := in.divisions[0].Test
	c := measure.ConventionOf(in.Measures[0])
	v := &r.view
	*v = view{
		Title: in.Title, Source: in.Source, Convention: c.Name(), Explanation: c.Explanation(), Ties: in.Ties.String(),
		Baseline: in.names[in.Baseline], Queries: len(in.queries), Features: first.Features, Weighted: in.weights != nil,
	}
	for i := range in.divisions {
		v.Documents += in.divisions[i].Test.Docs()
	}
	for s, name := range in.names {
		v.Rows = append(v.Rows, row{Name: name, About: in.about(s), Baseline: s == in.Baseline && len(in.names) > 1})
	}
	for i, m := range in.Measures {
		v.Measures = append(v.Measures, m.Name())
		comparison, err := in.compare(i)
		if err != nil {
			return fmt.Errorf("measure %s: %w", m.Name(), err)
		}
		r.column(in, i, comparison)
		if i == 0 {
			r.conclude(in, comparison)
		}
	}
	r.byFold(in)
	r.byRun(in)
	return nil
}

// compare tests the differences by the i-th measure. It returns nil if there is nothing to test.
func (in *input) compare(i int) (*stats.Comparison, error) {
	var runs [][][]float64
	for _, own := range in.runs[i] {
		runs = append(runs, counted(own))
	}
	if len(runs) < 2 || len(runs[0][0]) < 2 {
		return nil, nil
	}
	return stats.CompareRuns(runs, stats.Config{
		Range: measure.RangeOf(in.Measures[i]), Weights: in.countedWeights(in.values[i][0]), Baseline: in.Baseline, Permutations: in.Permutations, Resamples: in.Resamples, Seed: in.Seed,
		Observe: func(done, total int) { in.observe("comparing", i*total+done, len(in.Measures)*total) },
	})
}

func (r *Report) column(in *input, m int, c *stats.Comparison) {
	all := in.values[m]
	means := make([]float64, len(all))
	for s := range all {
		means[s] = measure.WeightedMean(all[s], in.weights)
	}
	best := slices.Max(means)
	for s := range all {
		out := cell{Mean: decimal(means[s]), Best: len(all) > 1 && decimal(means[s]) == decimal(best)}
		if c != nil && c.Systems[s].Interval != stats.Unbounded {
			i := c.Systems[s].Interval
			out.Interval = decimal(i.Low) + "–" + decimal(i.High)
		}
		r.view.Rows[s].Cells = append(r.view.Rows[s].Cells, out)
	}
	if c == nil {
		return
	}
	r.view.Tests = fmt.Sprintf("Fisher's randomization test, two-sided, over %d queries with %s sign flips, corrected for %d comparisons by Holm's procedure",
		c.Queries, Flips(c), len(c.Pairs))
	r.view.Few = r.view.Few || c.Queries < stats.FewQueries
	for i := range c.Pairs {
		f := newForest(&c.Pairs[i], in.Baseline, m)
		r.data.Forest = append(r.data.Forest, f)
		r.view.Rows[f.System].Cells[m].mark(&f)
	}
}

// conclude writes the sentences about the best system by the first measure, and about the
// significant differences.
func (r *Report) conclude(in *input, c *stats.Comparison) {
	name, best := r.view.Measures[0], -1
	means := make([]float64, len(in.names))
	for s := range in.names {
		means[s] = measure.WeightedMean(in.values[0][s], in.weights)
		if s != in.Baseline && (best < 0 || means[s] > means[best]) {
			best = s
		}
	}
	if best < 0 {
		best = in.Baseline
	}
	r.data.Best = best
	base := in.Baseline
	switch {
	case math.IsNaN(means[best]):
		r.view.Verdict = fmt.Sprintf("No query has a value of %s.", name)
	case best == base:
		r.view.Verdict = fmt.Sprintf("%s has a mean %s of %s.", in.names[best], name, decimal(means[best]))
	case means[best] <= means[base]:
		r.view.Verdict = fmt.Sprintf("No system has a higher %s than the baseline: %s has %s, %s has %s.", name, in.names[base], decimal(means[base]), in.names[best], decimal(means[best]))
	default:
		r.view.Verdict = fmt.Sprintf("%s has the best %s: %s. The baseline, %s, has %s.", in.names[best], name, decimal(means[best]), in.names[base], decimal(means[base]))
	}
	if c != nil {
		r.view.Finding = c.Finding(name, in.names)
	}
}

// Flips formats the number of sign flips in a comparison's randomization test.
func Flips(c *stats.Comparison) string {
	if c.Exact {
		return "all"
	}
	return Thousands(c.Permutations)
}

// Thousands formats a number with a comma before every three digits: 100,000.
func Thousands(n int) string {
	text := strconv.Itoa(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// newForest returns the difference of a system minus the baseline.
func newForest(p *stats.Pair, baseline, m int) forest {
	f := forest{
		System: p.A, Measure: m, P: p.Randomization.P, Holm: p.Randomization.Holm,
		Difference: p.Difference, Wins: p.Wins, Ties: p.Ties, Losses: p.Losses,
	}
	i := p.Interval
	if p.A == baseline {
		f.System = p.B
		f.Difference, i = -f.Difference, stats.Interval{Low: -i.High, High: -i.Low}
		f.Wins, f.Losses = f.Losses, f.Wins
	}
	f.Difference = rounded(f.Difference, 5)
	if i != stats.Unbounded {
		low, high := rounded(i.Low, 5), rounded(i.High, 5)
		f.Low, f.High = &low, &high
	}
	return f
}

func (in *input) about(s int) string {
	runs := ""
	if n := len(in.Runs[s]); n > 1 {
		runs = fmt.Sprintf(", %d runs", n)
	}
	m := in.model(s, 0)
	if m == nil {
		return "scores" + runs
	}
	text := m.Method + ", " + m.Scorer.Kind()
	if m.Measure != "" {
		text = m.Method + " for " + m.Measure + ", " + m.Scorer.Kind()
	}
	if c, ok := m.Hyperparameters["form"].(string); ok {
		text += ", " + c
	}
	return text + runs
}

func (r *Report) byFold(in *input) {
	if len(in.divisions) < 2 {
		return
	}
	r.view.Folds = r.data.Folds
	first := in.Measures[0]
	for s, results := range in.results {
		n := float64(len(results))
		var mean float64
		folds := make([]float64, len(in.divisions))
		for _, run := range results {
			mean += measure.MeanOverFolds(first, run...) / n
			for k, t := range run {
				folds[k] += t.Mean(first) / n
			}
		}
		f := foldRow{Name: in.names[s], Mean: decimal(mean), Pooled: decimal(measure.WeightedMean(in.values[0][s], in.weights))}
		for _, v := range folds {
			f.Folds = append(f.Folds, decimal(v))
		}
		r.view.ByFold = append(r.view.ByFold, f)
	}
}

// byRun fills in the table of the runs' means by every measure, if a system has several runs.
func (r *Report) byRun(in *input) {
	most := 0
	for _, runs := range in.Runs {
		most = max(most, len(runs))
	}
	if most < 2 {
		return
	}
	for k := range most {
		r.view.Runs = append(r.view.Runs, strconv.Itoa(k+1))
	}
	for i, m := range in.Measures {
		t := runsTable{Measure: m.Name()}
		for s, own := range in.runs[i] {
			f := runsRow{Name: in.names[s], Means: make([]string, most), Mean: decimal(measure.WeightedMean(in.values[i][s], in.weights))}
			var means []float64
			for k, run := range own {
				means = append(means, measure.WeightedMean(run, in.weights))
				f.Means[k] = decimal(means[k])
			}
			if len(means) > 1 {
				f.Deviation = decimal(deviation(means))
				r.view.Rows[s].Cells[i].Deviation = f.Deviation
			} else if i == 0 {
				r.view.Single = append(r.view.Single, in.names[s])
			}
			t.Rows = append(t.Rows, f)
		}
		r.view.ByRun = append(r.view.ByRun, t)
	}
}

// deviation returns the standard deviation of at least two values.
func deviation(values []float64) float64 {
	mean, squares := measure.WeightedMean(values, nil), 0.0
	for _, v := range values {
		squares += float64((v - mean) * (v - mean))
	}
	return math.Sqrt(squares / float64(len(values)-1))
}

// decimal formats v with four decimals. NaN is a dash.
func decimal(v float64) string {
	if math.IsNaN(v) {
		return "–"
	}
	return strings.Replace(fmt.Sprintf("%.4f", v), "-", "−", 1)
}

func probability(p float64) string {
	if p < 0.001 {
		return "<0.001"
	}
	return fmt.Sprintf("%.3f", p)
}

type slicesTable struct {
	By, Note string
	Measures []slicedMeasure
}

type slicedMeasure struct {
	Name string
	Rows []sliceRow
}

// sliceRow is the row of a slice: the number of its queries, the number of queries that count, and
// a cell for each system.
type sliceRow struct {
	Name             string
	Queries, Counted int
	Cells            []cell
}

func (r *Report) slice(in *input) error {
	for _, d := range in.Slices {
		r.view.Slices = append(r.view.Slices, slicesTable{By: d.By, Note: d.Note})
	}
	if len(in.Slices) == 0 {
		return nil
	}
	tests := 0
	for m, by := range in.Measures {
		in.observe("comparing slices", m, len(in.Measures))
		compared, err := slicing.Compare(in.runs[m], in.weights, in.Slices, stats.Config{
			Range: measure.RangeOf(by), Baseline: in.Baseline, Permutations: in.Permutations, Resamples: in.Resamples, Seed: in.Seed,
		})
		if err != nil {
			return fmt.Errorf("measure %s: %w", by.Name(), err)
		}
		at, family := 0, 0
		for k, d := range in.Slices {
			table := slicedMeasure{Name: by.Name()}
			for range d.Slices {
				c := &compared[at]
				table.Rows = append(table.Rows, in.sliceRow(c))
				if at++; c.Comparison != nil {
					family += len(c.Pairs)
				}
			}
			r.view.Slices[k].Measures = append(r.view.Slices[k].Measures, table)
		}
		tests = max(tests, family)
	}
	if tests > 0 {
		r.view.SliceTests = fmt.Sprintf("randomization test, two-sided, corrected for %d comparisons, of all slices with the baseline, by Holm's procedure", tests)
	}
	return nil
}

// sliceRow returns the row of a slice.
func (in *input) sliceRow(c *slicing.Compared) sliceRow {
	row := sliceRow{Name: c.Slice, Queries: c.Queries, Cells: make([]cell, len(c.Means))}
	for s, mean := range c.Means {
		row.Counted = mean.Counted
		row.Cells[s].Mean = decimal(mean.Mean)
		if mean.Known {
			row.Cells[s].Interval = decimal(mean.Interval.Low) + "–" + decimal(mean.Interval.High)
		}
	}
	if c.Comparison == nil {
		return row
	}
	for i := range c.Pairs {
		f := newForest(&c.Pairs[i], in.Baseline, 0)
		row.Cells[f.System].mark(&f)
	}
	return row
}

// mark sets the mark of a significant difference from the baseline, and the p-value.
func (c *cell) mark(f *forest) {
	c.P = probability(f.Holm)
	switch {
	case stats.Significant(f.Holm) && f.Difference > 0:
		c.Mark = "better"
	case stats.Significant(f.Holm) && f.Difference < 0:
		c.Mark = "worse"
	}
}
