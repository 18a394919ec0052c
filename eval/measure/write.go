package measure

import (
	"io"
	"slices"

	"github.com/listwise/listwise/internal/rows"
)

// WriteCSV writes a header line, then one line per query. The columns are the query's id, its weight if
// queries have weights, and the measures. Values are the shortest decimals that read back to the same
// bits. The cell of an excluded query is empty. WriteCSV does not change the ids, so that other
// programs can join them.
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
