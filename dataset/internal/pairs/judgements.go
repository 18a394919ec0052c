package pairs

import (
	"fmt"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/internal/input"
	"github.com/listwise/listwise/internal/suggest"
)

// Judgements is a table of grades.
type Judgements struct {
	table     *Table
	negative  dataset.Negative
	conflicts dataset.Conflicts
	dropped   int // judgements with negative grades
	unrated   int // those without a grade
}

// NewJudgements returns a table of the judgements of an input.
func NewJudgements(in *input.Input, opts dataset.Options) *Judgements {
	return &Judgements{table: New(in), negative: opts.Negative, conflicts: opts.Conflicts}
}

// Unrated counts a query or a document that nobody judged.
func (j *Judgements) Unrated() { j.unrated++ }

// Add adds a judgement. An empty grade means that nobody judged the document.
func (j *Judgements) Add(line int, query, doc, grade []byte) error {
	switch {
	case len(query) == 0:
		return &dataset.SyntaxError{Found: "a judgement without a query", Expected: "one for every judgement"}
	case len(grade) == 0:
		j.Unrated()
		return nil
	case len(doc) == 0:
		return &dataset.SyntaxError{Found: "the grade " + suggest.Quote(grade) + " without a document id", Expected: "one for every grade"}
	}
	value, ok := Decimal(grade)
	switch {
	case !ok:
		return &dataset.SyntaxError{Found: suggest.Quote(grade), Expected: "a grade, a finite number"}
	case value >= 0:
	case j.negative == dataset.NegativeDrop:
		j.dropped++
		return nil
	case j.negative == dataset.NegativeZero:
		value = 0
	default:
		return &dataset.SyntaxError{
			Found:    "the negative grade " + suggest.Quote(grade),
			Expected: "a grade of at least 0, or --negative-grades zero (they count as 0) or drop (such documents count as not judged)",
		}
	}
	return j.table.Add(line, query, doc, value+0) // without the sign of −0
}

// AddWeighted adds a judgement with the weight of its document. An empty weight is 1.
func (j *Judgements) AddWeighted(line int, query, doc, grade, weight []byte) error {
	before := j.table.Len()
	if err := j.Add(line, query, doc, grade); err != nil || j.table.Len() == before || len(weight) == 0 {
		return err
	}
	w, ok := Decimal(weight)
	if !ok || w < 0 {
		return &dataset.SyntaxError{Found: suggest.Quote(weight), Expected: "a document weight, a finite number that is not negative"}
	}
	return j.table.Weigh(w)
}

// Dataset returns the judgements as a data set without features. expected says what a list without judgements
// should have.
func (j *Judgements) Dataset(expected string) (*dataset.Dataset, error) {
	t := j.table
	if t.Len() == 0 {
		found := "no judgements"
		if j.dropped > 0 {
			found += fmt.Sprintf(" but %d with negative grades, which are left out", j.dropped)
		}
		return nil, &dataset.SyntaxError{File: t.name, Found: found, Expected: expected}
	}
	g, workers, err := t.group()
	if err != nil {
		return nil, err
	}
	b := dataset.Blocks{Grades: g.Values, Weights: g.Weights, Docs: g.Docs, IDs: g.IDs, Counts: g.Counts}
	if j.dropped > 0 {
		b.Warnings = append(b.Warnings, fmt.Sprintf("%s: left out %d lines with a negative grade: their documents count as not judged", t.name, j.dropped))
	}
	if j.unrated > 0 {
		b.Warnings = append(b.Warnings, fmt.Sprintf("%s: left out %d entries without a grade: they count as not judged", t.name, j.unrated))
	}
	if row, before, q := t.twice(g, workers); row >= 0 {
		if g.Weights != nil {
			return nil, &dataset.SyntaxError{
				File: t.name, Line: int(t.lines[row]), Found: t.describe(g, row, q, before), Expected: "each document of a query once in a list with document weights",
			}
		}
		if err := j.merge(&b); err != nil {
			return nil, err
		}
	}
	return dataset.FromBlocks(b), nil
}

// merge makes one judgement of those with the same query and document.
func (j *Judgements) merge(b *dataset.Blocks) error {
	var keep []int // rows
	var repeated, conflicting int
	known := make(map[string]int) // index of a document in keep
	row := 0
	for q, n := range b.Counts {
		clear(known)
		first := len(keep)
		differs, sums := make(map[int]bool), make(map[int]sum)
		for end := row + n; row < end; row++ {
			id := b.Docs.At(row)
			k, twice := known[id]
			if !twice {
				known[id] = len(keep)
				keep = append(keep, row)
				continue
			}
			repeated++
			before := keep[k]
			if _, begun := sums[k]; !begun {
				sums[k] = sum{b.Grades[before], 1}
			}
			sums[k] = sum{sums[k].grades + b.Grades[row], sums[k].n + 1}
			if b.Grades[row] == b.Grades[before] && !differs[k] {
				continue
			}
			differs[k] = true
			if j.conflicts == dataset.ConflictsError {
				return j.conflict(b, row, before, q)
			}
			if j.conflicts == dataset.ConflictsLast {
				b.Grades[before] = b.Grades[row]
			}
		}
		for k := range differs {
			conflicting++
			if j.conflicts == dataset.ConflictsMean {
				b.Grades[keep[k]] = sums[k].grades / float64(sums[k].n)
			}
		}
		b.Counts[q] = len(keep) - first
	}
	grades := make([]float64, len(keep))
	for i, row := range keep {
		grades[i] = b.Grades[row]
	}
	b.Grades, b.Docs = grades, b.Docs.Pick(keep)
	b.Warnings = append(b.Warnings, fmt.Sprintf("%s: merged %d repeated judgements with the first of their document", j.table.name, repeated))
	if conflicting > 0 {
		b.Warnings = append(b.Warnings, fmt.Sprintf("%s: %d documents have several grades; took the %s of each", j.table.name, conflicting, j.conflicts))
	}
	return nil
}

// sum is the sum of some grades.
type sum struct {
	grades float64
	n      int
}

// conflict is the error about a document with two grades.
func (j *Judgements) conflict(b *dataset.Blocks, row, before, query int) error {
	g := Grouped{Docs: b.Docs}
	return &dataset.SyntaxError{
		File: j.table.name, Line: int(j.table.lines[row]),
		Found:    fmt.Sprintf("%s, there with the grade %s and here with %s", j.table.describe(g, row, query, before), dataset.FormatGrade(b.Grades[before]), dataset.FormatGrade(b.Grades[row])),
		Expected: "one grade, or --conflicts mean or last",
	}
}
