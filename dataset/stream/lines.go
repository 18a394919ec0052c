package stream

import (
	"io"
	"strings"

	"github.com/listwise/listwise/internal/parallel"
)

// Doc is a document whose line is to be written.
type Doc struct {
	Query, ID           string
	Grade               float64
	QueryWeight, Weight float64
	Row                 []float32
	First               bool // no document was before
}

// Lines writes documents, one a line. The lines of many are made on all cores, and written in the
// order of the documents during calls of Add and End. It is used by one goroutine at a time.
type Lines struct {
	w     io.Writer
	line  func(text []byte, d *Doc) []byte
	ring  []lines // those that are made, and one that is filled
	at    int     // the one that is filled
	begun bool
	query string // of the document before
	err   error
	told  bool // Add returned err
}

// lines are some documents and their text.
type lines struct {
	docs []Doc
	x    []float32 // their rows, one behind the other
	ids  int       // bytes of their identifiers, and of those of their queries
	text []byte
	made chan struct{} // tells that the text is there; nil where it is not made
}

// linesValues is how many values of features are put into text at a time, or as many bytes of identifiers as they have.
const linesValues = 1 << 15

// NewLines returns a writer of lines, which line appends to a text. It is called concurrently.
func NewLines(w io.Writer, line func(text []byte, d *Doc) []byte) *Lines {
	return &Lines{w: w, line: line, ring: make([]lines, 2*parallel.Workers(0, 16))}
}

// Add writes a document, and keeps no part of it when it returns. An error may be about an earlier document.
func (l *Lines) Add(d Doc) error {
	if l.err == nil {
		l.add(d)
	}
	l.told = l.err != nil
	return l.err
}

// add takes in a document.
func (l *Lines) add(d Doc) {
	b := &l.ring[l.at]
	d.First, l.begun = !l.begun, true
	if d.Query != l.query { // a copy, as of a file that may be closed
		l.query = strings.Clone(d.Query)
	}
	d.Query, d.ID = l.query, strings.Clone(d.ID)
	b.x = append(b.x, d.Row...)
	b.docs = append(b.docs, d)
	b.ids += len(d.Query) + len(d.ID)
	if 4*len(b.x)+b.ids >= 4*linesValues || len(b.docs) >= linesValues/8 {
		l.next()
	}
}

// next has the lines made of the documents at hand, and writes those in whose place others come.
func (l *Lines) next() {
	b := &l.ring[l.at]
	b.made = make(chan struct{})
	go b.make(l.line)
	l.at = (l.at + 1) % len(l.ring)
	l.write(&l.ring[l.at])
}

// make makes the text.
func (b *lines) make(line func(text []byte, d *Doc) []byte) {
	defer close(b.made)
	at := 0
	for i := range b.docs {
		d := &b.docs[i]
		to := at + len(d.Row)
		d.Row, at = b.x[at:to:to], to
		b.text = line(b.text, d)
	}
}

// write writes the lines, once they are made, and empties their place.
func (l *Lines) write(b *lines) {
	if b.made == nil {
		return
	}
	<-b.made
	if l.err == nil {
		_, l.err = l.w.Write(b.text)
	}
	clear(b.docs) // their identifiers are not needed any more
	b.docs, b.x, b.ids, b.text, b.made = b.docs[:0], b.x[:0], 0, b.text[:0], nil
}

// End writes the remaining lines. An error that Add returned is not returned again.
func (l *Lines) End() error {
	if len(l.ring[l.at].docs) > 0 {
		l.next()
	}
	for k := range l.ring {
		l.write(&l.ring[(l.at+k)%len(l.ring)])
	}
	if l.told {
		return nil
	}
	return l.err
}
