package table

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/listwise/listwise/dataset"
)

// What a table may make the reader hold beside its features is counted.
func TestMaxBytes(t *testing.T) {
	var names, values, rows strings.Builder
	rows.WriteString("query,grade,x\n")
	values.WriteString("query,grade,x\n")
	for i := range 20_000 {
		fmt.Fprintf(&names, `{"query":"a","grade":1,"column %d":1}`+"\n", i)
		fmt.Fprintf(&values, "a,1,%s%d\n", strings.Repeat("v", 1000), i%1000)
		fmt.Fprintf(&rows, "a,1,%d\n", i)
	}
	for _, test := range []struct {
		name, text string
		read       reader
		oneHot     bool
		need       int64
	}{
		{"names", names.String(), ReadJSON, false, 20_000 * 20},
		{"values", values.String(), csvReader, true, 1000 * 1000},
		{"rows", rows.String(), csvReader, false, 20_000 * 16},
	} {
		opts := dataset.Options{Missing: dataset.MissingKeep, MaxBytes: int64(len(test.text)) + test.need, Table: dataset.TableOptions{OneHotAuto: test.oneHot}}
		_, err := readCut(strings.NewReader(test.text), test.read, opts, 1<<14)
		if !errors.Is(err, dataset.ErrTooLarge) {
			t.Errorf("%s: error is %v, want ErrTooLarge", test.name, err)
		}
	}
}
