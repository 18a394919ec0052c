package papers

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// A value's rank is the number of better ones and one more, and NaN has none.
func TestRanks(t *testing.T) {
	got := ranks([]float64{0.5, math.NaN(), 0.7, 0.5, 0.1})
	for i, want := range []int{2, 0, 1, 2, 4} {
		if got[i] != want {
			t.Errorf("rank %d of value %d, expected %d", got[i], i, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Float64Range(0, 1), 1, 9).Draw(t, "values")
		for i, r := range ranks(values) {
			if r < 1 || r > len(values) {
				t.Fatalf("rank %d of %d values", r, len(values))
			}
			for j, other := range ranks(values) {
				if (values[i] > values[j]) != (r < other) {
					t.Fatalf("%v has rank %d, %v has %d", values[i], r, values[j], other)
				}
			}
		}
	})
}

func TestMarked(t *testing.T) {
	for _, c := range []struct {
		value float64
		rank  int
		want  string
	}{{0.5, 1, "0.500***"}, {0.5, 3, "0.500*  "}, {0.5, 4, "0.500   "}, {math.NaN(), 0, ""}} {
		if got := marked(c.value, c.rank, 3); got != c.want {
			t.Errorf("marked(%v, %d) = %q, expected %q", c.value, c.rank, got, c.want)
		}
	}
}

func TestMeanAndDeviation(t *testing.T) {
	values := []float64{2, 4, 4, 4, 5, 5, 7, 9}
	if m, s := mean(values), sd(values); m != 5 || math.Abs(s-math.Sqrt(32.0/7)) > 1e-15 {
		t.Errorf("mean %v, sd %v", m, s)
	}
	if s := sd(values[:1]); !math.IsNaN(s) {
		t.Errorf("sd of one value is %v", s)
	}
}
