package letor

import (
	"fmt"
	"math"
	"strings"
	"unsafe"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/internal/input"
)

// finish makes the Dataset from filled blocks: it numbers the queries through
// all chunks, puts each query's documents together and fills in what is missing.
func (r *textReader) finish(b *blocks, parsers []*parser) (*dataset.Dataset, error) {
	made := dataset.Blocks{Features: b.width, X: b.x, Grades: b.grades}
	docs, err := r.docIDs(b.docEnd)
	if err != nil {
		return nil, err
	}
	ids, counts, runs, err := r.queries(parsers)
	if err != nil {
		return nil, err
	}
	if len(runs) > len(ids) {
		if err := r.mem.Take(input.InputRowBytes*int64(len(b.grades))+int64(len(docs.Text)), "documents out of order"); err != nil {
			return nil, err
		}
		made.InputRow = inputRows(runs, counts)
		permute(&made)
		docs = docs.Pick(made.InputRow)
		made.Warnings = append(made.Warnings, splitWarning(r.name, ids, runs))
	}
	made.IDs, made.Counts, made.Docs = ids, counts, docs
	for _, c := range r.chunks {
		if c != nil {
			made.Missing += c.missing
		}
	}
	d := dataset.FromBlocks(made)
	d.TakeMissing(r.name, r.opts.Missing)
	return d, nil
}

// docIDs puts the chunks' document ids together; docEnd becomes part of the
// result.
func (r *textReader) docIDs(docEnd []uint32) (dataset.DocIDs, error) {
	total := 0
	for _, c := range r.chunks {
		if c != nil {
			total += len(c.docText)
		}
	}
	if total == 0 {
		return dataset.DocIDs{}, nil
	}
	if uint64(total) > math.MaxUint32 {
		return dataset.DocIDs{}, &dataset.SyntaxError{File: r.name, Found: fmt.Sprintf("document ids of %d bytes", total), Expected: "at most 4 GiB of them"}
	}
	if err := r.mem.Take(int64(total), "document ids"); err != nil {
		return dataset.DocIDs{}, err
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
	return dataset.DocIDs{Text: text.String(), End: docEnd}, nil
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
	if err := r.mem.Take(int64(unsafe.Sizeof(run{}))*int64(total), "runs of documents of one query"); err != nil {
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
					if err := r.mem.Take(input.QueryBytes, "queries"); err != nil {
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
func permute(d *dataset.Blocks) {
	f := d.Features
	row := func(r int) []float32 { return d.X[r*f : (r+1)*f] }
	moved := make([]bool, len(d.InputRow))
	first := make([]float32, f)
	for r := range d.InputRow {
		if moved[r] {
			continue
		}
		copy(first, row(r))
		grade := d.Grades[r]
		to := r
		for from := d.InputRow[to]; from != r; from = d.InputRow[to] {
			copy(row(to), row(from))
			d.Grades[to] = d.Grades[from]
			moved[to] = true
			to = from
		}
		copy(row(to), first)
		d.Grades[to] = grade
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
