package report

import (
	"encoding/json"
	"html/template"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func unpackedInt(s string) int {
	v := 0
	for _, c := range s {
		v = v*radix + strings.IndexRune(digits, c)
	}
	return v
}

// Claim: packed numbers read back, in the width that is enough for their bound.
func TestPacked(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, radix*radix*radix).Draw(t, "n")
		v := rapid.IntRange(0, n-1).Draw(t, "v")
		w := width(n)
		if s := string(packed(nil, v, w)); len(s) != w || unpackedInt(s) != v {
			t.Fatalf("%d of %d is %q", v, n, s)
		}
		if w > 1 && n <= int(math.Pow(float64(radix), float64(w-1))) {
			t.Fatalf("%d digits for %d, want fewer", w, n)
		}
	})
	defer func() {
		if recover() == nil {
			t.Error("a number too large for its digits is packed")
		}
	}()
	packed(nil, radix, 1)
}

// Claim: fractions are off by half a step at most, order is kept, and the extremes of
// float64 do no harm.
func TestBetween(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		low := rapid.Float64Range(-math.MaxFloat64, math.MaxFloat64).Draw(t, "low")
		high := rapid.Float64Range(low, math.MaxFloat64).Draw(t, "high")
		v := rapid.Float64Range(low, high).Draw(t, "v")
		at := float64(unpackedInt(string(between(nil, v, low, high)))) / float64(top)
		if got := low*(1-at) + high*at; math.Abs(got/2-v/2) > (high/2-low/2)*(0.51/float64(top))+1e-300 {
			t.Fatalf("%v of %v … %v reads back as %v", v, low, high, got)
		}
	})
}

// Claim: no digit takes more than a byte in JSON within HTML, and none twice.
func TestDigitsNeedNoEscape(t *testing.T) {
	text, err := json.Marshal(digits)
	if err != nil || len(text) != len(digits)+2 || template.HTMLEscapeString(digits) != digits {
		t.Errorf("%s, %v", text, err)
	}
	for i, c := range digits {
		if strings.IndexRune(digits, c) != i {
			t.Errorf("%q stands twice", c)
		}
	}
	if !strings.Contains(script(), "const digits = '"+digits+"'") {
		t.Error("the script has other digits")
	}
}

// Claim: measures are packed to the nearest unit, and NaN stays distinct from all of them.
func TestPackedValues(t *testing.T) {
	s := packedValues([]float64{0, 1, 0.12344, math.NaN(), 1e9})
	none := radix*radix*radix - 1
	for i, want := range []int{0, 10000, 1234, none, none - 1} {
		if got := unpackedInt(s[3*i : 3*i+3]); got != want {
			t.Errorf("value %d is %d, want %d", i, got, want)
		}
	}
}
