package measure

import (
	"io"
	"slices"

	"github.com/listwise/listwise/internal/rows"
)

// WriteCSV writes one line a query and one column a measure, under a header
// line; where queries have weights, these are the second column. Values are the shortest decimals that read back to the same bits; the
// cell of a query that is left out is empty. The ids of queries are as they are, for other
// programs to join.
func (r *Result) WriteCSV(w io.Writer) error {
	cells := make([][]any, len(r.queries))
	for i, id := range r.queries {
		cells[i] = make([]any, 1+len(r.values))
		cells[i][0] = rows.ID(id)
		for m, values := range r.values {
			if v := values[i]; v == v {
				cells[i][m+1] = v
			}
		}
	}
	columns := []string{"query"}
	if r.weights != nil {
		columns = append(columns, "weight")
		for i, w := range r.weights {
			cells[i] = slices.Insert(cells[i], 1, any(w))
		}
	}
	for _, m := range r.measures {
		columns = append(columns, m.Name())
	}
	return rows.WriteCSV(w, columns, cells)
}
