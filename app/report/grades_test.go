package report

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// Claim: few grades are distinguished exactly; many are rounded to as many as a page can
// hold them, each grade to the nearest, and those that reach a threshold are those from its
// place on, but for what rounds to it.
func TestGradeTable(t *testing.T) {
	few := newGradeTable([]float64{2, 0, 0.1 + 0.2})
	if !slices.Equal(few.values, []float64{0, 0.1 + 0.2, 2}) || few.place(0.1+0.2) != 1 || few.from(1) != 2 || few.from(3) != 3 {
		t.Errorf("a short table is %+v", few)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	grades := []float64{0}
	smallest := 1.0
	for range 50_000 {
		g := rng.Float64()
		grades = append(grades, g)
		smallest = min(smallest, g)
	}
	many := newGradeTable(grades)
	if n := len(many.values); n > mostGrades || n < 100 || !slices.IsSorted(many.values) || many.values[0] != 0 {
		t.Fatalf("%d grades from %v on", n, many.values[0])
	}
	if many.from(smallest) != 1 {
		t.Errorf("from the smallest positive grade on, grades have the places from %d on", many.from(smallest))
	}
	for _, g := range grades {
		if got := many.values[many.place(g)]; math.Abs(got-g) > 0.05*g {
			t.Fatalf("grade %v is shown as %v", g, got)
		}
	}
}
