// Package synth generates data sets. [Shape] resembles the LETOR collections, for tests, demonstrations and
// benchmarks without the real data. [Cubic] generates the artificial data of the papers on RankNet and
// LambdaRank. [Square] generates the data of the paper on ListMLE.
//
// A [Shape] imitates one collection: its numbers of queries, documents and features, the distribution of its
// grades and its difficulty. Start reading at [Shape.Generate]. features.go has the model of documents and
// features. In all data of one shape, grades depend on features in the same way. So a model trained with one
// seed can be tested with another. The package must not depend on measures, losses or models.
package synth

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/internal/random"
	"github.com/listwise/listwise/internal/suggest"
)

// Options are the parameters of generated data. Start from the Defaults of a shape.
type Options struct {
	Queries  int // number of queries, at least 1
	Docs     int // average number of documents per query, at least 2
	Features int // number of features, at least 1

	// Relevant is the average number of relevant documents (grade 1 or more) per query. For the shape gov1 it
	// is the exact number. 1 ≤ Relevant < Docs.
	Relevant int

	// Noise is the standard deviation of the part of relevance that is independent of all features. Its unit
	// is the standard deviation of the part that depends on the documents' hidden properties. With 0, grades
	// are a function of these properties.
	Noise float64

	Seed uint64
}

// Shape is a kind of data set.
type Shape struct {
	Name     string
	About    string // the collection that it imitates
	Defaults Options

	docs   func(*rand.Rand) float64 // draws the number of a query's documents, in units of Options.Docs
	spread float64                  // standard deviation between queries of the log-odds of relevance; 0 for an exact number
	best   float64                  // share of grade 2 or more among relevant documents
	top    float64                  // share of grade 3 among documents of grade 2 or more
	copies float64                  // share of documents that copy another document of the query
}

// Shapes returns all shapes in a fixed order.
func Shapes() []Shape { return []Shape{gov1, gov10, ohsumed, mq2008, intranet} }

// Lookup returns the shape with the given name.
func Lookup(name string) (Shape, error) {
	var names []string
	for _, s := range Shapes() {
		if s.Name == name {
			return s, nil
		}
		names = append(names, s.Name)
	}
	expected := ", expected one of " + strings.Join(names, ", ")
	return Shape{}, fmt.Errorf("found %q%s", name, suggest.Or(name, names, expected))
}

func (o Options) check() error {
	switch {
	case o.Queries < 1:
		return fmt.Errorf("%d queries: expected 1 or more", o.Queries)
	case o.Docs < 2:
		return fmt.Errorf("%d documents a query: expected 2 or more", o.Docs)
	case o.Features < 1:
		return fmt.Errorf("%d features: expected 1 or more", o.Features)
	case o.Relevant < 1 || o.Relevant >= o.Docs:
		return fmt.Errorf("%d relevant of %d documents a query: expected 1 to %d", o.Relevant, o.Docs, o.Docs-1)
	case !(o.Noise >= 0 && o.Noise <= maxNoise):
		return fmt.Errorf("noise %v: expected 0 to %v", o.Noise, maxNoise)
	}
	return nil
}

const maxNoise = 1e6

// Generate returns a data set of the shape. Features are normalised per query to [0, 1] and have six decimals,
// as in LETOR's files. Query ids count from 1. Equal options give equal data (on one processor architecture).
// A query depends on its id, and on no other query. So with more queries, the first ones stay the same.
func (s Shape) Generate(o Options) (*dataset.Dataset, error) {
	q, err := s.Made(o)
	if err != nil {
		return nil, err
	}
	return q.dataset()
}

// Made returns the queries of Generate, which are made one at a time.
func (s Shape) Made(o Options) (*Queries, error) {
	if err := o.check(); err != nil {
		return nil, fmt.Errorf("shape %s: %w", s.Name, err)
	}
	columns := makeColumns(o.Features)
	odds := meanLogit(float64(o.Relevant)/float64(o.Docs), s.spread)
	begin := func(id string) (*rand.Rand, int) {
		rng := random.Stream(o.Seed, "synth "+s.Name, id)
		return rng, max(2, int(float64(s.docs(rng)*float64(o.Docs))+0.5))
	}
	return &Queries{
		Number: o.Queries, Features: o.Features, what: "shape " + s.Name,
		docs: func(id string) int {
			_, n := begin(id)
			return n
		},
		query: func(id string) ([]float64, []float32) {
			rng, n := begin(id)
			x, signal := documents(columns, n, s.copies, rng)
			return s.grade(signal, o, odds, rng), x
		},
	}, nil
}
