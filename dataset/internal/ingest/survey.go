package ingest

import (
	"errors"
	"fmt"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/stream"
)

// A Surveyor is a Format whose text can be surveyed in one pass: nothing that counting finds has to
// be known before grades, queries and identifiers are parsed.
type Surveyor interface {
	// Surveyor returns a parser of all but features, which are passed over.
	Surveyor(c *Collector) Parser
}

// Survey implements stream.Source.
func (s *documents) Survey(visit func(runs []stream.Run) error) (stream.Shape, error) {
	if f, ok := s.format.(Surveyor); ok {
		return s.surveyAtOnce(f, visit)
	}
	if err := s.countAll(); err != nil {
		return stream.Shape{}, err
	}
	docs, feature, broken := s.layout()
	if err := s.counted(); err != nil {
		return stream.Shape{}, err
	}
	width := s.format.Width(feature)
	if broken != nil || feature > s.format.Limit() || docs == 0 || width == 0 {
		return stream.Shape{}, s.mistake(docs, width)
	}
	if err := s.recut(width); err != nil {
		return stream.Shape{}, err
	}
	found := survey{documents: s, tell: visit}
	if err := s.visit(func() *worker { return s.worker(width) }, found.add); err != nil {
		return stream.Shape{}, err
	}
	shape, err := found.shape(width)
	shape.Warnings = append(shape.Warnings, s.rounded()...)
	return shape, err
}

// surveyAtOnce counts while it surveys. What is wrong with features Each finds, but for the chunks
// that have larger indices than those before: an index of a line that is none would else decide the
// number of columns.
func (s *documents) surveyAtOnce(f Surveyor, visit func(runs []stream.Run) error) (stream.Shape, error) {
	found := survey{documents: s, tell: visit}
	surveying := func() *worker {
		col := NewCollector(new(Blocks), s.opts, s.mem)
		return &worker{col: col, parser: f.Surveyor(col), count: s.format.Count}
	}
	err := s.visit(surveying, func(k *worker, c Chunk, before int) error {
		s.density = max(s.density, float64(k.size.Lines)/float64(max(1, c.Lines())))
		s.seen.Docs += k.size.Docs
		if k.size.Feature > s.seen.Feature {
			s.seen.Feature = k.size.Feature
			if line, err := s.check(c); err != nil {
				return Locate(err, s.name, before+line)
			}
		}
		return found.add(k, c, before)
	})
	if context := s.context(); context != nil {
		return stream.Shape{}, context
	}
	width := s.format.Width(s.seen.Feature)
	if err != nil || s.seen.Feature > s.format.Limit() || s.seen.Docs == 0 || width == 0 {
		return stream.Shape{}, s.firstMistake(err)
	}
	shape, err := found.shape(width)
	if err != nil {
		return shape, s.firstMistake(err)
	}
	shape.Later = s.rounded
	return shape, s.recut(width)
}

// check looks for errors in a chunk. An error comes with its line in the chunk.
func (s *documents) check(c Chunk) (line int, err error) {
	col := NewCollector(new(Blocks), s.opts, s.mem)
	k := &worker{col: col, parser: s.format.Parser(col, true)}
	k.parse(c)
	s.mem.Give(k.taken)
	return k.line, k.err
}

// firstMistake returns the first mistake in the text, or err if none stands before it. Features
// that come before may have one, which a survey passed over.
func (s *documents) firstMistake(err error) error {
	s.seen = Size{}
	if e := s.countAll(); e != nil {
		if err != nil {
			return err
		}
		return e
	}
	docs, feature, broken := s.layout()
	if e := s.counted(); e != nil {
		return e
	}
	width := s.format.Width(feature)
	if broken != nil || feature > s.format.Limit() || docs == 0 || width == 0 {
		return s.mistake(docs, width)
	}
	if e := s.recut(width); e != nil {
		return e
	}
	last := lineOf(err)
	first := s.visit(func() *worker { return s.worker(width) }, func(k *worker, _ Chunk, before int) error {
		if last > 0 && before+k.line >= last {
			return err
		}
		return nil
	})
	switch {
	case first != nil && (last == 0 || lineOf(first) <= last):
		return first
	case err != nil:
		return err
	}
	return fmt.Errorf("%s: %w", s.name, dataset.ErrChanged)
}

// lineOf returns the line of an error, 0 if it has none.
func lineOf(err error) int {
	if e, ok := errors.AsType[*dataset.SyntaxError](err); ok {
		return e.Line
	}
	return 0
}

// mistake finds the first error of a text in which there must be one, of so many documents and columns.
func (s *documents) mistake(docs, width int) error {
	s.parse(&Blocks{Weighted: weighsDocuments(s.format)}, true)
	switch err := s.context(); {
	case err != nil:
		return err
	case s.failed != nil:
		return s.failed
	case docs == 0 || width == 0:
		return Locate(s.format.Empty(docs), s.name, 0)
	}
	return fmt.Errorf("%s: %w", s.name, dataset.ErrChanged)
}

// rounded returns the warnings about features that are rounded, if there are any, by the last visit.
func (s *documents) rounded() []string {
	names := s.format.Names()
	return said(roundedWarning(s.name, names, s.collectors), CollapsedWarning(s.name, names, s.collectors...))
}

// survey is what is found as chunks are visited in order.
type survey struct {
	*documents
	tell func(runs []stream.Run) error

	kept, negative int
	docIDs         bool
	weights        Weights
	attributes     Attributes
}

// add takes what a worker found in a chunk, which so many lines stand before.
func (v *survey) add(k *worker, c Chunk, before int) error {
	runs := k.runs()
	for _, r := range runs {
		v.kept += r.Docs
		v.docIDs = v.docIDs || r.Bytes > 0
	}
	v.negative += k.col.negatives
	if err := v.weights.add(k.col, before); err != nil {
		return Locate(err, v.name, 0)
	}
	if err := v.attributes.add(k.col, v.opts.Table.Attributes, before); err != nil {
		return Locate(err, v.name, 0)
	}
	err := v.tell(runs)
	if scattered, ok := errors.AsType[*stream.ScatteredError](err); ok && k.col.negatives == 0 {
		scattered.Line = before + k.lineOf(c, runs[:scattered.Run])
	}
	return err
}

// shape returns what all chunks are, of so many columns.
func (v *survey) shape(width int) (stream.Shape, error) {
	shape := stream.Shape{Features: width, FeatureNames: v.format.Names(), Fixed: v.format.Names() != nil, DocIDs: v.docIDs}
	if v.kept == 0 {
		return shape, allNegative(v.name)
	}
	err := v.weights.Set(&shape, v.name)
	v.attributes.Set(&shape, v.opts.Table.Attributes)
	shape.Warnings = said(NegativeWarning(v.name, v.negative, v.opts.Negative))
	return shape, err
}
