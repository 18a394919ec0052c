package letor

import (
	"bytes"
	"errors"
	"math"
	"sync/atomic"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/internal/ingest"
	"github.com/listwise/listwise/dataset/internal/input"
)

// EachText calls visit with the text of an input in order, some whole lines at a time.
func EachText(in *input.Input, opts dataset.Options, visit func(text []byte) error) error {
	opts.Workers = 1 // visits the chunks in order
	src, err := ingest.TextOf(in, opts, false)
	if err != nil {
		return err
	}
	var stop atomic.Int64
	stop.Store(math.MaxInt64)
	src.Each(&stop, func(_ int, c ingest.Chunk) {
		if err != nil {
			return
		}
		if err = visit(c.Text[:c.Lines()]); err == nil && c.Err != nil {
			err = ingest.Locate(c.Err, in.Name, 0)
		}
		if err != nil {
			stop.Store(0)
		}
	})
	return errors.Join(err, input.Context(opts).Err())
}

// QueryOf returns the query id of a valid line. ok is false if the line has no document.
func QueryOf(line []byte) (id []byte, ok bool) {
	p := skipBlanks(line, 0)
	if line[p] == '\n' || line[p] == '#' {
		return nil, false
	}
	if _, id, ok = bytes.Cut(line, []byte("qid:")); !ok {
		return nil, false
	}
	return id[:tokenEnd(id, 0)], true
}
