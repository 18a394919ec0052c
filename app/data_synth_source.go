package app

import (
	"github.com/listwise/listwise/dataset/stream"
	"github.com/listwise/listwise/dataset/synth"
)

// synthSource is generated queries as a source: they are made as they are visited.
type synthSource struct{ *synth.Queries }

// Survey implements stream.Source.
func (s synthSource) Survey(visit func(runs []stream.Run) error) (stream.Shape, error) {
	for i := range s.Number {
		run := stream.Run{ID: s.ID(i), Docs: s.Docs(i)}
		for k := range run.Docs {
			run.Bytes += len(s.DocID(i, k))
		}
		if err := visit([]stream.Run{run}); err != nil {
			return stream.Shape{}, err
		}
	}
	return stream.Shape{Features: s.Features, DocIDs: true}, nil
}

// Each implements stream.Source. Nothing is joined to generated data, which have their own columns.
func (s synthSource) Each(columns int, visit func(b *stream.Batch) error) error {
	b, most := new(stream.Batch), stream.BatchDocs(columns)
	for i := range s.Number {
		grades, x := s.Query(i)
		for from := 0; from < len(grades); {
			to := min(len(grades), from+most-len(b.Grades))
			b.Runs = append(b.Runs, stream.Run{ID: s.ID(i), Docs: to - from})
			b.Grades = append(b.Grades, grades[from:to]...)
			b.X = append(b.X, x[from*columns:to*columns]...)
			for k := from; k < to; k++ {
				b.DocText = append(b.DocText, s.DocID(i, k)...)
				b.DocEnd = append(b.DocEnd, uint32(len(b.DocText)))
			}
			if from = to; len(b.Grades) < most {
				continue
			}
			if err := visit(b); err != nil {
				return err
			}
			b = new(stream.Batch)
		}
	}
	if len(b.Grades) == 0 {
		return nil
	}
	return visit(b)
}

// Close implements stream.Source.
func (s synthSource) Close() error { return nil }
