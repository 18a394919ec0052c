// Package pairs collects pairs of a query and a document with a number each, a grade or a score. It has
// what readers of judgements and of runs share, and must not depend on any format.
//
// Start reading at [Table]; [Judgements] is one for grades.
package pairs

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/internal/input"
	"github.com/listwise/listwise/dataset/memory"
	"github.com/listwise/listwise/internal/parallel"
	"github.com/listwise/listwise/internal/suggest"
)

// Table collects documents with a number each, in any order of queries.
type Table struct {
	name    string
	mem     *memory.Account
	queries map[string]uint32
	ids     []string // ids of the queries, in the order of their first lines
	last    uint32   // index of the last line's query
	apart   bool     // some query has lines that are not adjacent

	of      []uint32  // index of each document's query
	lines   []uint32  // line of each document
	values  []float64 // grade or score of each document
	weights []float64 // of each document, nil if documents have none
	text    strings.Builder
	end     []uint32 // end of each identifier in text

	textBytes int64 // memory that is counted for text
}

// Len returns the number of documents.
func (t *Table) Len() int { return len(t.of) }

// Last returns the number of the query of the last document, in the order of first lines.
func (t *Table) Last() uint32 { return t.last }

// tableBytes is the memory of a document in a table, without its identifier.
const tableBytes = 4 + 4 + 8 + 4

// New returns a table of the documents of an input.
func New(in *input.Input) *Table {
	return &Table{name: in.Name, mem: in.Mem, queries: make(map[string]uint32)}
}

// Add appends a document, whose line is for errors.
func (t *Table) Add(line int, query, doc []byte, value float64) error {
	q, known := t.last, len(t.of) > 0 && string(query) == t.ids[t.last]
	if !known {
		if q, known = t.queries[string(query)]; known {
			t.apart = true
		} else {
			if err := CheckID("a query id", query); err != nil {
				return err
			}
			if err := t.mem.Take(memory.QueryBytes+int64(len(query)), "query ids"); err != nil {
				return err
			}
			q = uint32(len(t.ids))
			t.ids = append(t.ids, string(query))
			t.queries[t.ids[q]] = q
		}
	}
	if err := CheckID("a document id", doc); err != nil {
		return err
	}
	if err := t.grow(len(doc)); err != nil {
		return err
	}
	t.last = q
	t.of, t.lines, t.values = append(t.of, q), append(t.lines, uint32(line)), append(t.values, value)
	t.text.Write(doc)
	t.end = append(t.end, uint32(t.text.Len()))
	return nil
}

// grow counts the memory that one more document may take: what is appended to is copied
// when it is full, to a place a quarter larger at least.
func (t *Table) grow(id int) error {
	const step = 1 << 12 // documents
	if n := len(t.of); n%step == 0 {
		if n >= math.MaxUint32-step {
			return &dataset.SyntaxError{File: t.name, Found: fmt.Sprintf("more than %d documents", n), Expected: "fewer"}
		}
		if err := t.mem.Take(5*step*tableBytes/2, "documents"); err != nil {
			return err
		}
	}
	if t.text.Len() > math.MaxUint32-id {
		return &dataset.SyntaxError{File: t.name, Found: "document ids of more than 4 GiB", Expected: "fewer or shorter ones"}
	}
	if t.text.Len()+id > t.text.Cap() {
		t.mem.Give(t.textBytes)
		t.textBytes = int64(3 * (t.text.Cap() + id))
		return t.mem.Take(t.textBytes, "document ids")
	}
	return nil
}

// mapBytes is the approximate memory of an entry in a map of document ids.
const mapBytes = 64

// groupBytes returns what group takes beside the table while it runs.
func (t *Table) groupBytes(counts []int, workers int) int64 {
	n := int64(len(t.of))
	bytes := mapBytes * min(n, int64(workers)*int64(slices.Max(counts)))
	if t.apart {
		bytes += n*(8+4+4+8+8) + 3*int64(t.text.Len())
	}
	return bytes
}

// Grouped is a table with the documents of queries together.
type Grouped struct {
	IDs     []string // of the queries, in the order of their first lines
	Counts  []int    // the queries' numbers of documents
	Docs    dataset.DocIDs
	Values  []float64
	Weights []float64 // nil if documents have none
}

// Weigh sets the weight of the last document. Documents without a weight have 1.
func (t *Table) Weigh(w float64) error {
	if t.weights == nil {
		if err := t.mem.Take(5*int64(len(t.of))*8/2, "document weights"); err != nil {
			return err
		}
	} else if err := t.mem.Take(2*8, "document weights"); err != nil {
		return err
	}
	for len(t.weights) < len(t.of) {
		t.weights = append(t.weights, 1)
	}
	t.weights[len(t.of)-1] = w
	return nil
}

// Group puts the documents of queries together. A document that a query has twice is an error.
func (t *Table) Group() (Grouped, error) {
	g, workers, err := t.group()
	if err != nil {
		return g, err
	}
	if row, before, q := t.twice(g, workers); row >= 0 {
		return g, &dataset.SyntaxError{
			File: t.name, Line: int(t.lines[row]),
			Found:    t.describe(g, row, q, before),
			Expected: "every document of a query once",
		}
	}
	return g, nil
}

// describe names a document, its query and the line of an earlier row with both.
func (t *Table) describe(g Grouped, row, query, before int) string {
	return fmt.Sprintf("document %s of query %s, which line %d has too", suggest.Quote([]byte(g.Docs.At(row))), suggest.Quote([]byte(t.ids[query])), t.lines[before])
}

// group puts the documents of queries together.
func (t *Table) group() (g Grouped, workers int, err error) {
	g = Grouped{IDs: t.ids, Counts: make([]int, len(t.ids)), Docs: dataset.DocIDs{Text: t.text.String(), End: t.end}}
	for _, q := range t.of {
		g.Counts[q]++
	}
	for t.weights != nil && len(t.weights) < len(t.of) {
		t.weights = append(t.weights, 1)
	}
	workers = parallel.Workers(0, len(g.Counts))
	beside := t.groupBytes(g.Counts, workers)
	if err := t.mem.Take(beside, "documents"); err != nil {
		return g, 0, err
	}
	defer t.mem.Give(beside)
	if t.apart {
		order, next := make([]int, len(t.of)), Starts(g.Counts)
		for i, q := range t.of {
			order[next[q]] = i
			next[q]++
		}
		g.Docs = g.Docs.Pick(order)
		lines, values := make([]uint32, len(order)), make([]float64, len(order))
		for row, i := range order {
			lines[row], values[row] = t.lines[i], t.values[i]
		}
		t.lines, t.values = lines, values
		if t.weights != nil {
			weights := make([]float64, len(order))
			for row, i := range order {
				weights[row] = t.weights[i]
			}
			t.weights = weights
		}
	}
	g.Values, g.Weights = t.values, t.weights
	return g, workers, nil
}

// Starts returns the first row of every query.
func Starts(counts []int) []int {
	first, row := make([]int, len(counts)), 0
	for q, n := range counts {
		first[q] = row
		row += n
	}
	return first
}

// twice returns the first row whose document its query already has, the row before with that document, and the
// query. The row is -1 if there is none.
func (t *Table) twice(g Grouped, workers int) (row, before, query int) {
	first := Starts(g.Counts)
	seen := make([]map[string]int, workers)
	var lock sync.Mutex
	row = -1
	parallel.For(len(g.Counts), workers, func(worker, q int) {
		if seen[worker] == nil {
			seen[worker] = make(map[string]int)
		}
		rows := seen[worker]
		clear(rows)
		for r := first[q]; r < first[q]+g.Counts[q]; r++ {
			id := g.Docs.At(r)
			other, known := rows[id]
			if !known {
				rows[id] = r
				continue
			}
			lock.Lock()
			if row < 0 || t.lines[r] < t.lines[row] {
				row, before, query = r, other, q
			}
			lock.Unlock()
			return
		}
	})
	return row, before, query
}
