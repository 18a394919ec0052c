package measure

import (
	"encoding/csv"
	"io"
	"strconv"
)

// WriteCSV writes one line a query and one column a measure, under a header
// line. Values are the shortest decimals that read back to the same bits; the
// cell of a query that is left out is empty.
func (r *Result) WriteCSV(w io.Writer) error {
	out := csv.NewWriter(w)
	record := append([]string{"query"}, r.names...)
	if err := out.Write(record); err != nil {
		return err
	}
	for i, id := range r.queries {
		record[0] = id
		for m, values := range r.values {
			record[m+1] = ""
			if v := values[i]; v == v {
				record[m+1] = strconv.FormatFloat(v, 'g', -1, 64)
			}
		}
		if err := out.Write(record); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}
