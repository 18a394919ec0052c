package runs

import (
	"encoding/json"
	"math"
	"testing"
)

// Claim: a Number is written to JSON as encoding/json writes a float64, null where that
// cannot; SQL gives back every number with its bits, NULL as NaN, and nothing that is none.
func TestNumber(t *testing.T) {
	for _, v := range []float64{0, 1, -1.5, 1e-300, math.MaxFloat64, math.SmallestNonzeroFloat64, math.NaN(), math.Inf(1), math.Inf(-1)} {
		want, err := json.Marshal(v)
		if err != nil {
			want = []byte("null")
		}
		if got, err := json.Marshal(Number(v)); err != nil || string(got) != string(want) {
			t.Errorf("%v is %s in JSON, %v; want %s", v, got, err, want)
		}
		stored, err := Number(v).Value()
		if err != nil || (stored == nil) != math.IsNaN(v) {
			t.Errorf("%v is stored as %v, %v", v, stored, err)
		}
		got := Number(7)
		if err := got.Scan(stored); err != nil || !math.IsNaN(v) && float64(got) != v || math.IsNaN(v) != math.IsNaN(float64(got)) {
			t.Errorf("%v comes back as %v, %v", v, got, err)
		}
	}
	var n Number
	if err := n.Scan("1"); err == nil {
		t.Error("text was scanned as a number")
	}
	if err := n.Scan(int64(3)); err != nil || n != 3 {
		t.Errorf("3 is scanned as %v, %v", n, err)
	}
}
