package scorer

import (
	"math"
	"slices"
	"testing"
)

// A random score depends on the document's features and the seed: not on where the
// document stands, nor on trailing features that are 0.
func TestRandomDependsOnDocumentAlone(t *testing.T) {
	rng := newRand()
	x, _, _ := query(rng, 50, 3)
	score := func(r Random, x []float32) []float64 {
		dst := make([]float64, len(x)/r.Features)
		r.Score(dst, nil, x, nil)
		return dst
	}
	scores := score(Random{3, 1}, x)
	reversed, wide := make([]float32, 0, len(x)), make([]float32, 0, 2*len(x))
	for i := 49; i >= 0; i-- {
		reversed = append(reversed, x[3*i:3*i+3]...)
	}
	for i := range 50 {
		wide = append(append(wide, x[3*i:3*i+3]...), 0, 0)
	}
	back := score(Random{3, 1}, reversed)
	slices.Reverse(back)
	if !slices.Equal(back, scores) || !slices.Equal(score(Random{5, 1}, wide), scores) {
		t.Error("scores depend on the place or on absent features")
	}
	if slices.Equal(score(Random{3, 2}, x), scores) {
		t.Error("another seed gives the same scores")
	}
	moved := slices.Clone(x)
	moved[0], moved[1] = moved[1], moved[0]
	if score(Random{3, 1}, moved)[0] == scores[0] {
		t.Error("features in another order give the same score")
	}
}

// Random scores are spread evenly over [0, 1), also those of similar documents.
func TestRandomIsUniform(t *testing.T) {
	const n, cells = 20000, 20
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(i)
	}
	scores, counts := make([]float64, n), make([]float64, cells)
	Random{1, 7}.Score(scores, nil, x, nil)
	rising := 0
	for i, s := range scores {
		counts[int(s*cells)]++
		if i > 0 && s > scores[i-1] {
			rising++
		}
	}
	var chi float64
	for _, c := range counts {
		chi += (c - n/cells) * (c - n/cells) / (n / cells)
	}
	if chi > 43.8 { // 99.9 % of χ² with 19 degrees of freedom
		t.Errorf("χ² of %d cells is %.1f", cells, chi)
	}
	if math.Abs(float64(rising)-n/2) > 4*math.Sqrt(n/12) {
		t.Errorf("%d of %d scores are above the one before", rising, n)
	}
}

// A random scorer comes back from its form in model files; without features it is
// refused.
func TestRandomFile(t *testing.T) {
	want := Random{Features: 4, Seed: 1<<64 - 1}
	raw, err := Encode(want, nil)
	if err != nil {
		t.Fatal(err)
	}
	got, params, err := Decode(raw)
	if err != nil || got != want || len(params) != 0 {
		t.Errorf("%s is %+v, %v, %v", raw, got, params, err)
	}
	if _, _, err := Decode([]byte(`{"type":"random","features":1,"seed":null}`)); err == nil || err.Error() != `random scorer: found no "seed", expected a whole number` {
		t.Errorf("a scorer without a seed: %v", err)
	}
	if _, _, err := Decode([]byte(`{"type":"random"}`)); err == nil {
		t.Error("a scorer of no features was accepted")
	}
}
