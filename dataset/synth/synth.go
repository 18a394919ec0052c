// Package synth generates data sets. [Shape] resembles the LETOR collections, for tests, demonstrations and
// benchmarks without the real data. [Cubic] makes the artificial data of the papers on RankNet and LambdaRank,
// [Square] the data of the paper on ListMLE.
//
// A [Shape] imitates one collection: its numbers of queries, documents and features, the distribution of its
// grades and its difficulty. Start reading at [Shape.Generate]; features.go has the model of documents and
// features. All data of one shape have the same relation of features and grades. So a model trained with one
// seed can be tested with another. The package must not know of measures, losses or models.
package synth

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/internal/random"
	"github.com/listwise/listwise/internal/suggest"
)

// Options say how much to generate. Start from a shape's Defaults.
type Options struct {
	Queries  int // number of queries, at least 1
	Docs     int // documents a query on average, at least 2
	Features int // number of features, at least 1

	// Relevant is the number of relevant documents a query (grade 1 or more),
	// on average; for the shape gov1 it is exact. 1 ≤ Relevant < Docs.
	Relevant int

	// Noise is the standard deviation of the part of relevance that is independent of all features. Its unit is
	// the standard deviation of the other part. 0 makes grades a function of the documents' hidden properties.
	Noise float64

	Seed uint64
}

// Shape is a kind of data set.
type Shape struct {
	Name     string
	About    string // what it imitates, in a few words
	Defaults Options

	docs   func(*rand.Rand) float64 // documents of a query in units of Options.Docs
	spread float64                  // standard deviation between queries of the log-odds of relevance; 0: the number is exact
	best   float64                  // the share of grade 2 or more among relevant documents
	top    float64                  // the share of grade 3 among those
	copies float64                  // the share of documents that look like another one of the query
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

// Generate returns a data set of the shape. Features are normalised per query to
// [0, 1] and have six decimals, as in LETOR's files; query ids count from 1.
// Equal options give equal data (on one processor architecture). A query depends
// on its id, and on no other query: asking for more queries adds to the same ones.
func (s Shape) Generate(o Options) (*dataset.Dataset, error) {
	q, err := s.Made(o)
	if err != nil {
		return nil, err
	}
	return q.dataset()
}

// Made returns the queries that Generate makes.
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
