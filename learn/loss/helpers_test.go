package loss

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/internal/testing/numtest"
)

var (
	near        = numtest.Near
	checkVector = numtest.CheckVector
	plainLSE    = numtest.LogSumExp
	timed       = numtest.Timed
	median      = numtest.Median
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

func additive(t testing.TB, name string) measure.Additive {
	t.Helper()
	a, ok := measure.MustParse(name, measure.LETOR3).(measure.Additive)
	if !ok {
		t.Fatalf("%s is not additive", name)
	}
	return a
}

func stream(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 17)) }
