package ingest

import (
	"bytes"
	"sync/atomic"
	"testing"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/memory"
	"github.com/listwise/listwise/internal/decimal"
)

// gapped is a source of three chunks, of which a third worker visits the last while the first turns out to be
// too large, and a second worker then leaves out the one between.
type gapped struct{ Source }

func (gapped) Chunks() int { return 3 }

func (gapped) Each(stop *atomic.Int64, visit func(worker int, c Chunk)) {
	text := append([]byte("a line\nand one\n"), make([]byte, decimal.Padding)...)
	visit(0, Chunk{Text: text})
	if stop.Load() != 0 {
		panic("the first chunk is not too large")
	}
	visit(1, Chunk{Index: 2, Text: text, Err: dataset.ErrChanged})
}

// wide has a feature of index 1000 in every line.
type wide struct{ Format }

func (wide) Count(c Chunk) Size {
	n := bytes.Count(c.Text[:c.Lines()], []byte("\n"))
	return Size{Docs: n, Lines: n, Feature: 1000}
}

func (wide) Width(feature int) int { return feature }

func (wide) Limit() int { return 1000 }

// TestCutLeavesNoGap: what is counted of a text that looks too large is its beginning, without the chunks that
// some worker had before another knew, as what lies between them was not seen.
func TestCutLeavesNoGap(t *testing.T) {
	opts := dataset.Options{MaxBytes: 4000}
	r := &textReader{name: "f", opts: opts, format: wide{}, src: gapped{}, mem: memory.New("f", opts)}
	if err := r.count(); err != nil {
		t.Fatal(err)
	}
	if len(r.chunks) != 1 || r.seen.Docs != 2 || r.seen.Feature != 1000 || !r.cut || r.broken != nil || r.mem.Taken() != ChunkBytes {
		t.Errorf("%d chunks, %+v, cut: %v, broken: %v, %d bytes", len(r.chunks), r.seen, r.cut, r.broken, r.mem.Taken())
	}
}
