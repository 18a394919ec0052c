package stream

import (
	"slices"

	"github.com/listwise/listwise/dataset"
)

// Kept returns a source of the queries of src that keep selects. It has all features of src, and its
// documents are in the order of src. Its Survey returns an error if no query is selected
// ([dataset.CheckKept]). Its Close closes src.
func Kept(src Source, keep func(id string) bool) Source { return &keptSource{src, keep, false} }

// KeptSome returns the same source as [Kept], but its Survey returns no error if no query is selected. It is
// for one of several sources.
func KeptSome(src Source, keep func(id string) bool) Source { return &keptSource{src, keep, true} }

type keptSource struct {
	Source
	keep func(id string) bool
	none bool // Survey may find no selected query
}

// Survey implements Source.
func (s *keptSource) Survey(visit func(runs []Run) error) (Shape, error) {
	var kept []Run
	var in []bool // whether each query is selected, in the order of first occurrence
	queries := 0
	known := make(map[string]bool)
	shape, err := s.Source.Survey(func(runs []Run) error {
		kept = kept[:0]
		for _, r := range runs {
			keep := s.keep(r.ID)
			if !known[r.ID] {
				known[r.ID] = true
				if in = append(in, keep); keep {
					queries++
				}
			}
			if keep {
				kept = append(kept, r)
			}
		}
		return visit(kept)
	})
	shape.Reordered = false
	shape.QueryWeights, shape.Attributes = chosen(shape.QueryWeights, in), chosen(shape.Attributes, in)
	if !slices.ContainsFunc(shape.QueryWeights, func(w float64) bool { return w != 1 }) {
		shape.QueryWeights = nil
	}
	if err == nil && !s.none {
		err = dataset.CheckKept(queries, len(in), shape.QueryWeights)
	}
	return shape, err
}

// chosen returns the elements of x for which in is true. It returns nil for nil.
func chosen[T any](x []T, in []bool) []T {
	if x == nil {
		return nil
	}
	left := make([]T, 0, len(x))
	for i, v := range x {
		if in[i] {
			left = append(left, v)
		}
	}
	return left
}

// Each implements Source.
func (s *keptSource) Each(columns int, visit func(b *Batch) error) error {
	return s.Source.Each(columns, func(b *Batch) error {
		if s.cut(b, columns); len(b.Grades) == 0 {
			return nil
		}
		return visit(b)
	})
}

// cut removes the documents of queries that are not selected from the batch, in place.
func (s *keptSource) cut(b *Batch, columns int) {
	runs, from, to := b.Runs[:0], 0, 0
	text, textFrom := b.DocText[:0], uint32(0)
	for _, r := range b.Runs {
		end := from + r.Docs
		keep := s.keep(r.ID)
		if keep {
			runs = append(runs, r)
			copy(b.Grades[to:], b.Grades[from:end])
			copy(b.X[to*columns:], b.X[from*columns:end*columns])
			if b.Weights != nil {
				copy(b.Weights[to:], b.Weights[from:end])
			}
		}
		if b.DocEnd != nil {
			for i := from; i < end; i++ {
				textTo := b.DocEnd[i]
				if keep {
					text = append(text, b.DocText[textFrom:textTo]...)
					b.DocEnd[to+i-from] = uint32(len(text))
				}
				textFrom = textTo
			}
		}
		if keep {
			to += r.Docs
		}
		from = end
	}
	b.Runs, b.Grades, b.X = runs, b.Grades[:to], b.X[:to*columns]
	if b.Weights != nil {
		b.Weights = b.Weights[:to]
	}
	b.InputRow, b.Absent = nil, 0
	if b.DocEnd != nil {
		b.DocText, b.DocEnd = text, b.DocEnd[:to]
	}
}
