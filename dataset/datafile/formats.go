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
	// is recognises the format by the first headSize bytes of a file, or all if it has less.
	is func(head []byte) bool

	// read makes a Dataset of an input in this format.
	read func(in *input.Input, opts dataset.Options) (*dataset.Dataset, error)

	// look, if not nil, returns what is wrong with the first bytes of a stream.
	look func(first []byte, name string, opts dataset.Options) error

	// each, if not nil, visits the format's lines in order, which are documents as
	// in LETOR text; files of formats without are printed.
	each func(in *input.Input, opts dataset.Options, visit func(text []byte) error) error
}

// formats are the formats that files are compared with, in this order. The last is
// what any other file is taken for.
var formats = []format{
	{is: begins(cache.Magic), read: cache.Read},
	{is: begins(""), read: letor.Read, look: letor.FirstError, each: letor.EachText},
}

// begins returns what recognises a file by its first bytes.
func begins(magic string) func(head []byte) bool {
	return func(head []byte) bool { return bytes.HasPrefix(head, []byte(magic)) }
}

// headSize is the number of bytes by which formats are distinguished: no less than the
// longest magic.
const headSize = 8

// formatOf returns the format by a file's first bytes.
func formatOf(head []byte) *format {
	for i := range formats {
		if formats[i].is(head) {
			return &formats[i]
		}
	}
	panic("datafile: the last format is not every file's")
}

// recognise returns the format of an input.
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
