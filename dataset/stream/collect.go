package stream

import (
	"context"
	"fmt"
	"math"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/memory"
	"github.com/listwise/listwise/internal/block"
)

// Collect reads all documents of a source into a data set in memory. The memory is counted by f.Mem.
func Collect(ctx context.Context, f File, missing dataset.Missing) (*dataset.Dataset, error) {
	s, err := Survey(f, false)
	if err != nil {
		return nil, err
	}
	p, err := Join(ctx, []*Surveyed{s}, missing)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Name, err)
	}
	return p.Collect(f.Mem)
}

// Collect reads all documents of a plan into a data set in memory. The memory is counted by mem.
func (p *Plan) Collect(mem *memory.Account) (*dataset.Dataset, error) {
	before := mem.Taken()
	if err := p.take(mem); err != nil {
		mem.Give(mem.Taken() - before)
		return nil, err
	}
	all := mem.Taken() - before
	made := dataset.Blocks{
		Features:     p.Features,
		FeatureNames: p.FeatureNames,
		X:            block.New(p.Docs * p.Features),
		Grades:       make([]float64, p.Docs),
		IDs:          p.IDs,
		Counts:       p.Counts,
		QueryWeights: p.QueryWeights,

		AttributeNames: p.AttributeNames,
		Attributes:     p.Attributes,
	}
	if p.DocWeights {
		made.Weights = make([]float64, p.Docs)
	}
	if p.Reordered {
		made.InputRow = make([]int, p.Docs)
	}
	var text []byte
	if p.KeepsDocIDs {
		text, made.Docs.End = make([]byte, p.DocBytes()), make([]uint32, p.Docs)
	}
	err := p.Each(func(part *Part) error {
		part.copyTo(&made, text)
		return nil
	})
	if err != nil {
		mem.Give(all)
		return nil, err
	}
	made.Docs.Text = string(text)
	if made.Missing, made.Absent = p.Holes(); p.missing == dataset.MissingZero {
		made.Filled, made.Missing = made.Missing, 0
	}
	d := dataset.FromBlocks(made)
	d.FillMissing(p.missing)
	d.Warnings = p.Warnings()
	return d, nil
}

// take counts the memory of the data set, and returns an error if it exceeds the limit.
func (p *Plan) take(mem *memory.Account) error {
	if uint64(p.DocBytes()) > math.MaxUint32 {
		return fmt.Errorf("%s: found document ids of %d bytes, expected at most 4 GiB of them", p.files[0].Name, p.DocBytes())
	}
	if err := mem.TakeMatrix(p.Docs, p.Features, true); err != nil {
		return err
	}
	rows := 0
	if p.Reordered {
		rows = memory.RowBytes * p.Docs
	}
	return mem.TakeAll(int64(memory.QueryBytes*len(p.IDs)+2*p.DocBytes()+rows), "queries and identifiers")
}

// copyTo copies the documents to their rows of b, and their identifiers to text.
func (part *Part) copyTo(b *dataset.Blocks, text []byte) {
	copy(b.X[part.Row*b.Features:], part.X)
	copy(b.Grades[part.Row:], part.Grades)
	if b.Weights != nil {
		copy(b.Weights[part.Row:], part.Weights)
	}
	if b.Docs.End != nil {
		copy(text[part.Text:], part.DocText)
	}
	for i := range part.Grades {
		if b.Docs.End != nil {
			b.Docs.End[part.Row+i] = uint32(part.Text)
			if part.DocEnd != nil {
				b.Docs.End[part.Row+i] += part.DocEnd[i]
			}
		}
		if b.InputRow != nil {
			b.InputRow[part.Row+i] = part.Input + i
			if part.InputRow != nil {
				b.InputRow[part.Row+i] = part.InputRow[i]
			}
		}
	}
}
