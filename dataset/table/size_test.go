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

// Whatever the limit, data fit or are too large: those that are not counted to the end, as what may be features looks
// too large, are counted again where the features are fewer.
func TestLimitsOfJSON(t *testing.T) {
	var rows strings.Builder
	const docs = 3000
	for i := range docs {
		fmt.Fprintf(&rows, `{"query":"q%d","grade":%d,"doc":"","document_weight":1,"a":%d}`+"\n", i/10, i%3, i)
	}
	fits, refused := 0, 0
	for limit := rows.Len(); limit < rows.Len()+100*docs; limit += 5000 {
		opts := dataset.Options{MaxBytes: int64(limit)}
		d, err := readCut(strings.NewReader(rows.String()), ReadJSON, opts, 1<<14)
		switch {
		case errors.Is(err, dataset.ErrTooLarge):
			if refused++; fits > 0 {
				t.Errorf("limit of %d bytes: refused, where less was enough", limit)
			}
		case err != nil:
			t.Errorf("limit of %d bytes: %v", limit, err)
		default:
			if fits++; d.Docs() != docs || d.Features != 1 {
				t.Errorf("limit of %d bytes: %d documents × %d features", limit, d.Docs(), d.Features)
			}
		}
	}
	if fits == 0 || refused == 0 {
		t.Errorf("%d limits were enough, %d not", fits, refused)
	}
}
