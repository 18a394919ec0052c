//go:build unix

package table

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/datatest"
	"github.com/listwise/listwise/dataset/internal/input"
)

// benchTable returns a table of numbers: raw scores, counts, rates and normalised features.
func benchTable(rows, columns int, row func(query, doc int, cells []string) string) string {
	rng := rand.New(rand.NewPCG(1, 2))
	var b strings.Builder
	cells := make([]string, columns)
	for i := range rows {
		for j := range cells {
			switch j % 4 {
			case 0:
				cells[j] = fmt.Sprintf("%.6f", rng.Float64())
			case 1:
				cells[j] = strconv.Itoa(rng.IntN(10000))
			case 2:
				cells[j] = fmt.Sprintf("%.4f", rng.ExpFloat64()*10)
			case 3:
				cells[j] = fmt.Sprint(float32(rng.NormFloat64()))
			}
		}
		b.WriteString(row(i/50, i, cells))
	}
	return b.String()
}

// BenchmarkReadCSV reads a table of numbers on one core; MB/s are those of a CPU-second.
func BenchmarkReadCSV(b *testing.B) {
	const columns = 50
	var head strings.Builder
	head.WriteString("query,grade,doc")
	for j := range columns {
		fmt.Fprintf(&head, ",feature_%d", j)
	}
	head.WriteString("\n")
	rows := benchTable(10_000, columns, func(query, doc int, cells []string) string {
		return fmt.Sprintf("q%d,%d,d%d,%s\n", query, doc%5, doc, strings.Join(cells, ","))
	})
	benchRead(b, head.String(), rows, csvReader)
}

// BenchmarkReadJSON is BenchmarkReadCSV for JSON lines.
func BenchmarkReadJSON(b *testing.B) {
	benchRead(b, "", benchTable(10_000, 50, func(query, doc int, cells []string) string {
		var line strings.Builder
		fmt.Fprintf(&line, `{"query": "q%d", "grade": %d, "doc": "d%d"`, query, doc%5, doc)
		for j, cell := range cells {
			fmt.Fprintf(&line, `, "feature_%d": %s`, j, cell)
		}
		return line.String() + "}\n"
	}), ReadJSON)
}

// benchRead reads a file with the text, of 100 MB or more.
func benchRead(b *testing.B, head, rows string, read reader) {
	path := filepath.Join(b.TempDir(), "f")
	text := head + strings.Repeat(rows, 1+100_000_000/len(rows))
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		b.Fatal(err)
	}
	opts := dataset.Options{Workers: 1}
	datatest.PerCPU(b, int64(len(text)), func() {
		err := input.With(path, opts, nil, func(in *input.Input) error {
			_, err := read(in, opts)
			return err
		})
		if err != nil {
			b.Fatal(err)
		}
	})
}
