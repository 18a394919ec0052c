package loss

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/listwise/listwise/measure"
)

func normals(rng *rand.Rand, n int, spread float64) []float64 {
	s := make([]float64, n)
	for i := range s {
		s[i] = spread * rng.NormFloat64()
	}
	return s
}

func wantError(t *testing.T, what string, err error, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if err == nil || !strings.Contains(err.Error(), p) {
			t.Errorf("%s: error %v does not say %q", what, err, p)
		}
	}
}

// near reports whether a and b agree to the tolerance, relative for large numbers.
func near(a, b, tolerance float64) bool {
	return math.Abs(a-b) <= tolerance*max(1, math.Abs(a), math.Abs(b))
}

func checkVector(t *testing.T, what string, got, want []float64, tolerance float64) {
	t.Helper()
	for i := range want {
		if !near(got[i], want[i], tolerance) {
			t.Fatalf("%s: element %d is %v, want %v\n%v\n%v", what, i, got[i], want[i], got, want)
		}
	}
}

func additive(t testing.TB, name string) measure.Additive {
	t.Helper()
	m, err := measure.Parse(name, measure.Convention{}, measure.Options{})
	if err != nil {
		t.Fatal(err)
	}
	a, ok := m.(measure.Additive)
	if !ok {
		t.Fatalf("%s is not additive", name)
	}
	return a
}

// timed returns f's time in nanoseconds, running it often enough for the clock.
func timed(f func()) float64 {
	const times = 8
	start := time.Now()
	for range times {
		f()
	}
	return float64(time.Since(start).Nanoseconds()) / times
}

func median(x []float64) float64 {
	slices.Sort(x)
	return x[len(x)/2]
}

func plainLSE(x []float64) float64 {
	top := math.Inf(-1)
	for _, v := range x {
		top = math.Max(top, v)
	}
	var sum float64
	for _, v := range x {
		sum += math.Exp(v - top)
	}
	return top + math.Log(sum)
}

func stream(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 17)) }
