package table

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/datatest"
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

// Claim: a row of names beyond 16 MiB is refused, and names count as memory. A small compressed file
// cannot exceed the limit.
func TestLongHeader(t *testing.T) {
	var names strings.Builder
	names.WriteString("query,grade,x")
	for i := range 200_000 {
		fmt.Fprintf(&names, ",%d", i)
	}
	const refused = "f:1: found a row of names longer than 16 MiB, expected fewer names of columns, or shorter ones"
	for _, test := range []struct {
		name, header string
		limit        int64
		want         string
	}{
		{"one name", "query,grade," + strings.Repeat("a", longestHeader), 0, refused},
		{"many names", "query,grade,x" + strings.Repeat(",aaaaaaa", longestHeader/8), 0, refused},
		{"a quote", "query,grade,\"" + strings.Repeat("a\n", longestHeader/2), 0, refused},
		{"memory of names", names.String(), 40 << 20, "too large"},
		{"memory of the row", "query,grade," + strings.Repeat("a", 8<<20), 16 << 20, "too large"},
	} {
		text := datatest.Gzip(test.header + "\nq,1,2\n")
		_, err := readCut(bytes.NewReader(text), csvReader, dataset.Options{MaxBytes: test.limit}, 0)
		if err == nil || test.want != "too large" && err.Error() != test.want || test.want == "too large" && !errors.Is(err, dataset.ErrTooLarge) {
			t.Errorf("%s: error %v, expected %s", test.name, err, test.want)
		}
	}
	long := strings.Repeat("a", longestHeader-len("query,grade,\n"))
	d, err := readCut(strings.NewReader("query,grade,"+long+"\nq,1,2\n"), csvReader, dataset.Options{}, 0)
	if err != nil || d.FeatureNames[0] != long {
		t.Errorf("16 MiB: %v", err)
	}
}
