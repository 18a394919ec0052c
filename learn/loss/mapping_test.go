package loss

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// TestParseMapping: names are read back, an error names what is possible, and the
// zero value is the identity.
func TestParseMapping(t *testing.T) {
	for m := LogMapping; m <= ExpMapping; m++ {
		if got, err := ParseMapping(m.String()); got != m || err != nil {
			t.Errorf("ParseMapping(%q) = %v, %v", m.String(), got, err)
		}
	}
	_, err := ParseMapping("square")
	wantError(t, "ParseMapping", err, `mapping "square"`, "log, sqrt, linear, quadratic or exp")
	if m := Mapping(0); m != LinearMapping || m.Score(3.5) != 3.5 {
		t.Errorf("the zero value maps 3.5 to %v", m.Score(3.5))
	}
	for _, m := range []Mapping{-3, 3} {
		for _, l := range []Loss{ListNet{Mapping: m}, RankCosine{Mapping: m}} {
			_, err := l.Bind([]float64{0, 1}, nil)
			wantError(t, "an unknown mapping", err, "mapping", "expected log")
		}
	}
}

// TestMappingValues: the mappings are what their names say.
func TestMappingValues(t *testing.T) {
	for m, want := range map[Mapping][3]float64{
		LogMapping:       {0, math.Ln2, math.Log(5)},
		SqrtMapping:      {0, 1, 2},
		LinearMapping:    {0, 1, 4},
		QuadraticMapping: {0, 1, 16},
		ExpMapping:       {1, math.E, math.Exp(4)},
	} {
		for i, grade := range []float64{0, 1, 4} {
			if got := m.Score(grade); !near(got, want[i], 1e-15) {
				t.Errorf("%v(%v) = %v, want %v", m, grade, got, want[i])
			}
		}
	}
}

// TestMappingsIncrease, relative to the highest grade by the same factor for all,
// and without overflow at any grade.
func TestMappingsIncrease(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := Mapping(rapid.IntRange(int(LogMapping), int(ExpMapping)).Draw(t, "mapping"))
		top := rapid.OneOf(rapid.Float64Range(1e-3, 30), rapid.Float64Range(30, math.MaxFloat64)).Draw(t, "top")
		low := top * rapid.Float64Range(0, 1).Draw(t, "low")
		r := m.relative(low, top)
		if !(r >= 0 && r <= 1) || m.relative(top, top) != 1 {
			t.Fatalf("%v: ψ(%v)/ψ(%v) = %v", m, low, top, r)
		}
		if low <= top-1e-6 && r >= m.relative(top, top) && top < 1e3 {
			t.Fatalf("%v: ψ(%v) is not less than ψ(%v)", m, low, top)
		}
		if s := m.Score(top); !math.IsInf(s, 1) && !near(r*s, m.Score(low), 1e-12) {
			t.Fatalf("%v: ψ(%v) = %v, but relative to ψ(%v) %v", m, low, m.Score(low), top, r*s)
		}
	})
}

// TestMappingOverflow: a grade whose score is no number is an error that names it,
// for the loss that needs the score; RankCosine needs a ratio.
func TestMappingOverflow(t *testing.T) {
	grades := []float64{0, 800, 799}
	_, err := ListNet{Mapping: ExpMapping}.Bind(grades, nil)
	wantError(t, "exp of grade 800", err, "document 2", "grade 800", "exp")
	_, err = ListNet{Mapping: QuadraticMapping}.Bind([]float64{1e200, 0}, nil)
	wantError(t, "the square of 1e200", err, "document 1", "quadratic")
	b := mustBind(t, RankCosine{Mapping: ExpMapping}, grades, 1)
	cosine := (math.E + 1) / math.Sqrt((1+math.E*math.E)*2)
	if v, _ := evaluated(b, []float64{0, 1, 1}); !near(v, (1-cosine)/2, 1e-14) {
		t.Errorf("RankCosine of grades %v is %v, want %v", grades, v, (1-cosine)/2)
	}
}
