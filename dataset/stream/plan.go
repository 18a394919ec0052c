package stream

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/memory"
)

// A Plan gives the documents of some sources their places in the data set that they make together. It holds the
// ids of queries and the places of their documents, but no documents.
type Plan struct {
	Features     int
	FeatureNames []string // or nil

	IDs    []string // of the queries, in the order of the data set
	Counts []int    // their numbers of documents
	Docs   int      // of all of them

	KeepsDocIDs  bool      // documents have identifiers
	DocWeights   bool      // documents have weights, of which some are not 1
	QueryWeights []float64 // one a query, nil if all are 1

	AttributeNames []string   // of the queries, as the first source has them, or nil
	Attributes     [][]string // one list a query, or nil

	Reordered bool // the data set stores where its documents stood in the input
	Scattered bool // the documents of some query stand in several places

	files   []*Surveyed
	bytes   []int // of the identifiers of the queries' documents
	missing dataset.Missing
	ctx     context.Context
}

// File is a source and what it is called in messages.
type File struct {
	Source
	Name string
	Mem  *memory.Account
}

// Surveyed is a source that was surveyed.
type Surveyed struct {
	File

	shape   Shape
	ids     []string
	counts  []int
	bytes   []int
	runs    []run
	base    int // the queries of the files before
	docs    int
	missing int // values, of those visited
	absent  int // zeros for features that the input left out, likewise

	order   []string // of the data set's features, as OrderFeatures has them, or nil
	columns []int    // of the data set's features; nil where they are these in their order

	scattered int    // queries that stand in several places
	first     string // the first of them
}

// Queries returns the ids of the queries in their order. They must not be changed.
func (s *Surveyed) Queries() []string { return s.ids }

// Docs returns the number of documents.
func (s *Surveyed) Docs() int { return s.docs }

// run is a Run in few bytes.
type run struct{ query, docs uint32 }

// queryBytes is about the memory for a query without its id; runBytes is that of a run.
const (
	queryBytes = 160
	runBytes   = 8
)

// Join plans the data set that sources make, the queries of one file after those of the file before. As
// [dataset.Concat] does, it refuses a query in two sources and different names of features; their order may
// differ. Narrower sources get columns of zeros, unless their width is fixed. The context ends Each.
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

// Survey surveys a source. With refuse, a query with scattered documents is an error.
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

// ScatteredError is the error about a query with scattered documents. Run is the first visited run that is not
// the first of its query. A source that knows its line says so.
type ScatteredError struct {
	*dataset.SyntaxError

	Run int
}

// Unwrap returns the SyntaxError.
func (e *ScatteredError) Unwrap() error { return e.SyntaxError }

func scattered(run int, name, id string) error {
	found := fmt.Sprintf("more documents of query %q, which others stand between", id)
	return &ScatteredError{&dataset.SyntaxError{File: name, Found: found, Expected: "the documents of a query together"}, run}
}

// join puts the files one behind the other.
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
		p.Reordered = len(p.files) == 1 && (p.Scattered || s.shape.Reordered) // of several, no one order is the input's
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

// width returns the number of features of the source in a data set with the given number.
func (s *Surveyed) width(features int) int {
	if s.shape.Fixed {
		return s.shape.Features
	}
	return features
}

// NameFeatures sets the names of the features of a source without names.
func (s *Surveyed) NameFeatures(features []string) {
	if s.shape.FeatureNames == nil {
		s.shape.FeatureNames = features
	}
}

// OrderFeatures sets the order of the data set's features by name, if the source is the first with names. nil
// keeps the order of the source.
func (s *Surveyed) OrderFeatures(names []string) { s.order = names }

// FeatureNames returns the names of features that the source has, or nil. They must not be changed.
func (s *Surveyed) FeatureNames() []string { return s.shape.FeatureNames }

// Features returns the number of features.
func (s *Surveyed) Features() int { return s.shape.Features }

// names returns the names of the given number of features. Added features are named by their numbers.
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

// DocBytes returns the number of bytes of all identifiers of documents.
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

// Holes returns the numbers of missing values and of zeros for features that the input left out, known after Each.
func (p *Plan) Holes() (missing, absent int) {
	for _, s := range p.files {
		missing, absent = missing+s.missing, absent+s.absent
	}
	return missing, absent
}

// Warnings returns warnings about scattered queries and, after Each, about rounded and missing values.
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
