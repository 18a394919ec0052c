package rankjson

import (
	"bytes"
	"fmt"
	"math"
	"strconv"

	"github.com/listwise/listwise/internal/strictjson"
	"github.com/listwise/listwise/internal/suggest"
)

// features reads the features of a document into a new row of X.
func (d *decoder) features(r *Request, p int) (next int, err error) {
	switch d.b[p] {
	case '[':
		return d.list(d.row(r), p)
	case '{':
		return d.named(d.row(r), p)
	case '"':
		return d.textual(d.row(r), p)
	}
	return p, d.faultIn("features", p, d.Token(p), "a list of numbers, an object of them by name, or a text NAME=VALUE,NAME=VALUE")
}

// textual reads a text of features by name.
func (d *decoder) textual(row []float32, p int) (next int, err error) {
	if err := d.beginNamed(row, p); err != nil {
		return p, within(err, "features")
	}
	text, next, err := d.string(p)
	n := 0
	if err == nil {
		n, err = d.text(row, text, p)
	}
	if err != nil {
		return p, within(err, "features")
	}
	d.unnamed(row, n, p)
	return next, nil
}

// beginNamed prepares for a document whose features, at p, have names.
func (d *decoder) beginNamed(row []float32, p int) error {
	if d.schema.Unnamed != "" {
		e := d.fault(p, "features by name", "a list of them: "+d.schema.Unnamed)
		e.Kind = Unprocessable
		return e
	}
	d.docs++
	if len(d.seen) < len(row) {
		d.seen = append(d.seen, make([]uint32, len(row)-len(d.seen))...)
	}
	return nil
}

// repeated returns the error for a feature that a document has twice.
func (d *decoder) repeated(column, p int) error {
	return d.fault(p, "the feature "+suggest.Quote([]byte(d.schema.Name(column)))+" twice", "every feature once in a document")
}

// list reads a list of the values of all features, in their order.
func (d *decoder) list(row []float32, p int) (next int, err error) {
	b, start := d.b, p
	if p = d.Blanks(p + 1); b[p] == ']' {
		d.fewer(row, 0, start)
		return p + 1, nil
	}
	n, p := d.numbers(row, p)
	for i := n; i < len(row); i++ {
		v, end := number(b, p)
		if end == p {
			if v, end, err = d.value(p, i); err != nil {
				return p, within(err, "features", strconv.Itoa(i))
			}
		}
		row[i] = v
		switch p = d.Blanks(end); b[p] {
		case ']':
			d.fewer(row, i+1, start)
			return p + 1, nil
		case ',':
			p = d.Blanks(p + 1)
		default:
			return p, d.faultIn("features", p, d.Token(p), "a comma or the end of the list, ]")
		}
	}
	if _, end := number(b, p); end == p {
		if _, _, err := d.value(p, -1); err != nil {
			return p, within(err, "features", strconv.Itoa(len(row)))
		}
	}
	e := d.faultIn("features", p, fmt.Sprintf("more than %d features", len(row)), fmt.Sprintf("the model's %d", len(row)))
	e.Kind = Unprocessable
	return p, e
}

// fewer completes a row whose list at p had n values. It records an error unless n is the number of
// features.
func (d *decoder) fewer(row []float32, n, p int) {
	if n == len(row) {
		return
	}
	for i := n; i < len(row); i++ {
		row[i] = d.schema.Absent
	}
	d.lacks("features", p, counted(n), fmt.Sprintf(`the model's %d ("lenient": true fills up the last ones)`, len(row)))
}

func counted(n int) string {
	if n == 1 {
		return "1 feature"
	}
	return fmt.Sprintf("%d features", n)
}

// lacks records an error that a lenient request ignores.
func (d *decoder) lacks(member string, p int, found, expected string) {
	if d.lack == nil {
		d.lack = d.faultIn(member, p, found, expected)
		d.lack.Kind = Unprocessable
	}
}

// named reads an object of features by name.
func (d *decoder) named(row []float32, p int) (next int, err error) {
	if err := d.beginNamed(row, p); err != nil {
		return p, within(err, "features")
	}
	start, n := p, 0
	if p = d.Blanks(p + 1); d.b[p] == '}' {
		d.unnamed(row, 0, start)
		return p + 1, nil
	}
	for k := 0; ; k++ {
		column, at, err := d.name(k, p)
		if err != nil {
			return p, within(err, "features")
		}
		v, end := number(d.b, at)
		if end == at {
			if v, end, err = d.value(at, column); err != nil {
				name, _, _ := d.string(p)
				return at, within(err, "features", string(name))
			}
		}
		if column >= 0 {
			if d.seen[column] == d.docs {
				return p, within(d.repeated(column, p), "features", d.schema.Name(column))
			}
			d.seen[column] = d.docs
			row[column] = v
			n++
		}
		if p = end; d.b[p] != ',' {
			if p = d.Blanks(p); d.b[p] != ',' {
				break
			}
		}
		if p++; d.b[p] != '"' {
			p = d.Blanks(p)
		}
	}
	if d.b[p] != '}' {
		return p, d.faultIn("features", p, d.Token(p), "a comma or the end of the features, }")
	}
	d.unnamed(row, n, start)
	return p + 1, nil
}

// name reads the k-th feature name of a document, at p. It returns the column, or −1 if the model
// has no such feature. Most documents have the same names in the same order. So name first compares
// the text with the k-th name of the document before.
func (d *decoder) name(k, p int) (column, next int, err error) {
	if k < len(d.order) && d.order[k] >= 0 && d.schema.Names != nil {
		name := d.schema.Names[d.order[k]]
		if from, end := p+1, p+1+len(name); end+1 < len(d.Text) && d.b[p] == '"' && string(d.b[from:end]) == name && d.b[end] == '"' && d.b[end+1] == ':' {
			if next = end + 2; d.b[next] <= ' ' {
				next = d.Blanks(next)
			}
			return d.order[k], next, nil
		}
	}
	key, next, err := d.key(p)
	if err != nil {
		return -1, p, err
	}
	column, known := d.schema.Column(key)
	if !known {
		d.stranger(key, p)
		return -1, next, nil
	}
	for len(d.order) <= k {
		d.order = append(d.order, -1)
	}
	if d.order[k] = column; !bytes.HasPrefix(d.b[p+1:], key) { // the key has escapes
		d.order[k] = -1
	}
	return column, next, nil
}

// stranger records an error about a name that the model does not have.
func (d *decoder) stranger(name []byte, p int) {
	if d.lack != nil {
		return
	}
	expected := fmt.Sprintf("1 to %d: the model's features have no names", d.schema.Features)
	if d.schema.Names != nil {
		expected = "a name of the model's features" + suggest.Or(string(name), d.schema.Names, "")
	}
	d.lacks("features", p, "the feature "+suggest.Quote(name), expected+` ("lenient": true ignores unknown names)`)
	d.lack.Pointer += pointerTo(string(name))
}

// unnamed completes a row whose object at p had n values. It records an error unless n is the
// number of features.
func (d *decoder) unnamed(row []float32, n, p int) {
	if n == len(row) {
		return
	}
	what := "missing values"
	if d.schema.Absent == 0 {
		what = "0"
	}
	for i := range row {
		if d.seen[i] == d.docs {
			continue
		}
		row[i] = d.schema.Absent
		if d.lack == nil {
			d.lacks("features", p, "no feature "+suggest.Quote([]byte(d.schema.Name(i))), fmt.Sprintf(`all %d of the model ("lenient": true makes %s of the others)`, len(row), what))
		}
	}
}

// value reads a feature's value that [number] could not read: null, a number, or a text that is a
// category. column is −1 if the model has no such feature.
func (d *decoder) value(p, column int) (v float32, next int, err error) {
	b := d.b
	if b[p] == '"' && d.schema.Text != nil && column >= 0 {
		text, next, err := d.string(p)
		if err != nil {
			return 0, next, err
		}
		v, expected, ok := d.schema.Text(column, text)
		if ok {
			return v, next, nil
		}
		if expected != "" {
			e := d.fault(p, suggest.Quote(text), expected)
			e.Kind = Unprocessable
			return 0, p, e
		}
	}
	if b[p] == 'n' && b[p+1] == 'u' && b[p+2] == 'l' && b[p+3] == 'l' && strictjson.EndsValue(b[p+4]) {
		return float32(math.NaN()), p + 4, nil
	}
	v, next = d.longNumber(p)
	switch {
	case next == p:
		return 0, p, d.fault(p, d.Token(p), "a number, or null where it is missing")
	case math.IsInf(float64(v), 0):
		return 0, p, d.fault(p, d.Token(p), "a number within the range of float32, ±3.4e38")
	}
	return v, next, nil
}
