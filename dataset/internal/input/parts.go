package input

import (
	"fmt"
	"os"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/memory"
	"github.com/listwise/listwise/dataset/shards"
)

// WithParts is With for a file, or for a folder of parts that form one input.
func WithParts(path string, opts dataset.Options, look Look, use func(in *Input) error) (err error) {
	parts, err := shards.Parts(path)
	if err != nil {
		return err
	}
	if parts == nil {
		return With(path, opts, look, use)
	}
	in := &Input{Name: path, Mem: memory.New(path, opts)}
	defer func() {
		for _, part := range in.Parts {
			if changed := part.changed(); changed != nil {
				err = changed // which explains any other error
			}
			part.close()
		}
	}()
	for _, name := range parts {
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		part := &Input{R: f, Name: name, Mem: in.Mem, file: f}
		in.Parts = append(in.Parts, part)
		if part.info, err = f.Stat(); err != nil {
			return err
		}
		if !part.info.Mode().IsRegular() {
			return &dataset.SyntaxError{File: name, Found: "no regular file", Expected: "a part of a Parquet table"}
		}
		part.Size = part.info.Size()
		in.Size += part.Size
	}
	return use(in)
}

// Whole returns an error if the input is a folder of parts of a format that has none.
func (in *Input) Whole(format string) error {
	if in.Parts == nil {
		return nil
	}
	return &dataset.SyntaxError{File: in.Name, Found: fmt.Sprintf("a folder of parts in the format %s", format), Expected: "parts in the format parquet"}
}
