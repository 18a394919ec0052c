package table

import (
	"bytes"
	"fmt"
	"strconv"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/internal/ingest"
	"github.com/listwise/listwise/internal/decimal"
)

// jsonLine walks over the members of lines. Most lines of a file have the same names in the
// same order, so that a name is compared with the one expected before it is looked up.
type jsonLine struct {
	jsonScanner

	// value reads what stands at p for a column.
	value func(b []byte, p, column int) (next int, err error)

	grows  bool        // names that are not known become columns; else they are errors
	fields []jsonField // the columns
	outer  map[string]int
	inner  map[string]int
	places []int // the columns of an array's features, -1 where not known

	expect []expectedName
	after  []int // of every column the place in expect behind its name
	next   int   // the place in expect of the next name

	seen    []int // the line in which a column was seen last
	lines   int   // counts the lines
	longest int   // the longest array of features
}

// expectedName is the text of a name, its quotes and the colon.
type expectedName struct {
	text   []byte
	column int
	inside bool
}

// allFeatures stands for the column of the member that holds all features.
const allFeatures = -1

func newJSONLine(fields []jsonField, value func(b []byte, p, column int) (next int, err error)) *jsonLine {
	z := &jsonLine{value: value, outer: make(map[string]int), inner: make(map[string]int)}
	for _, f := range fields {
		z.add(f)
	}
	return z
}

// add adds a column.
func (z *jsonLine) add(f jsonField) int {
	column := len(z.fields)
	z.fields = append(z.fields, f)
	z.seen, z.after = append(z.seen, 0), append(z.after, -1)
	z.names(f.inside)[f.name] = column
	return column
}

func (z *jsonLine) names(inside bool) map[string]int {
	if inside {
		return z.inner
	}
	return z.outer
}

// line reads the line that begins at p.
func (z *jsonLine) line(b []byte, p int) error {
	z.text, z.next = z.text[:0], 0
	z.lines++
	if b[p] != '{' {
		return bad(token(b, p), "an object, {…}, on every line")
	}
	p, err := z.members(b, p, false)
	if err != nil {
		return err
	}
	if p = blanks(b, p); b[p] != '\n' {
		return bad(token(b, p)+" behind the object", "the end of the line")
	}
	return nil
}

// members reads the object that begins at p.
func (z *jsonLine) members(b []byte, p int, inside bool) (next int, err error) {
	if p = blanks(b, p+1); b[p] == '}' {
		return p + 1, nil
	}
	for {
		column, at, err := z.name(b, p, inside)
		if err != nil {
			return p, err
		}
		if p = blanks(b, at); column == allFeatures {
			p, err = z.all(b, p)
		} else {
			p, err = z.member(b, p, column)
		}
		if err != nil {
			return p, err
		}
		if b[p] == ',' {
			p = blanks(b, p+1)
			continue
		}
		switch p = blanks(b, p); b[p] {
		case '}':
			return p + 1, nil
		case ',':
			p = blanks(b, p+1)
		default:
			return p, bad(token(b, p)+" behind a value", "a comma or the end of the object, }")
		}
	}
}

// member reads the value of a column, which may stand only once in a line.
func (z *jsonLine) member(b []byte, p, column int) (next int, err error) {
	if z.seen[column] == z.lines {
		return p, bad(fmt.Sprintf("%q twice", z.fields[column].name), "every name once in a line")
	}
	z.seen[column] = z.lines
	return z.value(b, p, column)
}

// name reads a name and its colon and returns the column.
func (z *jsonLine) name(b []byte, p int, inside bool) (column, next int, err error) {
	if z.next < len(z.expect) {
		if e := &z.expect[z.next]; e.inside == inside && bytes.HasPrefix(b[p:], e.text) {
			z.next++
			return e.column, p + len(e.text), nil
		}
	}
	name, at, err := z.string(b, p)
	if err != nil {
		return 0, p, err
	}
	if at = blanks(b, at); b[at] != ':' {
		return 0, p, bad(token(b, at)+" behind the name "+ingest.Quote(name), "a colon and a value")
	}
	at++
	if !inside && string(name) == featuresKey {
		return allFeatures, at, nil
	}
	column, known := z.names(inside)[string(name)]
	if !known {
		if !z.grows {
			return 0, p, dataset.ErrChanged
		}
		column = z.add(jsonField{string(name), inside})
	}
	if z.after[column] < 0 {
		z.expect = append(z.expect, expectedName{bytes.Clone(b[p:at]), column, inside})
		z.after[column] = len(z.expect)
	}
	z.next = z.after[column]
	return column, at, nil
}

// all reads the value of the member that holds all features.
func (z *jsonLine) all(b []byte, p int) (next int, err error) {
	switch b[p] {
	case '{':
		return z.members(b, p, true)
	case '[':
		return z.array(b, p, func(i, at int) (int, error) {
			column, err := z.place(i)
			if err != nil {
				return at, err
			}
			z.longest = max(z.longest, i+1)
			return z.member(b, at, column)
		})
	}
	text, next, err := z.scalar(b, p)
	if err == nil && text != nil {
		err = bad(token(b, p)+" for the features", "an object or an array of them")
	}
	return next, err
}

// place returns the column of a feature of an array.
func (z *jsonLine) place(i int) (column int, err error) {
	for len(z.places) <= i {
		name := strconv.Itoa(len(z.places) + 1)
		column, known := z.inner[name]
		if !known {
			if !z.grows {
				return 0, dataset.ErrChanged
			}
			column = z.add(jsonField{name, true})
		}
		z.places = append(z.places, column)
	}
	return z.places[i], nil
}

// shortNumber is decimal.Short for a number by the grammar of JSON and what ends it.
func shortNumber(b []byte, p int) (v float32, next int) {
	v, end := decimal.Short(b, p)
	if end == p || !endsValue[b[end]] || b[end-1] == '.' {
		return 0, p
	}
	first := p
	if b[p] == '-' {
		first++
	}
	if b[first] == '0' && b[first+1]-'0' <= 9 {
		return 0, p
	}
	return v, end
}
