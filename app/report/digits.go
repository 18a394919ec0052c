package report

import (
	"math"
	"strconv"

	"github.com/listwise/listwise/internal/elementary"
)

// digits are the characters that numbers are packed in: printable, and none that
// JSON or HTML would escape.
const digits = "!#$%()*+,-./0123456789:;=?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[]^_`abcdefghijklmnopqrstuvwxyz{"

const radix = len(digits)

// top is the largest number of two digits.
const top = radix*radix - 1

// width returns the number of digits for numbers below n.
func width(n int) int {
	w := 1
	for most := radix; most < n; most *= radix {
		w++
	}
	return w
}

// packed appends a number from 0 to radix^width − 1.
func packed(to []byte, v, width int) []byte {
	for range width {
		to = append(to, '0')
	}
	for i := range width {
		to[len(to)-1-i] = digits[v%radix]
		v /= radix
	}
	if v != 0 {
		panic("report: a number does not fit its digits")
	}
	return to
}

// between appends v as the nearest of the two-digit fractions from low to high.
func between(to []byte, v, low, high float64) []byte {
	if !(high > low) {
		return packed(to, 0, 2)
	}
	// Halves do not overflow.
	at := float64((float64(v/2) - float64(low/2)) / (float64(high/2) - float64(low/2)) * float64(top))
	return packed(to, int(math.Round(max(0, min(float64(top), at)))), 2)
}

// unit is the step of a packed measure: values from 0 to 1 and, where a DCG is
// larger, beyond.
const unit = 1e-4

// measureDigits are the digits of a measure's value; the largest number stands for
// one that does not count.
const measureDigits = 3

// packedValues packs the values of a measure.
func packedValues(values []float64) string {
	none := radix*radix*radix - 1
	var b []byte
	for _, v := range values {
		n := none
		if !math.IsNaN(v) {
			n = int(min(math.Round(v/unit), float64(none-1)))
		}
		b = packed(b, n, measureDigits)
	}
	return string(b)
}

// rounded rounds to the given number of significant digits, which shortens the JSON.
func rounded(v float64, significant int) float64 {
	r, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', significant, 64), 64)
	if err != nil {
		return v // rounding up overflows
	}
	return r
}

// A feature's value takes valueDigits digits, the number of a document's values valueCountDigits.
const valueDigits, valueCountDigits = 4, 2

// packedValue appends a value to five significant digits: 0 stands for a missing one, 1 for 0.
func packedValue(to []byte, v float32) []byte {
	switch size := math.Abs(float64(v)); {
	case v != v:
		return packed(to, 0, valueDigits)
	case size == 0:
		return packed(to, 1, valueDigits)
	default:
		exponent := int(math.Floor(elementary.Log10(size)))
		mantissa := int(math.Round(size / elementary.Pow(10, float64(exponent-4))))
		if mantissa > 99_999 {
			mantissa, exponent = mantissa/10, exponent+1
		}
		mantissa = max(mantissa, 10_000)
		code := 2 * ((exponent+50)*90_000 + mantissa - 10_000)
		if v < 0 {
			code++
		}
		return packed(to, 2+code, valueDigits)
	}
}
