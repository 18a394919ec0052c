package report

import (
	"fmt"

	"github.com/listwise/listwise/eval/slicing"
	"github.com/listwise/listwise/eval/stats"
)

// slicesTable has the systems' means on the slices of one key.
type slicesTable struct {
	By, Note string
	Measures []slicedMeasure
}

// slicedMeasure are the means by one measure.
type slicedMeasure struct {
	Name string
	Rows []sliceRow
}

// sliceRow is a slice: its queries, how many of them count, and a cell for each system.
type sliceRow struct {
	Name             string
	Queries, Counted int
	Cells            []cell
}

// slice fills the tables of slices.
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
		runs := make([][][]float64, len(in.names))
		for s := range runs {
			runs[s] = in.values[m][s : s+1]
		}
		compared, err := slicing.Compare(runs, in.weights, in.Slices, stats.Config{
			Baseline: in.Baseline, Permutations: in.Permutations, Resamples: in.Resamples, Seed: in.Seed,
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
		r.view.SliceTests = fmt.Sprintf("randomisation test, two-sided, corrected for %d comparisons, of all slices with the baseline, by Holm's procedure", tests)
	}
	return nil
}

// sliceRow makes the row of a slice.
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

// mark says whether the difference to the baseline is certain.
func (c *cell) mark(f *forest) {
	c.P = probability(f.Holm)
	switch {
	case stats.Significant(f.Holm) && f.Difference > 0:
		c.Mark = "better"
	case stats.Significant(f.Holm) && f.Difference < 0:
		c.Mark = "worse"
	}
}
