// Package datafile opens, writes and divides files of judged queries of any format. It recognises the format
// of an input by its content, and selects the format of an output by the file's name. The packages of the
// formats do the reading and writing.
//
// Start reading at [Open]. formats.go has the list of formats.
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

// Open reads a file of judged documents. The file is LETOR or svmlight text, a table (see package table) or
// TREC judgements, plain or compressed by gzip or zstandard, or it is a binary cache. opts.Input may name the
// format. Otherwise Open recognises binary formats by their first bytes, and text by the ending of the name or
// by its content. "-" is the standard input. A folder of shards, or its manifest, is read as one data set, see
// [Shard]. A folder of Parquet parts, such as Spark writes, is read as one table.
//
// A line of LETOR text is
//
//	GRADE qid:ID INDEX:VALUE INDEX:VALUE … # comment
//
// The grade is finite and not negative. The query id is UTF-8 text without blanks, # and control characters.
// Feature indices start from 1 and ascend. Omitted features are 0. Options allow indices from 0 and in any
// order. If lines lack qid:ID, the queries are in a file of the same name with .query or .group appended. A
// comment "docid = X …" has the identifier of the document. Blank lines and lines that begin with # are
// skipped. Lines end in LF or CR LF. If the documents of a query are scattered, Open puts them together and
// adds a warning.
//
// Errors in the content are of type [*dataset.SyntaxError]. The error is the first one in the file. The data
// set may be a view of a file, so the caller must close it.
//
// The text of a regular file is read twice: first to find the size of the matrix, then to parse it. The text
// of a pipe is kept in memory for this.
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

// Read does the work of Open for a stream. It keeps the bytes in memory until they are parsed. With
// Options.Stream, it copies a long stream to a temporary file instead. name replaces the name of a file in
// errors.
func Read(r io.Reader, name string, opts dataset.Options) (d *dataset.Dataset, err error) {
	err = input.Stream(r, name, opts, beginning(opts), func(in *input.Input) error {
		d, err = open(in, opts)
		return err
	})
	return d, err
}

// readKept reads the queries that opts.Keep selects, or all queries if it is nil. It discards the features of
// other queries while it reads. With Options.Unheld it may stream the data.
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

// collect reads an input by its plan.
func (f *format) collect(in *input.Input, opts dataset.Options) (d *dataset.Dataset, err error) {
	err = f.plan(in, opts, func(p *stream.Plan) error {
		d, err = collect(p, in.Mem, in.Name, opts)
		return err
	})
	return d, err
}

// collect returns the data set of a plan. The data set is in memory if it fits. Otherwise, with
// Options.Stream, it is streamed from a temporary file.
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

// errUnheld is the reason for a temporary file although the data may fit in memory. Errors about the file
// include it.
var errUnheld = errors.New("there is too little memory to hold the features and what else is needed; raise the limit")

// spills reports whether open may put data in a temporary file if they do not fit in memory. It returns false
// for a sample, for which readKept does this, and for a cache, which is already a file.
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
