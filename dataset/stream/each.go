package stream

import (
	"fmt"
	"slices"

	"github.com/listwise/listwise/dataset"
)

// Part is a Batch whose documents are adjacent in the data set.
type Part struct {
	Batch

	Row   int // row of the first document in the data set
	Text  int // number of bytes of the identifiers of all rows before
	Input int // position of the first document in the input; the others follow it unless InputRow is set

	// Incomplete says that X may have missing values. It is false if the policy is [dataset.MissingZero],
	// which has replaced them already. [dataset.MissingMin] replaces them later, because it needs the whole
	// query.
	Incomplete bool
}

// Query returns the index of the run's query in the Plan.
func (r *Run) Query() int { return r.query }

// Each visits the documents of all files in input order, with their rows in the data set. If the documents
// differ from those of the survey, the error wraps [dataset.ErrChanged].
func (p *Plan) Each(visit func(part *Part) error) error {
	row, text, end := starts(p.Counts), starts(p.bytes), starts(p.bytes)
	for q, n := range p.bytes {
		end[q] += n
	}
	input := 0
	for _, s := range p.files {
		v := &visitor{plan: p, Surveyed: s, row: row, text: text, end: end, input: input, visit: visit}
		s.missing, s.absent = 0, 0
		if err := s.Each(p.Features, v.batch); err != nil {
			return err
		}
		if v.run < len(s.runs) || !slices.Equal(text[s.base:s.base+len(s.ids)], end[s.base:s.base+len(s.ids)]) {
			return v.changed()
		}
		input += s.docs
	}
	return nil
}

// starts returns, for each element, the sum of all elements before it.
func starts(counts []int) []int {
	at, sum := make([]int, len(counts)), 0
	for i, n := range counts {
		at[i] = sum
		sum += n
	}
	return at
}

// visitor assigns rows of the data set to the documents of one file.
type visitor struct {
	plan *Plan
	*Surveyed
	visit     func(part *Part) error
	row, text []int     // for each query, the next row and the position of the next identifier
	end       []int     // for each query, the end of its documents' identifiers
	ends      []uint32  // memory for DocEnd of a Part
	ones      []float64 // weights of 1 for documents of sources without weights
	room      []float32 // memory for the features of one document
	input     int       // input position of the next document
	run, used int       // surveyed run of the next document, and number of its documents already visited
}

func (v *visitor) changed() error { return fmt.Errorf("%s: %w", v.Name, dataset.ErrChanged) }

// batch visits the documents of a source's batch. It divides the batch into parts whose documents are
// adjacent in the data set.
func (v *visitor) batch(b *Batch) error {
	v.reorder(b)
	v.absent += b.Absent
	incomplete := v.fill(b)
	var from, docs, runs int // first document, number of documents and first run of the current part
	var row, text, end int   // its first row, and the start and end of its identifiers
	flush := func(to, toRun int) error {
		if docs == 0 {
			return nil
		}
		part := v.cut(b, runs, toRun, from, to)
		part.Row, part.Text, part.Input, part.Incomplete = row, text, v.input, incomplete
		v.input += docs
		if err := v.visit(part); err != nil {
			return err
		}
		return v.plan.ctx.Err()
	}
	at := 0
	for i := range b.Runs {
		r := &b.Runs[i]
		if err := v.take(r); err != nil {
			return err
		}
		q, size := r.query, textSize(b, at, at+r.Docs)
		if docs > 0 && (v.row[q] != row+docs || v.text[q] != end) {
			if err := flush(at, i); err != nil {
				return err
			}
			docs = 0
		}
		if docs == 0 {
			from, runs, row, text, end = at, i, v.row[q], v.text[q], v.text[q]
		}
		v.row[q] += r.Docs
		if v.text[q] += size; v.text[q] > v.end[q] {
			return v.changed()
		}
		docs, end, at = docs+r.Docs, end+size, at+r.Docs
	}
	if at != len(b.Grades) {
		return v.changed()
	}
	return flush(at, len(b.Runs))
}

// reorder permutes the features of the documents to the order of the data set.
func (v *visitor) reorder(b *Batch) {
	if v.columns == nil {
		return
	}
	for row := range slices.Chunk(b.X, v.plan.Features) {
		v.room = append(v.room[:0], row...)
		for j, c := range v.columns {
			row[j] = v.room[c]
		}
	}
}

// take sets the query of a run. It returns an error if the run differs from the survey.
func (v *visitor) take(r *Run) error {
	if v.run == len(v.runs) {
		return v.changed()
	}
	known := v.runs[v.run]
	r.query = v.base + int(known.query)
	v.used += r.Docs
	if v.used > int(known.docs) || r.ID != v.plan.IDs[r.query] {
		return v.changed()
	}
	if v.used == int(known.docs) {
		v.run, v.used = v.run+1, 0
	}
	return nil
}

// fill counts the missing values of a batch and replaces them by zeros if that is the policy. It reports
// whether missing values are left.
func (v *visitor) fill(b *Batch) (left bool) {
	policy := v.plan.missing
	if policy == dataset.MissingError {
		return false // the source returns an error for missing values
	}
	n := 0
	for _, x := range b.X {
		if x != x {
			n++
		}
	}
	v.missing += n
	if n > 0 && policy == dataset.MissingZero {
		policy.Apply(b.X, v.plan.Features)
		return false
	}
	return n > 0
}

// cut returns a range of documents of a batch as a Part. The range consists of whole runs.
func (v *visitor) cut(b *Batch, run, toRun, from, to int) *Part {
	f := v.plan.Features
	part := &Part{Batch: Batch{Runs: b.Runs[run:toRun], Grades: b.Grades[from:to], X: b.X[from*f : to*f]}}
	switch {
	case len(b.Weights) > 0:
		part.Weights = b.Weights[from:to]
	case v.plan.DocWeights: // only other sources have weights; here all are 1
		for len(v.ones) < to-from {
			v.ones = append(v.ones, 1)
		}
		part.Weights = v.ones[:to-from]
	}
	if len(b.InputRow) > 0 {
		part.InputRow = b.InputRow[from:to]
	}
	if b.DocEnd == nil {
		return part
	}
	start := textStart(b, from)
	part.DocText, part.DocEnd = b.DocText[start:b.DocEnd[to-1]], b.DocEnd[from:to]
	if start > 0 {
		v.ends = append(v.ends[:0], part.DocEnd...)
		for i := range v.ends {
			v.ends[i] -= uint32(start)
		}
		part.DocEnd = v.ends
	}
	return part
}

// textSize returns the number of bytes of the identifiers of a range of documents of a batch.
func textSize(b *Batch, from, to int) int {
	if b.DocEnd == nil || from == to {
		return 0
	}
	return int(b.DocEnd[to-1]) - textStart(b, from)
}

// textStart returns the start of the identifier of a document in b.DocText.
func textStart(b *Batch, doc int) int {
	if doc == 0 {
		return 0
	}
	return int(b.DocEnd[doc-1])
}
