// Package decimal parses decimal numbers from text faster than strconv. The results are correctly
// rounded, as strconv's are. Start reading at [Short] and [Scan].
package decimal

import (
	"encoding/binary"
	"math"
	"math/bits"
	"strconv"
)

// This package replaces strconv because parsing numbers takes most of the time of reading a file.
// Its grammar is narrower: [+-] digits [. digits] [e [+-] digits]. It has no hexadecimal numbers,
// underscores or names.

// Padding is the number of bytes that must be readable after any position from which a number is
// parsed. The functions load eight bytes at once.
const Padding = 16

// The characters '0' … '9' are 0x30 … 0x39. XOR with asciiZeros turns each of eight digit
// characters into its digit, and any other byte into a number above 9.
const asciiZeros = 0x3030303030303030

// Load8 returns the eight bytes b[p:p+8] as a little-endian number.
func Load8(b []byte, p int) uint64 { return binary.LittleEndian.Uint64(b[p : p+8]) }

// leadingDigits returns the number of bytes of x, from the lowest, before the first byte that is
// not a digit. The bytes of x are characters XORed with '0'. Adding 0x76 carries a byte above 9
// into its top bit. A carry out of a byte disturbs only higher bytes, which come after the first
// byte that is not a digit.
func leadingDigits(x uint64) int {
	return bits.TrailingZeros64((x+0x7676767676767676|x)&0x8080808080808080) >> 3
}

// eightDigits returns the number whose digits are the bytes of x, the first digit in the lowest
// byte. Three multiplications combine the digits into pairs, fours and the whole number.
func eightDigits(x uint64) uint64 {
	x = x * (10<<8 + 1) >> 8 & 0x00ff00ff00ff00ff
	x = x * (100<<16 + 1) >> 16 & 0x0000ffff0000ffff
	return x * (10000<<32 + 1) >> 32
}

// powersOf10 are the powers of ten that a float64 represents exactly.
var powersOf10 = [...]float64{
	1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
	1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
}

// Number is mantissa·10^exponent, negated if negative. If the number has more than 19 significant
// digits, the mantissa has the first 19. truncated is set if another digit is not 0.
type Number struct {
	mantissa  uint64
	exponent  int
	negative  bool
	truncated bool
}

// Scan reads a decimal number at b[p]. b must end with a byte that cannot be part of a number. Scan
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

// digits appends a run of digits to the mantissa. Each digit multiplies the number by 10^(1+step);
// step is 0 before the point and −1 after it. significant counts the digits in the mantissa.
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

// power reads the e of a number and its exponent. It reads nothing if no digits follow the e.
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

// approximate returns the number's magnitude with a relative error below 2^-51. The mantissa, the
// truncated digits and the product with the power each contribute one rounding. exact means that
// mantissa and power were exact, so the result is correctly rounded. ok is false if powersOf10
// lacks the power.
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

// Float32 returns the float32 nearest to the number, or an infinity if the number is too large.
// token is the number's text.
//
// Rounding the approximation to float32 is correct unless the midpoint of two float32 values is
// within its error. In that case strconv decides.
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

// nearMidpoint reports whether v is within four units in its last place of the midpoint of two
// normal float32 values. It also returns true outside their range, except for 0.
func nearMidpoint(v float64) bool {
	const half, reach = 1 << 28, 4 // of the 29 bits that float32 lacks
	if v < 0x1p-126 || v > math.MaxFloat32 {
		return v != 0
	}
	return math.Float64bits(v)&(2*half-1)-(half-reach) <= 2*reach
}

func (d Number) slow32(token []byte) float32 {
	v, _ := strconv.ParseFloat(string(token), 32) // an error means an infinity, which the caller detects
	return float32(v)
}

// Float64 returns the float64 nearest to the number, or an infinity if the number is too large.
// token is the number's text.
func (d Number) Float64(token []byte) float64 {
	v, exact, ok := d.approximate()
	if !ok || !exact {
		v, _ = strconv.ParseFloat(string(token), 64) // an error means an infinity, which the caller detects
		return v
	}
	if d.negative {
		v = -v
	}
	return v
}

// Short reads a number without exponent, of at most seven digits before the point and 18 in total.
// Nearly all numbers in files and requests are of this form. Short returns the position after the
// number, or p if the text has another form. A loop over digits would mispredict its end at every
// other number, so Short has no loop.
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

// scale has the powers of ten that shift a mantissa before Short adds the fraction.
var scale = [8]uint64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7}

// Unit reads the most common form of a normalised feature from the eight bytes w: a digit, a point
// and six digits. ok is false if w has another form.
//
// The seven digits are below 2²⁴, and 10⁶ is a float32, so one float32 division rounds correctly.
func Unit(w uint64) (v float32, ok bool) {
	x := w ^ 0x3030303030302e30
	if (x+0x7676767676767f76|x)&0x8080808080808080 != 0 {
		return 0, false
	}
	m := eightDigits(x&0xff<<8 | x&^0xffff)
	return float32(int32(m)) / 1e6, true
}
