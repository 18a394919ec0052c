// Package datafile opens, writes and divides files of judged queries of any format. When reading it recognises
// formats by content, when writing by the file's name. It leaves all else to the packages of the formats.
//
// Start reading at [Open]; formats.go has the list of formats.
package datafile

import (
	"errors"
	"io"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/internal/cache"
	"github.com/listwise/listwise/dataset/internal/input"
	"github.com/listwise/listwise/dataset/memory"
	"github.com/listwise/listwise/dataset/stream"
)

// Open reads a file of judged documents: LETOR or svmlight text, a table (see package table), or judgements of
// TREC, Quepid or the Rated Ranking Evaluator, plain or compressed by gzip or zstandard, or a binary cache. Options
// name the format. Otherwise the beginning of the file decides or, for text, the ending of its name. "-" is the standard input. A
// folder of shards, or its manifest, is read as one data set, see [Shard]. A folder of Parquet parts, as Spark
// and others write them, is read as one table.
//
// A line of LETOR text is
//
//	GRADE qid:ID INDEX:VALUE INDEX:VALUE … # comment
//
// with a finite non-negative grade, any UTF-8 text without blanks, # and control characters as query id, and
// feature indices that start from 1 and ascend; features left out are 0. Options read features from 0 and in any
// order. Without qid:ID, a file of the same name with .query or .group behind it has the queries. A comment
// "docid = X …" names the document. Blank lines and lines that begin with # are skipped. Lines end in LF or CR
// LF. The documents of a query may be scattered; they are put together, with a warning.
//
// Errors in the content are of type [*dataset.SyntaxError]; the first in the file is
// reported. The Dataset of a cache is a view of the file and must be closed;
// closing others does no harm.
//
// The text of a regular file is read twice, so that the matrix is allocated once, at its size. A pipe's text is
// kept in memory meanwhile.
func Open(path string, opts dataset.Options) (*dataset.Dataset, error) {
	if m, err := manifestOf(input.Context(opts), path); err != nil {
		return nil, err
	} else if m != nil {
		return openShards(m, path, opts)
	}
	var d *dataset.Dataset
	err := withFile(path, opts, beginning(opts), func(in *input.Input) (err error) {
		d, err = open(in, opts)
		return err
	})
	return d, err
}

// Read is Open for a stream, whose bytes it keeps in memory until they are parsed; with Options.Stream, where
// there are many, in a temporary file. Errors have the name in place of a file's.
func Read(r io.Reader, name string, opts dataset.Options) (d *dataset.Dataset, err error) {
	err = input.Stream(r, name, opts, beginning(opts), func(in *input.Input) error {
		d, err = open(in, opts)
		return err
	})
	return d, err
}

// readKept reads the queries of a sample, or with Options.Unheld all queries. The features of other queries are
// dropped as they are read.
func (f *format) readKept(in *input.Input, opts dataset.Options) (*dataset.Dataset, error) {
	switch {
	case opts.Keep == nil && (!opts.Unheld || !f.spills(opts)):
		return f.read(in, opts)
	case f.stream != nil:
		return f.collect(in, opts)
	}
	whole, err := f.read(in, opts)
	if err != nil {
		return nil, err
	}
	kept := whole.Filter(func(q *dataset.Query) bool { return opts.Keep(q.ID) })
	kept.Warnings = whole.Warnings
	err = errors.Join(dataset.CheckKept(len(kept.Queries), len(whole.Queries), kept.QueryWeights()), whole.Close())
	return kept, input.Named(in.Name, err)
}

// plan surveys an input and passes the plan of its data set to use.
func (f *format) plan(in *input.Input, opts dataset.Options, use func(p *stream.Plan) error) (err error) {
	src, err := f.stream(in, opts)
	if err != nil {
		return err
	}
	defer func() { err = input.Named(in.Name, errors.Join(err, src.Close())) }()
	if opts.Keep != nil {
		src = stream.Kept(src, opts.Keep)
	}
	s, err := stream.Survey(stream.File{Source: src, Name: in.Name, Mem: in.Mem}, false)
	if err != nil {
		return err
	}
	p, err := stream.Join(input.Context(opts), []*stream.Surveyed{s}, opts.Missing)
	if err != nil {
		return err
	}
	return use(p)
}

// collect reads an input by way of a plan.
func (f *format) collect(in *input.Input, opts dataset.Options) (d *dataset.Dataset, err error) {
	err = f.plan(in, opts, func(p *stream.Plan) error {
		d, err = collect(p, in.Mem, in.Name, opts)
		return err
	})
	return d, err
}

// collect makes a data set of a plan: in memory or, if it does not fit and may be streamed, by way of a
// temporary file.
func collect(p *stream.Plan, mem *memory.Account, name string, opts dataset.Options) (*dataset.Dataset, error) {
	if opts.Stream && opts.Unheld {
		return cache.Streamed(p, name, opts, errUnheld)
	}
	d, err := p.Collect(mem)
	if opts.Stream && errors.Is(err, dataset.ErrTooLarge) {
		return cache.Streamed(p, name, opts, err)
	}
	return d, err
}

// errUnheld is the reason why data that would fit into memory are put in a file.
var errUnheld = errors.New("there is too little memory to hold the features and what else is needed; raise the limit")

// spills reports whether data that do not fit into memory may be put in a temporary file. A sample has been
// tried that way already, and a cache is a file.
func (f *format) spills(opts dataset.Options) bool {
	return opts.Stream && opts.Keep == nil && f.stream != nil && f.magic != cache.Magic
}

func open(in *input.Input, opts dataset.Options) (*dataset.Dataset, error) {
	f, err := recognise(in, opts)
	if err != nil {
		return nil, err
	}
	d, err := f.readKept(in, opts)
	if f.spills(opts) && errors.Is(err, dataset.ErrTooLarge) {
		in.Afresh(opts)
		d, err = f.collect(in, opts)
	}
	if err == nil {
		d.IgnoreOthers, d.AbsentMissing = opts.IgnoreOthers, opts.AbsentMissing
	}
	return d, err
}
