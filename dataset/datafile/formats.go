package datafile

import (
	"bytes"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/compress"
	"github.com/listwise/listwise/dataset/internal/cache"
	"github.com/listwise/listwise/dataset/internal/input"
	"github.com/listwise/listwise/dataset/internal/judgements"
	"github.com/listwise/listwise/dataset/internal/letor"
	"github.com/listwise/listwise/dataset/internal/parquet"
	"github.com/listwise/listwise/dataset/internal/table"
	"github.com/listwise/listwise/dataset/stream"
	"github.com/listwise/listwise/dataset/trec"
)

// format is a file format for judged queries.
type format struct {
	// name is the value of Options.Input.
	name string

	// magic are the bytes at the beginning of every file in the format, and of no other file; "" for text.
	magic string

	// endings are the endings of file names in the format. The magic of a format has precedence. Endings of
	// compression may follow.
	endings []string

	// looks reports whether the beginning of a file is in this text format. It is called if the name of the file
	// does not determine the format.
	looks func(head []byte, opts dataset.Options) bool

	// read reads an input in this format.
	read func(in *input.Input, opts dataset.Options) (*dataset.Dataset, error)

	// stream, if not nil, opens an input in this format as a source of documents. It can then be converted
	// without all features in memory. Without stream, read is used.
	stream func(in *input.Input, opts dataset.Options) (stream.Source, error)

	// write, if not nil, returns a writer of documents in this format.
	write func(w io.Writer, c stream.Contents) (stream.Writer, error)

	// look, if not nil, returns the first syntax error in the first bytes of a stream, or nil.
	look func(first []byte, name string, opts dataset.Options) error

	// each, if not nil, calls visit with the lines of a file in order. It is for formats with one document per
	// line, such as LETOR text. Files in other formats are first converted to text.
	each func(in *input.Input, opts dataset.Options, visit func(text []byte) error) error
}

// formats are the formats in the order in which they are tried. The last is the default.
var formats = []format{
	{name: "lwd", magic: cache.Magic, read: cache.Read, stream: cache.Stream},
	{name: "qrels", endings: []string{".qrels"}, looks: looksJudged, read: judgements.Read},
	{name: "csv", endings: []string{".csv"}, looks: table.LooksLike(','), read: readTable(','), stream: streamTable(','), write: table.NewCSVWriter(',')},
	{name: "tsv", endings: []string{".tsv", ".tab"}, looks: table.LooksLike('\t'), read: readTable('\t'), stream: streamTable('\t'), write: table.NewCSVWriter('\t')},
	{name: "jsonl", endings: []string{".jsonl", ".ndjson"}, looks: table.LooksLikeJSON, read: table.ReadJSON, stream: table.StreamJSON, write: table.NewJSONWriter},
	{name: "parquet", magic: parquet.Magic, endings: []string{".parquet"}, read: parquet.Read, stream: parquet.Stream, write: parquet.NewWriter},
	{name: "letor", read: letor.Read, stream: letor.Stream, look: letor.FirstError, each: letor.EachText},
}

// Formats returns the names of all formats, as Options.Input takes them.
func Formats() []string {
	var names []string
	for _, f := range formats {
		names = append(names, f.name)
	}
	return names
}

// Endings returns the endings of names of data files, compressed ones included.
func Endings() []string {
	endings := []string{".lwd", ".txt", ".txt.gz", ".txt.zst"}
	for _, f := range formats {
		for _, e := range f.endings {
			if endings = append(endings, e); f.magic == "" {
				endings = append(endings, e+".gz", e+".zst")
			}
		}
	}
	return endings
}

// looksJudged reports whether a file begins as a judgement list does, of TREC or another kind.
func looksJudged(head []byte, opts dataset.Options) bool {
	return trec.IsQrels(head) || looksRated(head, opts)
}

// looksRated reports whether a file begins as a judgement list that is not TREC's does. With options about columns and
// features it is a table: a rating may be a feature.
func looksRated(head []byte, opts dataset.Options) bool {
	t := opts.Table
	table := t.Query != "" || t.Grade != "" || t.Doc != "" || t.Features != nil || opts.FeatureNames != nil
	return !table && judgements.Looks(head)
}

// readTable returns a function that reads tables with the delimiter.
func readTable(delimiter byte) func(in *input.Input, opts dataset.Options) (*dataset.Dataset, error) {
	return func(in *input.Input, opts dataset.Options) (*dataset.Dataset, error) {
		return table.ReadCSV(in, opts, delimiter)
	}
}

// streamTable returns a function that opens tables with the delimiter as a source of documents.
func streamTable(delimiter byte) func(in *input.Input, opts dataset.Options) (stream.Source, error) {
	return func(in *input.Input, opts dataset.Options) (stream.Source, error) {
		return table.StreamCSV(in, opts, delimiter)
	}
}

// headSize is the number of bytes from which the format is determined. It is enough for the line with
// the column names of a table.
const headSize = 1 << 12

// magicSize is the length of the longest magic.
const magicSize = 8

// formatOf returns the format that opts.Input names. If that is empty, the name of the file and the beginning of
// its content determine the format. Judgements are recognised before the name is looked at, because such
// files end in .csv or .tsv, as tables do.
func formatOf(head []byte, name string, opts dataset.Options) (*format, error) {
	if opts.Input != "" {
		if f := byFormat(opts.Input); f != nil {
			return f, nil
		}
		return nil, fmt.Errorf("found the format %q, expected %s", opts.Input, strings.Join(Formats(), ", "))
	}
	if f := byMagic(head); f != nil {
		return f, nil
	}
	if f := byName(name); f != nil && (trec.HasHeader(head) || looksRated(head, opts)) {
		return byFormat("qrels"), nil
	} else if f != nil {
		return f, nil
	}
	for i := range formats {
		if f := &formats[i]; f.looks != nil && f.looks(head, opts) {
			return f, nil
		}
	}
	return &formats[len(formats)-1], nil
}

// byMagic returns the format by the beginning of a file, nil for text.
func byMagic(head []byte) *format {
	for i := range formats {
		if f := &formats[i]; f.magic != "" && bytes.HasPrefix(head, []byte(f.magic)) {
			return f
		}
	}
	return nil
}

// byFormat returns the format of a name, or nil.
func byFormat(name string) *format {
	if i := slices.IndexFunc(formats, func(f format) bool { return f.name == name }); i >= 0 {
		return &formats[i]
	}
	return nil
}

// byName returns the format by the ending of a file's name, or nil.
func byName(name string) *format {
	name = strings.ToLower(name)
	if kind := compress.ByName(name); kind != compress.Plain {
		name = strings.TrimSuffix(name, path.Ext(name))
	}
	for i := range formats {
		if slices.Contains(formats[i].endings, path.Ext(name)) {
			return &formats[i]
		}
	}
	return nil
}

// recognise returns the format of an input.
func recognise(in *input.Input, opts dataset.Options) (*format, error) {
	head, err := in.Head(headSize)
	if err != nil {
		return nil, err
	}
	if kind := compress.Detect(head, in.Name); kind != compress.Plain && in.Parts == nil {
		head = beginningOf(in, kind)
	}
	f, err := formatOf(head, in.Name, opts)
	if err == nil && f.magic != parquet.Magic {
		err = in.Whole(f.name)
	}
	if err == nil && len(opts.MissingValues) > 0 && f.magic != "" && f.magic != parquet.Magic {
		return nil, &dataset.SyntaxError{File: in.Name, Found: "data of the format " + f.name, Expected: "text or a table, whose numbers --missing-value makes missing"}
	}
	return f, err
}

// beginningOf returns the first headSize bytes of compressed text, or fewer if the data are damaged.
func beginningOf(in *input.Input, kind compress.Encoding) []byte {
	z, err := compress.Reader(io.NewSectionReader(in.R, 0, in.Size), kind, in.Mem.Limit())
	if err != nil {
		return nil
	}
	defer z.Close() //nolint:errcheck // only read
	head := make([]byte, headSize)
	n, _ := io.ReadFull(z, head) // an error here occurs again when the file is read
	return head[:n]
}

// beginning returns a function that checks the beginning of a stream before the other bytes are read.
func beginning(opts dataset.Options) input.Look {
	return func(first []byte, name string) error {
		if f, err := formatOf(first, name, opts); err != nil {
			return err
		} else if f.look != nil {
			return f.look(first, name, opts)
		}
		return nil
	}
}
