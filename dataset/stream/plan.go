package stream

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/memory"
)

// A Plan describes the data set that several sources make together. It determines the row of each
// document: in a data set, all documents of a query are adjacent. A Plan has the ids of queries and the
// positions of their documents, but no documents.
type Plan struct {
	Features     int
	FeatureNames []string // or nil

	IDs    []string // ids of the queries, in the order of the data set
	Counts []int    // number of documents of each query
	Docs   int      // number of documents in all

	KeepsDocIDs  bool      // documents have identifiers
	DocWeights   bool      // some documents have weights other than 1
	QueryWeights []float64 // one for each query; nil if all are 1

	AttributeNames []string   // attributes of the queries, as in the first source, or nil
	Attributes     [][]string // one list for each query, or nil

	Reordered bool // the data set stores the input position of each document
	Scattered bool // some query has documents that are not adjacent in the input

	files   []*Surveyed
	bytes   []int // for each query, the number of bytes of its documents' identifiers
	missing dataset.Missing
	ctx     context.Context
}

// File is a source and its name in messages.
type File struct {
	Source
	Name string
	Mem  *memory.Account
}

// Surveyed is a source with the results of its survey.
type Surveyed struct {
	File

	shape   Shape
	ids     []string
	counts  []int
	bytes   []int
	runs    []run
	base    int // number of queries in the files before
	docs    int
	missing int // number of missing values visited so far
	absent  int // number of zeros visited so far for features that the input omits

	order   []string // names of the data set's features, set by OrderFeatures, or nil
	columns []int    // column of each feature of the data set; nil if the order is the same

	scattered int    // number of queries whose documents are not adjacent
	first     string // id of the first such query
}

// Queries returns the ids of the queries in their order. They must not be changed.
func (s *Surveyed) Queries() []string { return s.ids }

// Docs returns the number of documents.
func (s *Surveyed) Docs() int { return s.docs }

// run is a compact form of Run. query is an index of Surveyed.ids.
type run struct{ query, docs uint32 }

// queryBytes is the approximate memory for a query without its id. runBytes is the memory for a run.
const (
	queryBytes = 160
	runBytes   = 8
)

// Join plans the data set that several sources make. Their queries are concatenated in the order of the
// files. As in [dataset.Concat], it is an error if a query is in two sources or if feature names differ. The
// order of features may differ. Sources with fewer features get columns of zeros, unless their Shape is
// Fixed. If the context is cancelled, Each returns its error.
func Join(ctx context.Context, files []*Surveyed, missing dataset.Missing) (*Plan, error) {
	p := &Plan{files: files, missing: missing, ctx: ctx}
	for _, s := range files {
		p.Features = max(p.Features, s.shape.Features)
	}
	if err := p.join(); err != nil {
		return nil, err
	}
	return p, nil
}

// Survey surveys a source. With refuse, a query whose documents are not adjacent is an error.
func Survey(f File, refuse bool) (*Surveyed, error) {
	s := &Surveyed{File: f}
	numbers := make(map[string]uint32)
	var split []bool
	shape, err := f.Survey(func(runs []Run) error {
		for i, r := range runs {
			q, known := numbers[r.ID]
			if !known {
				if err := f.Mem.Take(queryBytes+int64(len(r.ID)), "queries"); err != nil {
					return err
				}
				q = uint32(len(s.ids))
				numbers[r.ID] = q
				s.ids, s.counts, s.bytes, split = append(s.ids, r.ID), append(s.counts, 0), append(s.bytes, 0), append(split, false)
			}
			s.counts[q] += r.Docs
			s.bytes[q] += r.Bytes
			s.docs += r.Docs
			if n := len(s.runs); n > 0 && s.runs[n-1].query == q {
				s.runs[n-1].docs += uint32(r.Docs)
				continue
			}
			if known && refuse {
				return scattered(i, f.Name, r.ID)
			}
			if known && !split[q] {
				split[q] = true
				if s.scattered++; s.scattered == 1 {
					s.first = r.ID
				}
			}
			if err := f.Mem.Take(runBytes, "runs of documents of one query"); err != nil {
				return err
			}
			s.runs = append(s.runs, run{q, uint32(r.Docs)})
		}
		return nil
	})
	s.shape = shape
	return s, err
}

// ScatteredError is the error about a query whose documents are not adjacent. Run is the index, among the
// runs of the current visit, of the first run that is not the first of its query. A source that knows the
// line of this run sets it.
type ScatteredError struct {
	*dataset.SyntaxError

	Run int
}

// Unwrap returns the SyntaxError.
func (e *ScatteredError) Unwrap() error { return e.SyntaxError }

func scattered(run int, name, id string) error {
	found := fmt.Sprintf("more documents of query %q after those of another query", id)
	return &ScatteredError{&dataset.SyntaxError{File: name, Found: found, Expected: "the documents of a query together"}, run}
}

// join combines the descriptions of the files, in order.
func (p *Plan) join() error {
	from := make(map[string]int)
	weighted := slices.ContainsFunc(p.files, func(s *Surveyed) bool { return s.shape.QueryWeights != nil })
	for k, s := range p.files {
		s.base = len(p.IDs)
		p.IDs, p.Counts, p.bytes = append(p.IDs, s.ids...), append(p.Counts, s.counts...), append(p.bytes, s.bytes...)
		p.Docs += s.docs
		if own := s.shape.QueryWeights; own != nil {
			p.QueryWeights = append(p.QueryWeights, own...)
		} else if weighted {
			p.QueryWeights = append(p.QueryWeights, slices.Repeat([]float64{1}, len(s.ids))...)
		}
		if err := p.joinAttributes(k, s); err != nil {
			return err
		}
		p.KeepsDocIDs = p.KeepsDocIDs || s.shape.DocIDs
		p.DocWeights = p.DocWeights || s.shape.DocWeights
		p.Scattered = p.Scattered || s.scattered > 0
		p.Reordered = len(p.files) == 1 && (p.Scattered || s.shape.Reordered) // several files have no common input order
		if own, first := s.width(p.Features), p.files[0].width(p.Features); own != first {
			return fmt.Errorf("%s has %d features, expected the %d of %s", s.Name, own, first, p.files[0].Name)
		}
		names := s.names(p.Features)
		if p.FeatureNames == nil {
			p.FeatureNames = names
			if s.order != nil {
				p.FeatureNames = s.order
			}
		}
		var err error
		if s.columns, err = dataset.Reordering(p.FeatureNames, names); err != nil {
			return fmt.Errorf("%s: %w", s.Name, err)
		}
		if len(p.files) == 1 {
			break
		}
		for _, id := range s.ids {
			if other, ok := from[id]; ok {
				return fmt.Errorf("query %q is in %s and %s, expected every query in one", id, p.files[other].Name, s.Name)
			}
			from[id] = k
		}
	}
	return nil
}

// joinAttributes adds the attributes of a file's queries.
func (p *Plan) joinAttributes(k int, s *Surveyed) error {
	if k == 0 {
		p.AttributeNames = s.shape.AttributeNames
	} else if !slices.Equal(p.AttributeNames, s.shape.AttributeNames) {
		return fmt.Errorf("%s has the attributes %q, expected the %q of %s", s.Name, s.shape.AttributeNames, p.AttributeNames, p.files[0].Name)
	}
	p.Attributes = append(p.Attributes, s.shape.Attributes...)
	return nil
}

// width returns the number of features of the source in a data set with the given number of features. It is
// the source's own number if that is fixed.
func (s *Surveyed) width(features int) int {
	if s.shape.Fixed {
		return s.shape.Features
	}
	return features
}

// NameFeatures sets the feature names of a source that has none.
func (s *Surveyed) NameFeatures(features []string) {
	if s.shape.FeatureNames == nil {
		s.shape.FeatureNames = features
	}
}

// OrderFeatures sets the order of the data set's features by name. It has an effect if the source is the
// first one with feature names. nil keeps the order of the source.
func (s *Surveyed) OrderFeatures(names []string) { s.order = names }

// FeatureNames returns the feature names of the source, or nil. They must not be changed.
func (s *Surveyed) FeatureNames() []string { return s.shape.FeatureNames }

// Features returns the number of features.
func (s *Surveyed) Features() int { return s.shape.Features }

// names returns names for the given number of features, or nil if the source has no names. Added features
// are named by their numbers, from 1.
func (s *Surveyed) names(features int) []string {
	if s.shape.FeatureNames == nil {
		return nil
	}
	names := append(make([]string, 0, features), s.shape.FeatureNames[:min(features, len(s.shape.FeatureNames))]...)
	for j := len(names); j < features; j++ {
		names = append(names, strconv.Itoa(j+1))
	}
	return names
}

// DocBytes returns the total number of bytes of all document identifiers.
func (p *Plan) DocBytes() int {
	sum := 0
	for _, n := range p.bytes {
		sum += n
	}
	return sum
}

// Weighted reports whether any query or document has a weight other than 1.
func (p *Plan) Weighted() bool { return p.DocWeights || p.QueryWeights != nil }

// Missing returns the policy for missing values.
func (p *Plan) Missing() dataset.Missing { return p.missing }

// Holes returns the number of missing values, and the number of zeros for features that the input omits. It
// must be called after Each.
func (p *Plan) Holes() (missing, absent int) {
	for _, s := range p.files {
		missing, absent = missing+s.missing, absent+s.absent
	}
	return missing, absent
}

// Warnings returns the warnings of the sources and those about queries whose documents are not adjacent.
// After Each, it includes warnings about rounded and missing values.
func (p *Plan) Warnings() []string {
	var all []string
	for _, s := range p.files {
		all = append(all, s.shape.Warnings...)
		if s.shape.Later != nil {
			all = append(all, s.shape.Later()...)
		}
		if s.scattered > 0 {
			all = append(all, dataset.ScatteredWarning(s.Name, s.scattered, s.first))
		}
		if s.missing > 0 && (p.missing == dataset.MissingZero || p.missing == dataset.MissingMin) {
			all = append(all, dataset.MissingWarning(s.Name, s.missing, p.missing))
		}
	}
	return all
}
