// Package datafile opens, writes and divides files of judged queries of any format: it
// recognises formats by content when reading and by the file's name when writing, and
// leaves the rest to the package of the format.
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

// Open reads a file of judged documents: LETOR/svmlight text, a table, which package
// table describes, or TREC's judgements, all of them plain or compressed by gzip or zstandard, or the binary
// cache that package cache writes. Options name the format, or it is recognised by what the
// file begins with and, if that is text, by the end of its name. "-" is the standard input.
// A folder of shards, or its manifest, is read as the one data set that they are, see [Shard].
// A folder of Parquet parts, as Spark and others write them, is read as one table.
//
// A line of LETOR text is
//
//	GRADE qid:ID INDEX:VALUE INDEX:VALUE … # comment
//
// with a finite non-negative grade, any UTF-8 text without blanks, # and control
// characters as query id, and feature indices that start from 1 and ascend; features
// left out are 0. Options read features from 0 and in any order. Without qid:ID, a file
// of the same name with .query or .group behind it has the queries. A comment "docid = X …" names the document. Blank lines and lines that
// begin with # are skipped. Lines end in LF or CR LF. The documents of a query may stand
// in several places; they are put together, with a warning.
//
// Errors in the content are of type [*dataset.SyntaxError]; the first in the file is
// reported. The Dataset of a cache is a view of the file and must be closed;
// closing others does no harm.
//
// The text of a regular file is read twice, so that the matrix is allocated once,
// at its size; a pipe's is kept in memory meanwhile.
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

// Read is Open for a stream, whose bytes it keeps in memory until they are
// parsed; with Options.Stream, where there are many, in a temporary file. The name stands for the file's in errors.
func Read(r io.Reader, name string, opts dataset.Options) (d *dataset.Dataset, err error) {
	err = input.Stream(r, name, opts, beginning(opts), func(in *input.Input) error {
		d, err = open(in, opts)
		return err
	})
	return d, err
}

// readKept reads the queries that Options.Keep asks for, or those of Options.Unheld, without the features of others being in
// memory: they are dropped as they come.
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

// plan visits an input once, those queries that Options.Keep asks for, and makes use of the plan of a data set.
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

// errUnheld is why data that would fit into memory are put in a file.
var errUnheld = errors.New("there is too little memory to hold the features and what else is needed; raise the limit")

// spills reports whether reading that fails for want of memory is tried by way of a temporary file. What is kept
// of an input was, and a cache is one.
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
