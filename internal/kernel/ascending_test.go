package kernel

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// Keys are in the order of their numbers, infinities and subnormal numbers included, and lead
// back to them.
func TestAscendingKeys(t *testing.T) {
	numbers := rapid.OneOf(rapid.Float32(), rapid.SampledFrom([]float32{0, float32(math.Copysign(0, -1)), 1e-45, -1e-45, float32(math.Inf(1)), float32(math.Inf(-1))}))
	rapid.Check(t, func(t *rapid.T) {
		a, b := numbers.Draw(t, "a"), numbers.Draw(t, "b")
		if a != a || b != b {
			t.Skip("NaN")
		}
		if (a < b) != (AscendingKey(a) < AscendingKey(b)) || (a == b) != (AscendingKey(a) == AscendingKey(b)) {
			t.Fatalf("%v and %v have the keys %x and %x", a, b, AscendingKey(a), AscendingKey(b))
		}
		if back := OfAscendingKey(AscendingKey(a)); back != a {
			t.Fatalf("%v came back as %v", a, back)
		}
	})
}
