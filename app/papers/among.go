package papers

import (
	"slices"

	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/tune"
)

// bestAmong returns, for every seed, what tune.Run gives for a row with all settings of the
// named ones: in every fold the first with the best validation value. The rows must have been
// trained with the same numbers of seeds, if at all, and be chosen by the same measure.
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

// merged returns the row that rows of one method are together.
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
