package app

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/eval/slicing"
	"github.com/listwise/listwise/eval/stats"
	"github.com/listwise/listwise/tune"
	"github.com/listwise/listwise/tune/ensemble"
)

type slicer struct {
	by   string
	keys []slicing.Key
}

func (s *slicer) addTo(cmd *cobra.Command) {
	cmd.Flags().StringVar(&s.by, "by", "", "`keys` to slice queries by (see \"listwise eval --help\")")
}

// ask adds the columns that the keys need to a reader's options.
func (s *slicer) ask(opts *dataset.Options) (err error) {
	if s.by == "" {
		return nil
	}
	if s.keys, err = slicing.Parse(s.by); err != nil {
		return usageErrorf("--by: %w", err)
	}
	opts.Table.Attributes = slicing.Attributes(s.keys)
	return nil
}

func (s *slicer) divide(sets []*dataset.Dataset, threshold float64) ([]*slicing.Division, error) {
	var all []*slicing.Division
	for i := range s.keys {
		d, err := s.keys[i].Divide(sets, threshold)
		if err != nil {
			return nil, usageErrorf("--by: %w", err)
		}
		all = append(all, d)
	}
	return all, nil
}

// divisible returns an error if the data cannot be divided into slices. Commands call it before
// long work.
func (s *slicer) divisible(sets []*dataset.Dataset, threshold float64) error {
	_, err := s.divide(sets, threshold)
	return err
}

type slicedMeans struct {
	divisions []*slicing.Division
	measures  []measure.Measure
	names     []string            // of the systems
	means     [][][]slicedOfSlice // [system][division][slice]
}

type slicedOfSlice []slicing.Mean

// of computes the systems' means on the slices from their results on the data sets. It returns nil
// without --by.
func (s *slicer) of(sets []*dataset.Dataset, c measure.Convention, names []string, results [][]*measure.Result) (*slicedMeans, error) {
	if s.keys == nil {
		return nil, nil
	}
	divisions, err := s.divide(sets, c.Threshold())
	if err != nil {
		return nil, err
	}
	all := &slicedMeans{divisions: divisions, names: names, means: make([][][]slicedOfSlice, len(names))}
	for i := range names {
		r := measure.Pool(results[i]...)
		all.measures = r.Measures()
		for _, d := range divisions {
			own := make([]slicedOfSlice, len(d.Slices))
			for k := range d.Slices {
				for _, m := range all.measures {
					mean, err := d.Slices[k].Of(r.PerQuery(m), r.Weights(), stats.Config{Range: measure.RangeOf(m), Seed: 1})
					if err != nil {
						return nil, fmt.Errorf("%s %s: %w", d.By, d.Slices[k].Name, err)
					}
					own[k] = append(own[k], mean)
				}
			}
			all.means[i] = append(all.means[i], own)
		}
	}
	return all, nil
}

// slicedJSON contains the means on the slices of one key.
type slicedJSON struct {
	By     string      `json:"by"`
	Note   string      `json:"note,omitempty"`
	Slices []sliceJSON `json:"slices"`
}

type sliceJSON struct {
	Slice    string                   `json:"slice"`
	NoValue  bool                     `json:"no_value,omitempty"` // the queries have no value of the key
	Queries  int                      `json:"queries"`
	Measures map[string]sliceMeanJSON `json:"measures"`
}

// sliceMeanJSON is a mean on a slice. The mean over no queries and the interval of one query are
// null.
type sliceMeanJSON struct {
	Mean    any     `json:"mean"`
	CI      *[2]any `json:"ci"`
	Counted int     `json:"queries_counted"`
}

// json returns the slices of a system. It returns nil without --by.
func (s *slicedMeans) json(system int) []slicedJSON {
	if s == nil {
		return nil
	}
	var all []slicedJSON
	for k, d := range s.divisions {
		j := slicedJSON{By: d.By, Note: d.Note}
		for i, slice := range d.Slices {
			one := sliceJSON{Slice: slice.Name, NoValue: slice.None, Queries: len(slice.Queries), Measures: make(map[string]sliceMeanJSON)}
			for m, mean := range s.means[system][k][i] {
				one.Measures[s.measures[m].Name()] = meanJSON(mean)
			}
			j.Slices = append(j.Slices, one)
		}
		all = append(all, j)
	}
	return all
}

func meanJSON(m slicing.Mean) sliceMeanJSON {
	j := sliceMeanJSON{Mean: number(m.Mean), Counted: m.Counted}
	if m.Known {
		ci := ends(m.Interval)
		j.CI = &ci
	}
	return j
}

// tables returns a table for each key, without the hidden systems.
func (s *slicedMeans) tables(hidden []string) []report {
	if s == nil {
		return nil
	}
	var all []report
	for k, d := range s.divisions {
		t := report{title: "by " + d.By, columns: []string{"slice", "queries"}, keys: 2}
		var counted []int
		if len(s.names) > 1 {
			t.columns, t.keys = append(t.columns, "system"), 3
		}
		for _, m := range s.measures {
			t.columns = append(t.columns, m.Name(), "95 % interval")
		}
		for i, slice := range d.Slices {
			for system, name := range s.names {
				if slices.Contains(hidden, name) {
					continue
				}
				row := []any{slice.Name, strconv.Itoa(len(slice.Queries))}
				if len(s.names) > 1 {
					row = append(row, name)
				}
				for _, mean := range s.means[system][k][i] {
					row = append(row, decimals(mean.Mean, 4), intervalText(mean))
					counted = append(counted, mean.Counted)
				}
				t.rows = append(t.rows, row)
			}
		}
		t.alignNumbers()
		t.notes = slices.DeleteFunc([]string{d.Note, fewNote(counted)}, func(note string) bool { return note == "" })
		all = append(all, t)
	}
	return all
}

func intervalText(m slicing.Mean) string {
	if !m.Known {
		return ""
	}
	return bounds(m.Interval, plainMarks)
}

// fewNote explains the intervals of slices with few queries. It returns "" if there are none.
func fewNote(counted []int) string {
	if slices.ContainsFunc(counted, func(n int) bool { return n > 1 && n < stats.FewQueries }) {
		return fmt.Sprintf("Intervals over fewer than %d queries use Student's t.", stats.FewQueries)
	}
	return ""
}

// csv adds columns and rows for the slices to a table. row returns the cells of the table's own
// columns.
func (s *slicedMeans) csv(columns []string, cells [][]any, row func(system, measure string, m slicing.Mean) []any) ([]string, [][]any) {
	width := len(columns)
	columns = append(columns[:width:width], "by", "slice", "slice_queries", "slice_low", "slice_high")
	all := mapped(cells, func(own []any) []any {
		own = append(own[:len(own):len(own)], make([]any, width-len(own))...)
		return append(own, nil, nil, nil, nil, nil)
	})
	for k, d := range s.divisions {
		for i, slice := range d.Slices {
			for system, name := range s.names {
				for m, mean := range s.means[system][k][i] {
					own := append(row(name, s.measures[m].Name(), mean), d.By, slice.Name, len(slice.Queries), nil, nil)
					if mean.Known {
						own[len(own)-2], own[len(own)-1] = mean.Interval.Low, mean.Interval.High
					}
					all = append(all, own)
				}
			}
		}
	}
	return columns, all
}

// foldRow returns the function for the rows of slices in the tables of tune, auto and fuse. The
// mean over the queries of the slice is in the last column, the column of pooled means.
func foldRow(columns int) func(system, measure string, m slicing.Mean) []any {
	return func(system, measure string, m slicing.Mean) []any {
		cells := make([]any, columns)
		cells[0], cells[1], cells[columns-1] = system, measure, number(m.Mean)
		return cells
	}
}

func testsOf(divisions []ensemble.Division) []*dataset.Dataset {
	return mapped(divisions, func(d ensemble.Division) *dataset.Dataset { return d.Test })
}

func testsOfFolds(folds []tune.Fold) []*dataset.Dataset {
	return mapped(folds, func(f tune.Fold) *dataset.Dataset { return f.Test })
}
