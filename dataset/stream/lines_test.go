package stream

import (
	"bytes"
	"errors"
	"fmt"
	"testing"
)

func appendTest(text []byte, d *Doc) []byte {
	return fmt.Appendf(text, "%s %s %v %v %v %v %v\n", d.Query, d.ID, d.Grade, d.QueryWeight, d.Weight, d.Row, d.First)
}

// Claim: lines stand in the order of the documents, are those that one core would make, and hold
// nothing of what they were given.
func TestLinesInOrder(t *testing.T) {
	for _, width := range []int{0, 1, 7, 5000, linesValues + 1} {
		var got, want bytes.Buffer
		l := NewLines(&got, appendTest)
		row := make([]float32, width)
		docs := 3 + 10*linesValues/(width+40)
		for i := range docs {
			for j := range row {
				row[j] = float32(i*width + j)
			}
			d := Doc{fmt.Sprint("q", i/9), fmt.Sprint("d", i), float64(i), float64(i % 5), float64(i % 3), row, i == 0}
			want.Write(appendTest(nil, &d))
			d.First = false
			if err := l.Add(d); err != nil {
				t.Fatal(err)
			}
			clear(row)
		}
		if err := l.End(); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got.Bytes(), want.Bytes()) {
			t.Errorf("%d features: the lines of %d documents are others", width, docs)
		}
	}
}

// full takes so many bytes.
type full struct{ left int }

var errFull = errors.New("no more room")

func (f *full) Write(p []byte) (int, error) {
	if f.left -= len(p); f.left < 0 {
		return 0, errFull
	}
	return len(p), nil
}

// Claim: what cannot be written is an error, of a later document or else of the end, and nothing
// is written behind it.
func TestLinesThatCannotBeWritten(t *testing.T) {
	for _, room := range []int{0, 100, 1 << 20} {
		w := &full{room}
		l := NewLines(w, appendTest)
		var err error
		for i := 0; i < 100_000 && err == nil; i++ {
			err = l.Add(Doc{Query: "q", Row: make([]float32, 10)})
		}
		if again := l.End(); !errors.Is(err, errFull) || again != nil {
			t.Errorf("room for %d bytes: %v, and in the end %v", room, err, again)
		}
		at := w.left
		_ = l.Add(Doc{Query: "q"})
		_ = l.End()
		if w.left != at {
			t.Error("more is written")
		}
	}
	l := NewLines(&full{}, appendTest)
	if err := errors.Join(l.Add(Doc{Query: "q"}), l.End()); !errors.Is(err, errFull) {
		t.Errorf("one document: %v", err)
	}
}
