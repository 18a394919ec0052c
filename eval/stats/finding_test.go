package stats

import "testing"

// The sentence names the better system first, says what both corrections find, and keeps names that
// have commas apart.
func TestFinding(t *testing.T) {
	r := Comparison{Pairs: []Pair{
		{A: 0, B: 1, Difference: -0.1, Randomization: Test{Holm: 0.01, MaxT: 0.01}},
		{A: 0, B: 2, Difference: 0.1, Randomization: Test{Holm: 0.06, MaxT: 0.05}},
		{A: 1, B: 2, Difference: 0.1, Randomization: Test{Holm: 0.05, MaxT: 0.06}},
	}}
	names := []string{"a", "b", "c"}
	if got, want := r.Finding("map", names), "Significant by map at 0.05 (randomization test, Holm over 3 pairs): b > a, b > c. By max-T also: a > c. By max-T not: b > c."; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	names[2] = "c, d"
	if got, want := r.Finding("map", names), "Significant by map at 0.05 (randomization test, Holm over 3 pairs): b > a; b > c, d. By max-T also: a > c, d. By max-T not: b > c, d."; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	none := Comparison{Pairs: []Pair{{A: 0, B: 1, Randomization: Test{Holm: 0.2, MaxT: 0.2}}}}
	if got, want := none.Finding("map", names), "By map none of 1 pair differs significantly at 0.05 (randomization test)."; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// Paired is the t interval of the differences, of weighted means that of copies' mean, and refuses
// what it cannot take.
func TestPaired(t *testing.T) {
	a, b := []float64{1, 2, 4, 3}, []float64{0, 2, 1, 1}
	got, err := Paired(a, b, nil)
	want, _ := Between([][]float64{a}, [][]float64{b})
	if err != nil || got != want || got.Mean != 1.5 {
		t.Errorf("%+v, %v, want %+v", got, err, want)
	}
	weighted, err := Paired(a, b, []float64{1, 2, 3, 2})
	if err != nil || !near(weighted.Mean, (1+0+9+4)/8., 1e-12) || !(weighted.Interval.Low < weighted.Mean && weighted.Mean < weighted.Interval.High) {
		t.Errorf("%+v, %v", weighted, err)
	}
	if _, err := Paired(a, b[:3], nil); err == nil {
		t.Error("lists of different lengths are accepted")
	}
	if _, err := Paired(a, b, []float64{1}); err == nil {
		t.Error("too few weights are accepted")
	}
}
