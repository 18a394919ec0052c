package table

import (
	"bytes"
	"errors"

	"github.com/listwise/listwise/dataset"
)

// splitter finds the cells of rows.
type splitter struct {
	delimiter byte
	lines     int    // line feeds in the cell found last
	text      []byte // cells whose quotes were resolved
}

// reset makes room for the cells of another row.
func (s *splitter) reset() { s.text = s.text[:0] }

// cell returns the text of the cell that begins at p, without blanks around it and quotes. end is the place of
// the delimiter or line feed after it. b ends with a line feed.
func (s *splitter) cell(b []byte, p int) (cell []byte, end int, err error) {
	s.lines = 0
	if b[p] == '"' {
		return s.quoted(b, p)
	}
	end = p
	for b[end] != s.delimiter && b[end] != '\n' {
		if b[end] == '"' {
			return nil, p, bad("a quote within a cell that does not begin with one", `the whole cell in quotes, and quotes in it twice`)
		}
		end++
	}
	to := end
	if b[end] == '\n' && to > p && b[to-1] == '\r' {
		to--
	}
	if to > p && (isBlank(b[p]) || isBlank(b[to-1])) {
		return bytes.Trim(b[p:to], " \t"), end, nil
	}
	return b[p:to], end, nil
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' }

// quoted is cell for one that begins with a quote.
func (s *splitter) quoted(b []byte, p int) (cell []byte, end int, err error) {
	from, twice := p+1, false
	for end = from; ; end += 2 {
		n := bytes.IndexByte(b[end:], '"')
		if n < 0 {
			return nil, p, bad("a quote without its end", `another quote, and quotes within cells twice`)
		}
		if end += n; end+1 >= len(b) || b[end+1] != '"' {
			break
		}
		twice = true
	}
	cell = b[from:end]
	s.lines = bytes.Count(cell, []byte("\n"))
	if end++; end < len(b) && b[end] == '\r' && end+1 < len(b) && b[end+1] == '\n' {
		end++
	}
	if end >= len(b) || b[end] != s.delimiter && b[end] != '\n' {
		return nil, p, bad("text behind a quoted cell", "the next cell, or the end of the line (quotes within cells stand twice)")
	}
	if !twice {
		return cell, end, nil
	}
	at := len(s.text)
	s.text = append(s.text, bytes.ReplaceAll(cell, []byte(`""`), []byte(`"`))...)
	return s.text[at:], end, nil
}

// inColumn adds the column to what was found.
func inColumn(err error, name string) error {
	if syntax, ok := errors.AsType[*dataset.SyntaxError](err); ok {
		syntax.Found += " in column " + name
	}
	return err
}
