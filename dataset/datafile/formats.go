package datafile

import (
	"bytes"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/cache"
	"github.com/listwise/listwise/dataset/letor"
	"github.com/listwise/listwise/internal/input"
)

// format is a way in which a file holds judged queries.
type format struct {
	magic string // its first bytes

	// read makes a Dataset of an input in this format.
	read func(in *input.Input, opts dataset.Options) (*dataset.Dataset, error)

	// look, if not nil, tells what is wrong with the first bytes of a stream.
	look func(first []byte, name string, opts dataset.Options) error

	// each, if not nil, visits the format's lines in order, which are documents as
	// in LETOR text; files of formats without are printed.
	each func(in *input.Input, opts dataset.Options, visit func(text []byte) error) error
}

// formats are the formats that files are compared with, in this order. The last is
// what any other file is taken for.
var formats = []format{
	{magic: cache.Magic, read: cache.Read},
	{magic: "", read: letor.Read, look: letor.FirstError, each: letor.EachText},
}

// headSize is the number of bytes by which formats are told apart.
const headSize = 8

// formatOf tells the format from a file's first bytes.
func formatOf(head []byte) *format {
	for i := range formats {
		if bytes.HasPrefix(head, []byte(formats[i].magic)) {
			return &formats[i]
		}
	}
	panic("datafile: the last format has a magic")
}

// recognise tells the format of an input.
func recognise(in *input.Input) (*format, error) {
	head, err := in.Head(headSize)
	if err != nil {
		return nil, err
	}
	return formatOf(head), nil
}

// beginning returns what looks at the beginning of a stream before the rest is read.
func beginning(opts dataset.Options) input.Look {
	return func(first []byte, name string) error {
		if f := formatOf(first); f.look != nil {
			return f.look(first, name, opts)
		}
		return nil
	}
}
