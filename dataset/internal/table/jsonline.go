package table

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/internal/strictjson"
)

// jsonLine walks over the members of lines. Most lines of a file have the same names in the
// same order, so that a name is compared with the one expected before it is looked up.
type jsonLine struct {
	strictjson.Scanner // of the line

	chunk []byte // the text that the line is in, for [strictjson.ShortNumber]

	// value reads the value of a column at p.
	value func(p, column int) (next int, err error)

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

// expectedName is the text of a name, its quotes, the colon and blanks behind that.
type expectedName struct {
	text   []byte
	column int
	inside bool
}

// allFeatures is the column number of the member that has all features.
const allFeatures = -1

func newJSONLine(fields []jsonField, value func(p, column int) (next int, err error)) *jsonLine {
	z := &jsonLine{Scanner: strictjson.Scanner{Line: true, Loose: true}, value: value, outer: make(map[string]int), inner: make(map[string]int)}
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

// line reads the line b[p:end], of which b[end] is the line feed.
func (z *jsonLine) line(b []byte, p, end int) error {
	z.Reset(b[:end])
	z.chunk, z.next = b, 0
	z.lines++
	if b[p] != '{' {
		return bad(z.Token(p), "an object, {…}, on every line")
	}
	p, err := z.members(p, false)
	if err != nil {
		return syntax(err)
	}
	if p = z.Blanks(p); p < end {
		return bad(z.Token(p)+" behind the object", "the end of the line")
	}
	return nil
}

// blanks returns the place of the first byte from p that is no blank within a line.
func blanks(b []byte, p int) int {
	for b[p] == ' ' || b[p] == '\t' || b[p] == '\r' {
		p++
	}
	return p
}

// skip reads a value of any kind at p.
func (z *jsonLine) skip(p int) (next int, err error) {
	if _, next = strictjson.ShortNumber(z.chunk, p); next > p {
		return next, nil
	}
	return z.Skip(p)
}

// syntax returns a fault of JSON as the error of a table.
func syntax(err error) error {
	if f, ok := errors.AsType[*strictjson.Fault](err); ok {
		return bad(f.Found, f.Expected)
	}
	return err
}

// members reads the object that begins at p.
func (z *jsonLine) members(p int, inside bool) (next int, err error) {
	b := z.Text
	if p = z.Blanks(p + 1); p < len(b) && b[p] == '}' {
		return p + 1, nil
	}
	for {
		column, at, err := z.name(p, inside)
		if err != nil {
			return p, err
		}
		if p = z.Blanks(at); column == allFeatures {
			p, err = z.all(p)
		} else {
			p, err = z.member(p, column)
		}
		if err != nil {
			return p, err
		}
		if p = z.Blanks(p); p == len(b) || b[p] != ',' {
			return z.End(p, '}', "the object")
		}
		p = z.Blanks(p + 1)
	}
}

// member reads the value of a column, which may stand only once in a line.
func (z *jsonLine) member(p, column int) (next int, err error) {
	if z.seen[column] == z.lines {
		return p, bad(fmt.Sprintf("%q twice", z.fields[column].name), "every name once in a line")
	}
	z.seen[column] = z.lines
	return z.value(p, column)
}

// name reads a name and its colon and returns the column.
func (z *jsonLine) name(p int, inside bool) (column, next int, err error) {
	if z.next < len(z.expect) {
		if e := &z.expect[z.next]; e.inside == inside && bytes.HasPrefix(z.Text[p:], e.text) {
			z.next++
			return e.column, p + len(e.text), nil
		}
	}
	name, at, err := z.Key(p)
	if err != nil {
		return 0, p, err
	}
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
		z.expect = append(z.expect, expectedName{bytes.Clone(z.Text[p:at]), column, inside})
		z.after[column] = len(z.expect)
	}
	z.next = z.after[column]
	return column, at, nil
}

// all reads the value of the member that holds all features.
func (z *jsonLine) all(p int) (next int, err error) {
	switch z.chunk[p] {
	case '{':
		return z.members(p, true)
	case '[':
		return z.List(p, "the features", func(i, at int) (int, error) {
			column, err := z.place(i)
			if err != nil {
				return at, err
			}
			z.longest = max(z.longest, i+1)
			return z.member(at, column)
		})
	}
	text, next, err := z.Scalar(p)
	if err == nil && text != nil {
		err = bad(z.Token(p)+" for the features", "an object or an array of them")
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
