package parquet

import (
	"fmt"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/internal/table"
	"github.com/listwise/listwise/dataset/memory"
)

// weigh reads the weights of n rows. keep is nil, or tells which rows are not dropped.
func (r *reader) weigh(n int, keep []bool) error {
	b := &r.batch
	if r.weight != nil {
		for i := range n {
			w, err := r.weightOf(r.weight, i)
			if err != nil {
				return err
			}
			if keep == nil || keep[i] {
				b.Weights = append(b.Weights, w)
			}
		}
		if r.columns == 0 {
			r.weights.Documents(b.Weights)
		}
	}
	if r.queryWeight == nil {
		return nil
	}
	run, docs := 0, 0 // current run, and number of its documents so far
	for i := range n {
		w, err := r.weightOf(r.queryWeight, i)
		if err != nil {
			return err
		}
		if keep != nil && !keep[i] {
			continue
		}
		if docs == b.Runs[run].Docs {
			run, docs = run+1, 0
		}
		docs++
		known := r.weights.Queries()
		if err := r.weights.Query(b.Runs[run].ID, w, 0); err != nil {
			err.Found += fmt.Sprintf(" in row %d", r.row+int64(i)+1)
			return named(r.in.Name, err)
		}
		if r.weights.Queries() > known {
			if err := r.in.Mem.Take(memory.KnownBytes, "weights of queries"); err != nil {
				return err
			}
		}
	}
	return nil
}

// weightOf returns the weight in the next row of c. row is the row of the batch.
func (r *reader) weightOf(c *cursor, row int) (float64, error) {
	w, err := c.number(&r.own)
	switch {
	case err != nil:
		return 0, r.at(c, row, err)
	case w != w:
		return 0, r.badRow(c, row, "nothing", numberOf[table.Weight])
	case dataset.CheckWeight(w) != nil:
		return 0, r.badRow(c, row, fmt.Sprint(w), numberOf[table.Weight])
	}
	return w, nil
}
