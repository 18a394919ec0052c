package decimal

import (
	"math"
	"math/big"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/listwise/listwise/dataset/datatest"
)

// checkNumber compares all of our ways to parse s with strconv's.
func checkNumber(t rapid.TB, s string) {
	t.Helper()
	b := append([]byte(s), "\n0123456789abcdefghijklmn"...)
	token := b[:len(s)]
	want32, err32 := strconv.ParseFloat(s, 32)
	want64, err64 := strconv.ParseFloat(s, 64)
	ours := !strings.ContainsFunc(s, func(r rune) bool { return !strings.ContainsRune("+-.0123456789eE", r) })
	valid := ours && (err64 == nil || isRange(err64))

	d, next := Scan(b, 0)
	if valid != (next == len(s) && next > 0) {
		t.Fatalf("%q: scanned %d of %d bytes; strconv says %v", s, next, len(s), err64)
	}
	if valid {
		if got := d.Float32(token); math.Float32bits(got) != math.Float32bits(float32(want32)) {
			t.Fatalf("%q is %v, want %v (%v)", s, got, float32(want32), err32)
		}
		if got := d.Float64(token); math.Float64bits(got) != math.Float64bits(want64) {
			t.Fatalf("%q is %v, want %v", s, got, want64)
		}
	}
	if v, next := Short(b, 0); next == len(s) && next > 0 {
		if !valid || math.Float32bits(v) != math.Float32bits(float32(want32)) {
			t.Fatalf("%q is %v as a short decimal, want %v (%v)", s, v, want32, err32)
		}
	}
	if v, ok := Unit(Load8(b, 0)); ok && len(s) == 8 {
		if !valid || math.Float32bits(v) != math.Float32bits(float32(want32)) {
			t.Fatalf("%q is %v as a unit decimal, want %v (%v)", s, v, want32, err32)
		}
	}
}

func isRange(err error) bool {
	return err != nil && strings.HasSuffix(err.Error(), strconv.ErrRange.Error())
}

var oddNumbers = []string{
	"", "+", "-", ".", "-.", "e", "1e", "1e+", "e1", ".e1", "1.e1", ".1e1", "0", "-0", "+0", "00", "0.", "-0.0", "0e999999999999", "1e999999999999", "1e-999999999999",
	"1.000000", "0.000001", "9.999999", "0.1234567", "12.345678", "0.12345678", "0.123456789", "1234567.1234567", "12345678.5", "-1.5", "+1.5", "--1", "1-", "1.2.3", "1 2", "1e99_9", "0x10", "1_0", "inf", "nan",
	"3.4028235e38", "3.4028235677973366e38", "3.4028236e38", "3.402823567797336616375393954e38", "1e38", "1e39", "-1e39",
	"1.17549435e-38", "1.1754943e-38", "1.4e-45", "7e-46", "7.006492321624085e-46", "7.006492321624086e-46", "1e-46",
	"16777215", "16777216", "16777217", "16777219", "33554434", "9007199254740993", "18446744073709551615", "18446744073709551616", "99999999999999999999",
	"0.00000000000000000000000000000000000000000000001", "100000000000000000000000000000000000000", "1797693134862315700000e287", "1.7976931348623159e308", "4.9e-324",
	"1e22", "1e23", "123456789012345678e-22", "1234567890123456789e-23", "0.0000000000000000000012345678901234567890123",
}

func TestNumbersLikeStrconv(t *testing.T) {
	for _, s := range oddNumbers {
		checkNumber(t, s)
	}
	rapid.Check(t, func(t *rapid.T) {
		checkNumber(t, datatest.DrawNumber(t))
		checkNumber(t, rapid.StringMatching(`[-+]?[0-9]{0,25}\.?[0-9]{0,25}([eE][-+]?[0-9]{1,3})?`).Draw(t, "s"))
	})
}

// Decimals near the middle between two float32 are where rounding to float64
// first and then to float32 goes wrong.
func TestNumbersNearMidpoints(t *testing.T) {
	rng := datatest.Rand()
	for range 20000 {
		lo := math.Float32frombits(rng.Uint32N(0x7f7fffff))
		if rng.IntN(2) == 0 {
			lo = float32(rng.IntN(1<<24)) / float32(int(1)<<rng.IntN(24))
		}
		hi := math.Nextafter32(lo, math.MaxFloat32)
		mid := (float64(lo) + float64(hi)) / 2 // exact
		checkNumber(t, strconv.FormatFloat(mid, 'g', -1, 64))
		checkNumber(t, strconv.FormatFloat(math.Nextafter(mid, 0), 'g', -1, 64))
		checkNumber(t, strconv.FormatFloat(math.Nextafter(mid, 1e300), 'g', -1, 64))
		checkNumber(t, strconv.FormatFloat(mid, 'f', 12, 64))
		exact := new(big.Float).SetFloat64(mid).Text('f', 160)
		checkNumber(t, exact)
		checkNumber(t, exact+"1")
		short := strings.TrimRight(exact, "0")
		checkNumber(t, short[:len(short)-1])
	}
}

// Decimals of a digit, a point and six digits are parsed in a way of their own.
func TestUnitDecimals(t *testing.T) {
	for m := 0; m < 1e7; m += 17 {
		digits := strconv.Itoa(1e7 + m)[1:]
		checkNumber(t, digits[:1]+"."+digits[1:])
	}
}

func FuzzNumber(f *testing.F) {
	for _, s := range oddNumbers {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if strings.ContainsAny(s, "\n") || len(s) > 1000 {
			return
		}
		checkNumber(t, s)
	})
}
