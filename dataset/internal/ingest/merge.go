package ingest

import (
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"
	"unsafe"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/memory"
)

// Assembly puts together what the collectors of all parts of an input found.
type Assembly struct {
	Name       string // of the input, for warnings
	Opts       dataset.Options
	Mem        *memory.Account
	Blocks     *Blocks
	Parts      []*Part      // in the order of the input; some may be nil
	Collectors []*Collector // of the workers
	Names      []string     // of the features, or nil
}

// Dataset makes the Dataset from filled blocks: it numbers the queries through all parts,
// puts each query's documents together and fills in what is missing.
func (a *Assembly) Dataset() (*dataset.Dataset, error) {
	a.closeGaps()
	b := a.Blocks
	made := dataset.Blocks{Features: b.Width, FeatureNames: a.Names, X: b.X, Grades: b.Grades, Weights: b.Weights}
	docs, err := a.docIDs(b.DocEnd)
	if err != nil {
		return nil, err
	}
	if made.QueryWeights, err = a.queryWeights(); err != nil {
		return nil, err
	}
	if made.Attributes, err = a.attributes(); err != nil {
		return nil, err
	}
	if made.Attributes != nil {
		made.AttributeNames = a.Opts.Table.Attributes
	}
	ids, counts, runs, err := a.queries()
	if err != nil {
		return nil, err
	}
	if len(b.Grades) == 0 {
		return nil, allNegative(a.Name)
	}
	if len(b.Weights) > 0 && slices.Max(b.Weights) == 0 {
		return nil, noWeight(a.Name, "document")
	}
	made.Warnings = a.warnings()
	if len(runs) > len(ids) {
		if err := a.Mem.Take(memory.RowBytes*int64(len(b.Grades))+int64(len(docs.Text)), "documents out of order"); err != nil {
			return nil, err
		}
		made.InputRow = inputRows(runs, counts)
		if made.Weights != nil {
			made.Weights = picked(made.Weights, made.InputRow)
		}
		permute(&made)
		docs = docs.Pick(made.InputRow)
		made.Warnings = append(made.Warnings, splitWarning(a.Name, ids, runs))
	}
	made.IDs, made.Counts, made.Docs = ids, counts, docs
	for c := range a.parts() {
		made.Missing += c.missing
		made.Absent += c.absent
	}
	d := dataset.FromBlocks(made)
	d.TakeMissing(a.Name, a.Opts.Missing)
	return d, nil
}

// parts yields the parts that are there.
func (a *Assembly) parts() iter.Seq[*Part] {
	return func(yield func(*Part) bool) {
		for _, c := range a.Parts {
			if c != nil && !yield(c) {
				return
			}
		}
	}
}

// closeGaps moves the rows together where documents were left out.
func (a *Assembly) closeGaps() {
	b, row := a.Blocks, 0
	for c := range a.parts() {
		if row < c.Row {
			copy(b.X[row*b.Width:], b.X[c.Row*b.Width:(c.Row+c.kept)*b.Width])
			copy(b.Grades[row:], b.Grades[c.Row:c.Row+c.kept])
			copy(b.DocEnd[row:], b.DocEnd[c.Row:c.Row+c.kept])
			if b.Weighted {
				copy(b.Weights[row:], b.Weights[c.Row:c.Row+c.kept])
			}
			c.Row = row
		}
		row += c.kept
	}
	b.X, b.Grades, b.DocEnd = b.X[:row*b.Width], b.Grades[:row], b.DocEnd[:row]
	if b.Weighted {
		b.Weights = b.Weights[:row]
	}
}

// warnings says what became of negative grades, and of numbers that float32 does not have.
func (a *Assembly) warnings() []string {
	negative := 0
	for c := range a.parts() {
		negative += c.negative
	}
	return said(NegativeWarning(a.Name, negative, a.Opts.Negative), roundedWarning(a.Name, a.Names, a.Collectors), CollapsedWarning(a.Name, a.Names, a.Collectors...))
}

// said returns the warnings that are not empty.
func said(warnings ...string) (list []string) {
	for _, w := range warnings {
		if w != "" {
			list = append(list, w)
		}
	}
	return list
}

// NegativeWarning says what became of negative grades, "" if there were none.
func NegativeWarning(name string, n int, policy dataset.Negative) string {
	switch {
	case n == 0:
		return ""
	case policy == dataset.NegativeDrop:
		return fmt.Sprintf("%s: %d documents with negative grades were left out", name, n)
	}
	return fmt.Sprintf("%s: %d negative grades taken as 0", name, n)
}

// allNegative is the error about data of which nothing is left.
func allNegative(name string) error {
	return &dataset.SyntaxError{File: name, Found: "negative grades alone", Expected: "documents that are not to be dropped"}
}

// docIDs puts the parts' document ids together; docEnd becomes part of the
// result.
func (a *Assembly) docIDs(docEnd []uint32) (dataset.DocIDs, error) {
	total := 0
	for c := range a.parts() {
		total += len(c.docText)
	}
	if total == 0 {
		return dataset.DocIDs{}, nil
	}
	if uint64(total) > math.MaxUint32 {
		return dataset.DocIDs{}, &dataset.SyntaxError{File: a.Name, Found: fmt.Sprintf("document ids of %d bytes", total), Expected: "at most 4 GiB of them"}
	}
	if err := a.Mem.Take(int64(total), "document ids"); err != nil {
		return dataset.DocIDs{}, err
	}
	var text strings.Builder
	text.Grow(total)
	for c := range a.parts() {
		base := uint32(text.Len())
		for row := c.Row; row < c.Row+c.kept; row++ {
			docEnd[row] += base
		}
		text.Write(c.docText)
		c.docText = nil
	}
	return dataset.DocIDs{Text: text.String(), End: docEnd}, nil
}

// queries returns the query ids in the order in which they first appear, their
// numbers of documents, and the runs of successive documents of one query.
func (a *Assembly) queries() (ids []string, counts []int, runs []run, err error) {
	total := 0
	for c := range a.parts() {
		total += len(c.runs)
	}
	if err := a.Mem.Take(int64(unsafe.Sizeof(run{}))*int64(total), "runs of documents of one query"); err != nil {
		return nil, nil, nil, err
	}
	runs = make([]run, 0, total)
	numbers := make([][]uint32, len(a.Collectors)) // of each worker's queries, plus 1
	most := 0
	for i, z := range a.Collectors {
		numbers[i] = make([]uint32, len(z.names))
		most = max(most, len(z.names))
	}
	number := make(map[string]uint32, most)
	for c := range a.parts() {
		for _, part := range c.runs {
			known := &numbers[c.worker][part.query]
			if *known == 0 {
				id := a.Collectors[c.worker].names[part.query]
				q, ok := number[id]
				if !ok {
					if err := a.Mem.Take(memory.QueryBytes, "queries"); err != nil {
						return nil, nil, nil, err
					}
					q = uint32(len(ids))
					number[id] = q
					ids = append(ids, id)
					counts = append(counts, 0)
				}
				*known = q + 1
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

// picked returns the values at some places.
func picked(values []float64, places []int) []float64 {
	all := make([]float64, len(places))
	for r, in := range places {
		all[r] = values[in]
	}
	return all
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
	return dataset.ScatteredWarning(name, n, ids[example])
}
