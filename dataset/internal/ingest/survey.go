package ingest

import (
	"errors"
	"fmt"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/memory"
	"github.com/listwise/listwise/dataset/stream"
)

// A Surveyor is a Format that is counted and surveyed in one pass. This is possible if grades, queries and
// identifiers can be parsed without the results of counting.
type Surveyor interface {
	// Surveyor returns a parser that skips features.
	Surveyor(c *Collector) Parser
}

// Survey implements stream.Source.
func (s *documents) Survey(visit func(runs []stream.Run) error) (stream.Shape, error) {
	if f, ok := s.format.(Surveyor); ok {
		return s.surveyAtOnce(f, visit)
	}
	width, err := s.settle()
	if err != nil {
		return stream.Shape{}, err
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

// surveyAtOnce counts and surveys in one pass. It skips features, in which Each later finds syntax errors.
// However, the largest feature index determines the number of columns, and it could be in an invalid line.
// So each chunk that has a new largest index is checked here.
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
			if line, err := s.checker().check(c); err != nil {
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

// check checks a chunk for errors. It returns the first error and its line in the chunk.
func (k *worker) check(c Chunk) (line int, err error) {
	k.parse(c)
	k.col.mem.Give(k.taken)
	return k.line, k.err
}

// CheckLines counts a chunk and checks it for errors. It returns the first error and its line in the chunk.
func CheckLines(f Format, opts dataset.Options, mem *memory.Account, c Chunk) (line int, err error) {
	f.Count(c)
	return (&documents{format: f, opts: opts, mem: mem}).checker().check(c)
}

// firstMistake returns the first syntax error of the text. err is the first error that the survey found, or
// nil. The survey skips features, so an earlier error may be in a feature.
func (s *documents) firstMistake(err error) error {
	width, e := s.settle()
	if e != nil {
		return e
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

// mistake returns the first error of a text. The results of counting have shown that there is one.
func (s *documents) mistake(width int) error {
	err := s.visit(s.checker, func(*worker, Chunk, int) error { return nil })
	switch {
	case err != nil:
		return err
	case s.seen.Docs == 0 || width == 0:
		return Locate(s.format.Empty(s.seen.Docs), s.name, 0)
	}
	return fmt.Errorf("%s: %w", s.name, dataset.ErrChanged)
}

// rounded returns the warnings of the last visit about features that float32 rounds or merges.
func (s *documents) rounded() []string {
	names := s.format.Names()
	return said(roundedWarning(s.name, names, s.collectors), CollapsedWarning(s.name, names, s.collectors...))
}

// survey collects the results of chunks, which are visited in order.
type survey struct {
	*documents
	tell func(runs []stream.Run) error

	kept, negative int
	docIDs         bool
	weights        Weights
	attributes     Attributes
}

// add adds the results of a chunk that k has parsed. before is the number of lines before the chunk.
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

// shape returns the description of all chunks.
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

// said returns the warnings that are not "".
func said(warnings ...string) (list []string) {
	for _, w := range warnings {
		if w != "" {
			list = append(list, w)
		}
	}
	return list
}

// NegativeWarning returns the warning about n negative grades, or "" if n is 0.
func NegativeWarning(name string, n int, policy dataset.Negative) string {
	switch {
	case n == 0:
		return ""
	case policy == dataset.NegativeDrop:
		return fmt.Sprintf("%s: %d documents with negative grades were left out", name, n)
	}
	return fmt.Sprintf("%s: %d negative grades were replaced by 0", name, n)
}

// allNegative returns the error for data whose documents are all dropped for their negative grades.
func allNegative(name string) error {
	return &dataset.SyntaxError{File: name, Found: "negative grades alone", Expected: "documents that are not to be dropped"}
}
