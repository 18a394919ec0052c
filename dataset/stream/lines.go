package stream

import (
	"io"
	"strings"

	"github.com/listwise/listwise/internal/parallel"
)

// Doc is a document that is written as a line.
type Doc struct {
	Query, ID           string
	Grade               float64
	QueryWeight, Weight float64
	Row                 []float32
	First               bool // it is the first document
}

// Lines writes one line for each document. Several goroutines format the lines. Add and End write them in
// the order of the documents. A Lines must not be used by several goroutines at once.
type Lines struct {
	w     io.Writer
	line  func(text []byte, d *Doc) []byte
	ring  []lines // batches that are formatted or wait to be written, and the one that Add fills
	at    int     // index of the batch that Add fills
	begun bool
	query string // query id of the last document
	err   error
	told  bool // Add has returned err
}

// lines is a batch of documents and their text.
type lines struct {
	docs []Doc
	x    []float32 // features of all documents, row-major
	ids  int       // number of bytes of the document and query ids
	text []byte
	made chan struct{} // closed when text is complete; nil before formatting begins
}

// linesValues is the number of feature values in a batch. Identifiers count by their size: 4 bytes are as
// much as one value.
const linesValues = 1 << 15

// NewLines returns a writer of lines to w. line appends the line of a document to text; it is called
// concurrently.
func NewLines(w io.Writer, line func(text []byte, d *Doc) []byte) *Lines {
	return &Lines{w: w, line: line, ring: make([]lines, 2*parallel.Workers(0, 16))}
}

// Add writes the line of a document, perhaps during a later call. It does not retain d.Row and the strings
// of d. An error may be about an earlier document.
func (l *Lines) Add(d Doc) error {
	if l.err == nil {
		l.add(d)
	}
	l.told = l.err != nil
	return l.err
}

// add copies a document to the current batch.
func (l *Lines) add(d Doc) {
	b := &l.ring[l.at]
	d.First, l.begun = !l.begun, true
	if d.Query != l.query { // copied, because the string may be a view of a file
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

// next starts to format the current batch. It writes the oldest batch and makes it the current one.
func (l *Lines) next() {
	b := &l.ring[l.at]
	b.made = make(chan struct{})
	go b.make(l.line)
	l.at = (l.at + 1) % len(l.ring)
	l.write(&l.ring[l.at])
}

// make formats the text of the batch.
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

// write waits until a batch is formatted, writes it and empties it.
func (l *Lines) write(b *lines) {
	if b.made == nil {
		return
	}
	<-b.made
	if l.err == nil {
		_, l.err = l.w.Write(b.text)
	}
	clear(b.docs) // releases their identifiers
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
