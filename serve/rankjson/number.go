package rankjson

import (
	"github.com/listwise/listwise/internal/decimal"
	"github.com/listwise/listwise/internal/strictjson"
)

// numbers reads the values of a list from p on while they are short numbers with a comma
// behind, and at most one blank behind that. It returns how many it read and where the next
// value begins.
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

// number reads a number of at most seven digits before the point, without exponent: nearly
// all there are. It returns p as next where there is another one or none.
func number(b []byte, p int) (v float32, next int) {
	if v, ok := decimal.Unit(decimal.Load8(b, p)); ok && strictjson.EndsValue(b[p+8]) {
		return v, p + 8
	}
	return strictjson.ShortNumber(b, p)
}

// longNumber reads any number of JSON. It returns p as next where there is none.
func (d *decoder) longNumber(p int) (v float32, next int) {
	end := strictjson.NumberEnd(d.Text, p)
	if end < 0 || !strictjson.EndsValue(d.b[end]) {
		return 0, p
	}
	n, _ := decimal.Scan(d.b, p)
	return n.Float32(d.b[p:end]), end
}
