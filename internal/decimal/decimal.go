// Package decimal parses decimal numbers from text faster than strconv, with strconv's
// results, correctly rounded. Start reading at [Short] and [Scan].
package decimal

import (
	"encoding/binary"
	"math"
	"math/bits"
	"strconv"
)

// Decimal numbers are parsed here rather than by strconv because reading a file
// is mostly that. The results are strconv's, correctly rounded; the grammar is
// narrower: [+-] digits [. digits] [e [+-] digits], no hexadecimals, underscores
// or names.

// Padding is the number of bytes that must be readable behind any position from
// which a number is parsed, so that eight digits can be loaded at once.
const Padding = 16

// The numerals '0' … '9' are 0x30 … 0x39: XORed with these, eight bytes of text
// become eight digits (and what is no digit becomes more than 9).
const asciiZeros = 0x3030303030303030

// Load8 returns the eight bytes from b[p] on, the first as the lowest.
func Load8(b []byte, p int) uint64 { return binary.LittleEndian.Uint64(b[p : p+8]) }

// leadingDigits returns how many of the eight bytes, from the lowest, are digits 0 … 9. Adding 0x76
// carries a byte above 9 into its top bit. A carry out of a byte only disturbs higher bytes, after the
// first that is no digit.
func leadingDigits(x uint64) int {
	return bits.TrailingZeros64((x+0x7676767676767676|x)&0x8080808080808080) >> 3
}

// eightDigits returns the number whose digits are the bytes of x, the lowest byte first. One
// multiplication each combines pairs, fours and all eight.
func eightDigits(x uint64) uint64 {
	x = x * (10<<8 + 1) >> 8 & 0x00ff00ff00ff00ff
	x = x * (100<<16 + 1) >> 16 & 0x0000ffff0000ffff
	return x * (10000<<32 + 1) >> 32
}

// powersOf10 are the powers of ten that a float64 holds exactly.
var powersOf10 = [...]float64{
	1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
	1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
}

// Number is mantissa·10^exponent, negated if negative. If more than 19 digits
// were significant, the mantissa holds the first 19 and truncated is set.
type Number struct {
	mantissa  uint64
	exponent  int
	negative  bool
	truncated bool
}

// Scan reads a decimal number from b[p:], which must end with a byte that cannot be part of a number. It
// returns the position after the number, or p if there is none.
func Scan(b []byte, p int) (d Number, next int) {
	i := p
	if b[i] == '+' || b[i] == '-' {
		d.negative = b[i] == '-'
		i++
	}
	digits := 0
	start := i
	i = d.digits(b, i, &digits, 0)
	count := i - start
	if b[i] == '.' {
		from := i + 1
		i = d.digits(b, from, &digits, -1)
		count += i - from
	}
	if count == 0 {
		return Number{}, p
	}
	if b[i] == 'e' || b[i] == 'E' {
		i = d.power(b, i)
	}
	return d, i
}

// digits appends a run of digits to the mantissa, each digit multiplying the
// number by 10^(1+step); significant counts the digits the mantissa holds.
func (d *Number) digits(b []byte, i int, significant *int, step int) int {
	for ; b[i]-'0' <= 9; i++ {
		switch c := uint64(b[i] - '0'); {
		case *significant == 0 && c == 0:
			d.exponent += step
		case *significant < 19:
			d.mantissa = d.mantissa*10 + c
			*significant++
			d.exponent += step
		default:
			d.truncated = d.truncated || c != 0
			d.exponent += step + 1
		}
	}
	return i
}

// power reads the e of a number and what follows, if digits do.
func (d *Number) power(b []byte, i int) int {
	p := i + 1
	negative := b[p] == '-'
	if negative || b[p] == '+' {
		p++
	}
	start, e := p, 0
	for ; b[p]-'0' <= 9; p++ {
		if e < 1<<20 {
			e = e*10 + int(b[p]-'0')
		}
	}
	if p == start {
		return i
	}
	if negative {
		e = -e
	}
	d.exponent += e
	return p
}

// approximate returns the number's magnitude with a relative error below 2^-51: a rounding each of the
// mantissa, the product with the power and the truncated digits. exact means that mantissa and power were
// exact, so that the result is correctly rounded. ok is false outside the range of powersOf10.
func (d Number) approximate() (value float64, exact, ok bool) {
	value = float64(d.mantissa)
	exact = d.mantissa < 1<<53 && !d.truncated
	switch {
	case d.mantissa == 0:
		return 0, true, true
	case d.exponent < -22 || d.exponent > 22:
		return 0, false, false
	case d.exponent < 0:
		return value / powersOf10[-d.exponent], exact, true
	}
	return value * powersOf10[d.exponent], exact, true
}

// Float32 returns the float32 nearest to the number, whose text is token;
// infinite if it is too large.
//
// Rounding the approximation to float32 gives the right value unless a midpoint
// between two float32 lies in reach of its error: then rounding twice could err,
// and strconv decides.
func (d Number) Float32(token []byte) float32 {
	v, _, ok := d.approximate()
	if !ok || nearMidpoint(v) {
		return d.slow32(token)
	}
	if d.negative {
		v = -v
	}
	return float32(v)
}

// nearMidpoint reports whether v lies within four units in its last place of the
// middle between two normal float32, or outside their range.
func nearMidpoint(v float64) bool {
	const half, reach = 1 << 28, 4 // of the 29 bits that float32 has not
	if v < 0x1p-126 || v > math.MaxFloat32 {
		return v != 0
	}
	return math.Float64bits(v)&(2*half-1)-(half-reach) <= 2*reach
}

func (d Number) slow32(token []byte) float32 {
	v, _ := strconv.ParseFloat(string(token), 32) // an error means infinity, which the caller sees
	return float32(v)
}

// Float64 returns the float64 nearest to the number, whose text is token;
// infinite if it is too large.
func (d Number) Float64(token []byte) float64 {
	v, exact, ok := d.approximate()
	if !ok || !exact {
		v, _ = strconv.ParseFloat(string(token), 64) // an error means infinity, which the caller sees
		return v
	}
	if d.negative {
		v = -v
	}
	return v
}

// Short reads a number of at most seven digits before the point and 18 altogether, without
// exponent: nearly all there are in files and requests. It returns the position
// behind it, or p if the number is of another kind. A loop over digits would
// mispredict its end at every other number; here are no loops.
func Short(b []byte, p int) (v float32, next int) {
	i := p
	sign := uint32(0)
	if b[i] == '-' {
		sign = 1 << 31
		i++
	}
	x := Load8(b, i) ^ asciiZeros
	n := leadingDigits(x)
	if n == 0 || n > 7 {
		return 0, p
	}
	m := eightDigits(x << (64 - 8*uint(n)))
	i += n
	places := 0
	if b[i] == '.' {
		whole := n
		i++
		x = Load8(b, i) ^ asciiZeros
		n = leadingDigits(x)
		if n == 8 {
			m = m*1e8 + eightDigits(x)
			places = 8
			i += 8
			x = Load8(b, i) ^ asciiZeros
			if n = leadingDigits(x); n == 8 {
				m = m*1e8 + eightDigits(x)
				places = 16
				i += 8
				x = Load8(b, i) ^ asciiZeros
				n = leadingDigits(x)
			}
			if whole+places+n > 18 {
				return 0, p
			}
		}
		if n > 0 {
			m = m*scale[n&7] + eightDigits(x<<(64-8*uint(n)))
		}
		places += n
		i += n
	}
	if b[i]|0x20 == 'e' {
		return 0, p
	}
	f := float64(int64(m)) / powersOf10[places]
	if nearMidpoint(f) {
		return 0, p
	}
	return math.Float32frombits(math.Float32bits(float32(f)) | sign), i
}

// scale are the powers of ten by which Short makes room for a fraction.
var scale = [8]uint64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7}

// Unit reads the commonest shape of a normalised feature, a digit, a point
// and six digits, from the eight bytes w. ok is false if w has another shape.
//
// The seven digits are fewer than 2²⁴ and 10⁶ is a float32, so that one float32
// division rounds correctly.
func Unit(w uint64) (v float32, ok bool) {
	x := w ^ 0x3030303030302e30
	if (x+0x7676767676767f76|x)&0x8080808080808080 != 0 {
		return 0, false
	}
	m := eightDigits(x&0xff<<8 | x&^0xffff)
	return float32(int32(m)) / 1e6, true
}
