package rankjson

import (
	"github.com/listwise/listwise/internal/decimal"
	"github.com/listwise/listwise/internal/strictjson"
)

// numbers reads the values of a list from p on. It stops at the first value that is not a short
// number followed by a comma. One blank may follow the comma. numbers returns how many values it
// read and the offset of the next value.
func (d *decoder) numbers(row []float32, p int) (n, next int) {
	b := d.b
	for i := range row {
		v, ok := decimal.Unit(decimal.Load8(b, p))
		if ok && b[p+8] == ',' {
			row[i] = v
			p += 9
		} else {
			v, end := strictjson.ShortNumber(b, p)
			if end == p || b[end] != ',' {
				return i, d.Blanks(p)
			}
			row[i] = v
			p = end + 1
		}
		if b[p] == ' ' {
			p++
		}
	}
	return len(row), d.Blanks(p)
}

// number reads a number without exponent, of at most seven digits before the point. Nearly all
// numbers in requests have this form. If there is another number or none at p, next is p.
func number(b []byte, p int) (v float32, next int) {
	if v, ok := decimal.Unit(decimal.Load8(b, p)); ok && strictjson.EndsValue(b[p+8]) {
		return v, p + 8
	}
	return strictjson.ShortNumber(b, p)
}

// longNumber reads any JSON number. If there is none at p, next is p.
func (d *decoder) longNumber(p int) (v float32, next int) {
	end := strictjson.NumberEnd(d.Text, p)
	if end < 0 || !strictjson.EndsValue(d.b[end]) {
		return 0, p
	}
	n, _ := decimal.Scan(d.b, p)
	return n.Float32(d.b[p:end]), end
}
