package loss

import (
	"math"
	"testing"
)

// TestAtLeast: the loss is the negative log likelihood of what the grades say of the threshold; one
// that is no number is refused.
func TestAtLeast(t *testing.T) {
	grades, s := []float64{2, 0, 1, 3}, []float64{0.3, -1, 2, -0.5}
	got, grad := evaluated(mustBind(t, AtLeast{2}, grades, 1), s)
	var want float64
	for i, g := range grades {
		p := 1 / (1 + math.Exp(-s[i]))
		slope := p
		if g >= 2 {
			want -= math.Log(p)
			slope = p - 1
		} else {
			want -= math.Log(1 - p)
		}
		if !near(grad[i], slope, 1e-14) {
			t.Errorf("document %d: gradient %v, want %v", i, grad[i], slope)
		}
	}
	if !near(got, want, 1e-14) {
		t.Errorf("the loss is %v, want %v", got, want)
	}
	_, err := AtLeast{math.NaN()}.Bind(grades, nil)
	wantError(t, "no number", err, "grade NaN")
}
