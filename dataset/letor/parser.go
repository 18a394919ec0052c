package letor

import (
	"encoding/binary"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/internal/block"
	"github.com/listwise/listwise/internal/input"
)

// blocks are the arrays that the parsers of all chunks fill, each its own rows.
type blocks struct {
	width  int
	x      []float32 // zero where nothing was written yet
	grades []float64
	docEnd []uint32 // ends of document ids, counted from the chunk's first
}

// allocate makes the arrays for a number of documents.
func (b *blocks) allocate(docs int) {
	b.x, b.grades, b.docEnd = block.New(docs*b.width), make([]float64, docs), make([]uint32, docs)
}

// parser parses chunks, one after the other.
type parser struct {
	*blocks
	limit     int
	exact     bool // limit is the number of columns, not a precaution
	missing   dataset.Missing
	checkOnly bool // look for errors; there are no columns, and rows of one chunk
	mem       *input.Memory

	expect []expected        // what stands before a column's value in dense rows
	ids    map[string]uint32 // numbers of the query ids seen, in names
	names  []string

	// Of the current chunk:
	runs     []run
	last     string // the query id of the document before, empty at the start
	docText  []byte
	nMissing int
	newNames int64 // bytes of query ids seen first here, as memory counts them
}

// expected is the text " INDEX:" in at most eight bytes, to be compared at once.
type expected struct {
	text, mask uint64
	length     int
}

// maxExpected bounds the table of expected texts, and keeps indices below the
// six digits that fit.
const maxExpected = 4096

func newParser(b *blocks, opts dataset.Options, limit int, checkOnly bool, mem *input.Memory) *parser {
	if checkOnly {
		b = new(blocks)
	}
	z := &parser{
		blocks:    b,
		limit:     limit,
		exact:     opts.Features > 0,
		missing:   opts.Missing,
		checkOnly: checkOnly,
		mem:       mem,
		expect:    make([]expected, min(b.width, maxExpected)),
		ids:       make(map[string]uint32),
	}
	for k := range z.expect {
		var text [8]byte
		n := len(append(strconv.AppendInt(append(text[:0], ' '), int64(k+1), 10), ':'))
		z.expect[k] = expected{binary.LittleEndian.Uint64(text[:]), 1<<(8*uint(n)) - 1, n}
	}
	return z
}

// chunk parses a chunk into its rows and notes in info what goes elsewhere. An
// error comes with its line.
func (z *parser) chunk(c chunk, info *chunkInfo) (line int, err error) {
	z.runs, z.docText, z.nMissing, z.last = z.runs[:0], z.docText[:0], 0, ""
	z.newNames = 0
	row, line := info.row, info.line
	if z.checkOnly {
		z.grades = slices.Grow(z.grades[:0], info.docs)[:info.docs]
		z.docEnd = slices.Grow(z.docEnd[:0], info.docs)[:info.docs]
		row = 0
	}
	end := row + info.docs
	good := goodLines(c.text[:c.lines()])
	for p := 0; p < good; {
		line++
		p = skipBlanks(c.text, p)
		switch c.text[p] {
		case '\n':
			p++
			continue
		case '#':
			p = find(c.text, p, '\n') + 1
			continue
		}
		if row == end {
			return line, dataset.ErrChanged
		}
		if p, err = z.document(c.text, p, row); err != nil {
			return line, err
		}
		row++
	}
	if good < c.lines() {
		return line + 1, loneReturn()
	}
	if row != end || line != info.line+info.lines {
		return line, dataset.ErrChanged
	}
	if err := z.mem.Take(z.newNames+8*int64(len(z.runs))+int64(len(z.docText)), "query and document ids"); err != nil {
		return line, err
	}
	info.runs, info.docText, info.missing = slices.Clone(z.runs), slices.Clone(z.docText), z.nMissing
	return line, nil
}

// document parses the line that begins at p and returns the beginning of the
// next.
func (z *parser) document(b []byte, p, row int) (next int, err error) {
	if z.grades[row], p, err = grade(b, p); err != nil {
		return p, err
	}
	if p, err = z.query(b, skipBlanks(b, p)); err != nil {
		return p, err
	}
	if p, err = z.features(b, p, z.x[row*z.width:(row+1)*z.width]); err != nil {
		return p, err
	}
	if b[p] == '#' {
		if p, err = z.comment(b, p); err != nil {
			return p, err
		}
	}
	if len(z.docText) > 0 {
		z.docEnd[row] = uint32(len(z.docText))
	}
	return p + 1, nil
}

func grade(b []byte, p int) (v float64, next int, err error) {
	if c := b[p] - '0'; c <= 9 && b[p+1] == ' ' {
		return float64(c), p + 1, nil
	}
	d, next := scanDecimal(b, p)
	if next > p && delimiter[b[next]] {
		v = d.float64(b[p:next])
		if v >= 0 && v <= math.MaxFloat64 {
			return v + 0, next, nil // without the sign of -0
		}
	}
	return 0, p, &dataset.SyntaxError{Found: quoteToken(b, p), Expected: "a grade, a finite non-negative number" + likeness(b[p:tokenEnd(b, p)])}
}

// query parses qid:ID and counts the document for its query.
func (z *parser) query(b []byte, p int) (next int, err error) {
	if uint32(load8(b, p)) != 'q'|'i'<<8|'d'<<16|':'<<24 {
		return p, &dataset.SyntaxError{Found: quoteToken(b, p), Expected: "qid:ID"}
	}
	start := p + len("qid:")
	end := tokenEnd(b, start)
	id := b[start:end]
	if b[end] == '#' { // is it part of the id, or do all features belong to a comment?
		return p, &dataset.SyntaxError{Found: quote(b[p : end+1]), Expected: "a query id without #, and a blank before a comment"}
	}
	if string(id) == z.last && z.last != "" {
		z.runs[len(z.runs)-1].docs++
		return end, nil
	}
	if len(id) == 0 {
		return p, &dataset.SyntaxError{Found: quoteToken(b, p), Expected: "qid:ID"}
	}
	number, known := z.ids[string(id)]
	if !known {
		if !utf8.Valid(id) {
			return p, &dataset.SyntaxError{Found: quoteToken(b, p), Expected: "a query id in UTF-8"}
		}
		if hasControl(id) {
			return p, &dataset.SyntaxError{Found: quoteToken(b, p), Expected: "a query id without control characters"}
		}
		number = uint32(len(z.names))
		z.newNames += input.KnownBytes + int64(len(id))
		z.names = append(z.names, string(id))
		z.ids[z.names[number]] = number
	}
	z.last = z.names[number]
	z.runs = append(z.runs, run{number, 1})
	return end, nil
}
