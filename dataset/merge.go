package dataset

import (
	"fmt"
	"math"
	"strings"
	"unsafe"
)

// finish makes the Dataset from filled blocks: it numbers the queries through
// all chunks, puts each query's documents together and fills in what is missing.
func (r *textReader) finish(b *blocks, parsers []*parser) (*Dataset, error) {
	d := &Dataset{Features: b.width, x: b.x, grades: b.grades}
	docs, err := r.docIDs(b.docEnd)
	if err != nil {
		return nil, err
	}
	ids, counts, runs, err := r.queries(parsers)
	if err != nil {
		return nil, err
	}
	if len(runs) > len(ids) {
		if err := r.mem.take(inputRowBytes*int64(len(b.grades))+int64(len(docs.text)), "documents out of order"); err != nil {
			return nil, err
		}
		d.inputRow = inputRows(runs, counts)
		d.permute()
		docs = docs.pick(d.inputRow)
		d.Warnings = append(d.Warnings, splitWarning(r.name, ids, runs))
	}
	d.cut(ids, counts, docs)
	missing := 0
	for _, c := range r.chunks {
		if c != nil {
			missing += c.missing
		}
	}
	d.missing = missing
	if what := r.opts.Missing; missing > 0 && what != MissingKeep {
		as := "as 0"
		if what == MissingMin {
			as = "as the feature's smallest value within the query"
		}
		d.FillMissing(what)
		d.Warnings = append(d.Warnings, fmt.Sprintf("%s: %d missing values (nan or NULL) taken %s", r.name, missing, as))
	}
	return d, nil
}

// inputRowBytes is what it takes for each document to put the documents of queries
// together: its place, whether it is there, the end of its identifier.
const inputRowBytes = 8 + 1 + 4

// docIDs puts the chunks' document ids together; docEnd becomes part of the
// result.
func (r *textReader) docIDs(docEnd []uint32) (docIDs, error) {
	total := 0
	for _, c := range r.chunks {
		if c != nil {
			total += len(c.docText)
		}
	}
	if total == 0 {
		return docIDs{}, nil
	}
	if uint64(total) > math.MaxUint32 {
		return docIDs{}, &SyntaxError{File: r.name, Found: fmt.Sprintf("document ids of %d bytes", total), Expected: "at most 4 GiB of them"}
	}
	if err := r.mem.take(int64(total), "document ids"); err != nil {
		return docIDs{}, err
	}
	var text strings.Builder
	text.Grow(total)
	for _, c := range r.chunks {
		if c == nil {
			continue
		}
		base := uint32(text.Len())
		for row := c.row; row < c.row+c.docs; row++ {
			docEnd[row] += base
		}
		text.Write(c.docText)
		c.docText = nil
	}
	return docIDs{text: text.String(), end: docEnd}, nil
}

// queries returns the query ids in the order in which they first appear, their
// numbers of documents, and the runs of successive documents of one query.
func (r *textReader) queries(parsers []*parser) (ids []string, counts []int, runs []run, err error) {
	total := 0
	for _, c := range r.chunks {
		if c != nil {
			total += len(c.runs)
		}
	}
	if err := r.mem.take(int64(unsafe.Sizeof(run{}))*int64(total), "runs of documents of one query"); err != nil {
		return nil, nil, nil, err
	}
	runs = make([]run, 0, total)
	number := make(map[string]uint32)
	numbers := make([][]uint32, len(parsers)) // of each worker's queries, plus 1
	for i, z := range parsers {
		numbers[i] = make([]uint32, len(z.names))
	}
	for _, c := range r.chunks {
		if c == nil {
			continue
		}
		for _, part := range c.runs {
			known := &numbers[c.worker][part.query]
			if *known == 0 {
				id := parsers[c.worker].names[part.query]
				if _, ok := number[id]; !ok {
					if err := r.mem.take(queryBytes, "queries"); err != nil {
						return nil, nil, nil, err
					}
					number[id] = uint32(len(ids))
					ids = append(ids, id)
					counts = append(counts, 0)
				}
				*known = number[id] + 1
			}
			q := *known - 1
			counts[q] += int(part.docs)
			if n := len(runs); n > 0 && runs[n-1].query == q {
				runs[n-1].docs += part.docs
			} else {
				runs = append(runs, run{q, part.docs})
			}
		}
		c.runs = nil
	}
	return ids, counts, runs, nil
}

// inputRows returns, for every row of a Dataset whose queries stand together,
// the place among the input's documents.
func inputRows(runs []run, counts []int) []int {
	next := make([]int, len(counts))
	rows := 0
	for q, n := range counts {
		next[q] = rows
		rows += n
	}
	inputRow := make([]int, rows)
	in := 0
	for _, r := range runs {
		for range r.docs {
			inputRow[next[r.query]] = in
			next[r.query]++
			in++
		}
	}
	return inputRow
}

// permute moves the blocks' rows from input order to the order of inputRow, in
// place, cycle by cycle of the permutation.
func (d *Dataset) permute() {
	f := d.Features
	row := func(r int) []float32 { return d.x[r*f : (r+1)*f] }
	moved := make([]bool, len(d.inputRow))
	first := make([]float32, f)
	for r := range d.inputRow {
		if moved[r] {
			continue
		}
		copy(first, row(r))
		grade := d.grades[r]
		to := r
		for from := d.inputRow[to]; from != r; from = d.inputRow[to] {
			copy(row(to), row(from))
			d.grades[to] = d.grades[from]
			moved[to] = true
			to = from
		}
		copy(row(to), first)
		d.grades[to] = grade
		moved[to] = true
	}
}

func splitWarning(name string, ids []string, runs []run) string {
	split := make([]bool, len(ids))
	seen := make([]bool, len(ids))
	n, example := 0, uint32(0)
	for _, r := range runs {
		q := r.query
		if seen[q] && !split[q] {
			split[q] = true
			n++
			if n == 1 {
				example = q
			}
		}
		seen[q] = true
	}
	if n == 1 {
		return fmt.Sprintf("%s: the documents of query %q stand in several places and were put together", name, ids[example])
	}
	return fmt.Sprintf("%s: the documents of %d queries (%q is the first) stand in several places and were put together", name, n, ids[example])
}
