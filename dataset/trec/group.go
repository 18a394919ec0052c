package trec

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

// table collects documents, with a number for each, in any order of queries.
type table struct {
	name    string
	mem     *memory.Account
	queries map[string]uint32
	ids     []string // ids of the queries, in the order of their first lines
	last    uint32   // index of the last line's query
	apart   bool     // some query has lines that are not adjacent

	of     []uint32  // index of each document's query
	lines  []uint32  // line of each document
	values []float64 // grade or score of each document
	text   strings.Builder
	end    []uint32 // end of each identifier in text

	textBytes int64 // memory that is counted for text
}

// tableBytes is the memory of a document in a table, without its identifier.
const tableBytes = 4 + 4 + 8 + 4

func newTable(in *input.Input) *table {
	return &table{name: in.Name, mem: in.Mem, queries: make(map[string]uint32)}
}

// add appends a document.
func (t *table) add(line int, query, doc []byte, value float64) error {
	q, known := t.last, len(t.of) > 0 && string(query) == t.ids[t.last]
	if !known {
		if q, known = t.queries[string(query)]; known {
			t.apart = true
		} else {
			if err := checkID("a query id", query); err != nil {
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
	if err := checkID("a document id", doc); err != nil {
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

// grow counts the memory that one more document may take, with an identifier of id bytes. When a slice is
// full, it is copied to an array at least a quarter larger. Both arrays are counted.
func (t *table) grow(id int) error {
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

// groupBytes returns the memory that group takes in addition to the table.
func (t *table) groupBytes(counts []int, workers int) int64 {
	n := int64(len(t.of))
	bytes := mapBytes * min(n, int64(workers)*int64(slices.Max(counts)))
	if t.apart {
		bytes += n*(8+4+4+8) + 3*int64(t.text.Len())
	}
	return bytes
}

// group makes the documents of each query adjacent. It returns the number of documents of each query, and the
// document ids. It is an error if a query has a document twice.
func (t *table) group() (counts []int, docs dataset.DocIDs, err error) {
	counts = make([]int, len(t.ids))
	for _, q := range t.of {
		counts[q]++
	}
	workers := parallel.Workers(0, len(counts))
	beside := t.groupBytes(counts, workers)
	if err := t.mem.Take(beside, "documents"); err != nil {
		return nil, docs, err
	}
	defer t.mem.Give(beside)
	docs = dataset.DocIDs{Text: t.text.String(), End: t.end}
	if t.apart {
		order, next := make([]int, len(t.of)), starts(counts)
		for i, q := range t.of {
			order[next[q]] = i
			next[q]++
		}
		docs = docs.Pick(order)
		lines, values := make([]uint32, len(order)), make([]float64, len(order))
		for row, i := range order {
			lines[row], values[row] = t.lines[i], t.values[i]
		}
		t.lines, t.values = lines, values
	}
	return counts, docs, t.checkTwice(counts, docs, workers)
}

// starts returns the first row of every query.
func starts(counts []int) []int {
	first, row := make([]int, len(counts)), 0
	for q, n := range counts {
		first[q] = row
		row += n
	}
	return first
}

// checkTwice returns an error about the first line with a document that its query already has.
func (t *table) checkTwice(counts []int, docs dataset.DocIDs, workers int) error {
	first := starts(counts)
	seen := make([]map[string]int, workers)
	var lock sync.Mutex
	twice, before, of := -1, -1, -1
	parallel.For(len(counts), workers, func(worker, q int) {
		if seen[worker] == nil {
			seen[worker] = make(map[string]int)
		}
		rows := seen[worker]
		clear(rows)
		for row := first[q]; row < first[q]+counts[q]; row++ {
			id := docs.At(row)
			other, known := rows[id]
			if !known {
				rows[id] = row
				continue
			}
			lock.Lock()
			if twice < 0 || t.lines[row] < t.lines[twice] {
				twice, before, of = row, other, q
			}
			lock.Unlock()
			return
		}
	})
	if twice < 0 {
		return nil
	}
	return &dataset.SyntaxError{
		File: t.name, Line: int(t.lines[twice]),
		Found:    fmt.Sprintf("document %s of query %s, which line %d has too", suggest.Quote([]byte(docs.At(twice))), suggest.Quote([]byte(t.ids[of])), t.lines[before]),
		Expected: "every document of a query once",
	}
}
