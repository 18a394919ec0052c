package rankjson

import "github.com/listwise/listwise/internal/decimal"

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
			v, end := short(b, p)
			if end == p || b[end] != ',' {
				return i, d.blanks(p)
			}
			row[i] = v
			p = end + 1
		}
		if b[p] == ' ' {
			p++
		}
	}
	return len(row), d.blanks(p)
}

// number reads a number of at most seven digits before the point, without exponent: nearly
// all there are. It returns p as next where there is another one or none.
func number(b []byte, p int) (v float32, next int) {
	if v, ok := decimal.Unit(decimal.Load8(b, p)); ok && endsValue[b[p+8]] {
		return v, p + 8
	}
	return short(b, p)
}

// short is decimal.Short for a number by the grammar of JSON and what ends it.
func short(b []byte, p int) (v float32, next int) {
	v, next = decimal.Short(b, p)
	if next == p || !endsValue[b[next]] || b[next-1] == '.' {
		return 0, p
	}
	first := p
	if b[p] == '-' {
		first++
	}
	if b[first] == '0' && b[first+1]-'0' <= 9 {
		return 0, p
	}
	return v, next
}

// longNumber reads any number of JSON: -?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?
// It returns p as next where there is none.
func (d *decoder) longNumber(p int) (v float32, next int) {
	b, at := d.b, p
	if b[at] == '-' {
		at++
	}
	whole := at
	if at = digits(b, at); at == whole || b[whole] == '0' && at > whole+1 {
		return 0, p
	}
	if b[at] == '.' {
		from := at + 1
		if at = digits(b, from); at == from {
			return 0, p
		}
	}
	if b[at] == 'e' || b[at] == 'E' {
		if at++; b[at] == '+' || b[at] == '-' {
			at++
		}
		from := at
		if at = digits(b, at); at == from {
			return 0, p
		}
	}
	if !endsValue[b[at]] {
		return 0, p
	}
	n, _ := decimal.Scan(b, p)
	return n.Float32(b[p:at]), at
}

// digits returns the place behind the digits at p.
func digits(b []byte, p int) int {
	for b[p]-'0' <= 9 {
		p++
	}
	return p
}
