package letor

import (
	"bytes"
	"encoding/binary"
	"strconv"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/internal/ingest"
	"github.com/listwise/listwise/internal/decimal"
	"github.com/listwise/listwise/internal/suggest"
)

// parser parses chunks, one after the other.
type parser struct {
	*ingest.Collector

	format  *format
	limit   int
	exact   bool // limit is the number of features, not a precaution
	missing dataset.Missing

	first         int  // index of the first feature
	anyOrder      bool // indices need not ascend
	absentMissing bool // omitted features are missing
	checkOnly     bool // only look for errors; there are no columns, and rows for one chunk
	gradesOnly    bool // skip features
	surveying     bool // ignore names of features, which are not all counted yet

	expect   []expected // text before the value of each column in dense rows
	nMissing int        // number of missing values of the document

	// For indices in any order:
	row  int   // number of rows so far
	seen []int // for each feature, the last row that has it
}

// expected is the text " INDEX:" in at most eight bytes, for a comparison of words.
type expected struct {
	text, mask uint64
	length     int
}

// maxExpected limits the table of expected texts. It also keeps indices so short that a text has at most eight
// bytes.
const maxExpected = 4096

func newParser(c *ingest.Collector, f *format, checkOnly bool) *parser {
	z := &parser{
		Collector: c,
		format:    f,
		limit:     f.Limit(),
		exact:     f.opts.Features > 0 || f.named() > 0,
		missing:   f.opts.Missing,

		first:         f.first(),
		anyOrder:      f.opts.AnyOrder,
		absentMissing: f.opts.AbsentMissing,

		checkOnly:  checkOnly,
		gradesOnly: f.opts.GradesOnly,

		expect: make([]expected, min(c.Width, maxExpected)),
	}
	if z.StandIns() { // the fast path does not check for such numbers
		z.expect = nil
	}
	for k := range z.expect {
		var text [8]byte
		n := len(append(strconv.AppendInt(append(text[:0], ' '), int64(k+z.first), 10), ':'))
		z.expect[k] = expected{binary.LittleEndian.Uint64(text[:]), 1<<(8*uint(n)) - 1, n}
	}
	return z
}

// Chunk implements ingest.Parser.
func (z *parser) Chunk(c ingest.Chunk, before, most int) (docs, line int, err error) {
	line = before
	good := goodLines(c.Text[:c.Lines()])
	for p := 0; p < good; {
		line++
		p = skipBlanks(c.Text, p)
		switch c.Text[p] {
		case '\n':
			p++
			continue
		case '#':
			end := find(c.Text, p, '\n')
			if err := checkBase(c.Text[p:end], z.first); err != nil {
				return docs, line, err
			}
			if !z.surveying {
				if err := z.format.checkNames(c.Text[p:end]); err != nil {
					return docs, line, err
				}
			}
			p = end + 1
			continue
		}
		if docs == most {
			return docs, line, dataset.ErrChanged
		}
		if p, err = z.document(c.Text, p); err != nil {
			return docs, line, err
		}
		docs++
	}
	if good < c.Lines() {
		return docs, line + 1, loneReturn()
	}
	return docs, line, nil
}

// document parses the line that begins at p and returns the position of the next line.
func (z *parser) document(b []byte, p int) (next int, err error) {
	z.nMissing = 0
	if p, err = z.grade(b, p); err != nil {
		return p, err
	}
	if p, err = z.query(b, skipBlanks(b, p)); err != nil {
		return p, err
	}
	if z.gradesOnly {
		p = pastFeatures(b, p)
	} else if z.anyOrder {
		if p, err = z.unsorted(b, p, z.Row(z.Next())); err != nil {
			return p, err
		}
	} else if p, err = z.features(b, p, z.Row(z.Next())); err != nil {
		return p, err
	}
	if b[p] == '#' {
		if p, err = z.comment(b, p); err != nil {
			return p, err
		}
	}
	z.Done(z.nMissing)
	return p + 1, nil
}

// pastFeatures returns the position of the comment or the line feed after p.
func pastFeatures(b []byte, p int) int {
	end := find(b, p, '\n')
	if comment := bytes.IndexByte(b[p:end], '#'); comment >= 0 {
		return p + comment
	}
	return end
}

func (z *parser) grade(b []byte, p int) (next int, err error) {
	if c := b[p] - '0'; c <= 9 && b[p+1] == ' ' {
		z.Grade(float64(c))
		return p + 1, nil
	}
	d, next := decimal.Scan(b, p)
	number := next > p && delimiter[b[next]]
	if number && z.Grade(d.Float64(b[p:next])) {
		return next, nil
	}
	expected := "a grade, a finite non-negative number" + likeness(b[p:tokenEnd(b, p)])
	if number && b[p] == '-' {
		expected += ingest.NegativeHint
	}
	return p, &dataset.SyntaxError{Found: quoteToken(b, p), Expected: expected}
}

// query parses qid:ID and counts the document for its query.
func (z *parser) query(b []byte, p int) (next int, err error) {
	if uint32(decimal.Load8(b, p)) != 'q'|'i'<<8|'d'<<16|':'<<24 {
		return p, &dataset.SyntaxError{Found: quoteToken(b, p), Expected: "qid:ID" + groupsHint(b, p)}
	}
	start := p + len("qid:")
	end := tokenEnd(b, start)
	id := b[start:end]
	if b[end] == '#' { // ambiguous: a part of the id, or a comment with all features
		return p, &dataset.SyntaxError{Found: suggest.Quote(b[p : end+1]), Expected: "a query id without #, and a blank before a comment"}
	}
	return end, z.Query(id, checkQuery)
}

// groupsHint returns a hint about query files if a feature is at the position of the query, as in LightGBM's
// text.
func groupsHint(b []byte, p int) string {
	end := p
	for b[end]-'0' <= 9 {
		end++
	}
	if end == p || b[end] != ':' {
		return ""
	}
	return " (or a file of the same name with .query behind it, of the number of documents of each query)"
}

// checkQuery returns the error about an invalid query id, or nil.
func checkQuery(id []byte) error {
	expected := "qid:ID"
	if len(id) > 0 {
		fault := ingest.Identifier(id)
		if fault == "" {
			return nil
		}
		expected = "a query id " + fault
	}
	return &dataset.SyntaxError{Found: suggest.Quote(append([]byte("qid:"), id...)), Expected: expected}
}
