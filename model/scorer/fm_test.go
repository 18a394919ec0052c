package scorer

import (
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// randomFM returns a factorization machine, its parameters, a matrix with zeros among its values, and λ.
func randomFM(t *rapid.T) (s FM, params []float64, x []float32, lambda []float64) {
	s = FM{rapid.IntRange(1, 20).Draw(t, "features"), rapid.IntRange(1, 9).Draw(t, "factors")}
	docs := rapid.IntRange(1, 10).Draw(t, "docs")
	params = rapid.SliceOfN(rapid.Float64Range(-1, 1), s.NumParams(), s.NumParams()).Draw(t, "parameters")
	value := rapid.OneOf(rapid.Just(float32(0)), rapid.Float32Range(-2, 2))
	x = rapid.SliceOfN(value, docs*s.Features, docs*s.Features).Draw(t, "x")
	lambda = rapid.SliceOfN(rapid.Float64Range(-1, 1), docs, docs).Draw(t, "lambda")
	return s, params, x, lambda
}

// Claim: the score is that of the definition, summed pair of features by pair.
func TestFMScoreIsTheSumOverPairs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, params, x, lambda := randomFM(t)
		p, got := s.Features, make([]float64, len(lambda))
		s.Score(got, params, x, new(Workspace))
		for i, score := range got {
			row, want := x[i*p:(i+1)*p], 0.0
			for a := range p {
				want += params[a] * float64(row[a])
				for b := range a {
					dot := 0.0
					for f := 1; f <= s.Factors; f++ {
						dot += params[f*p+a] * params[f*p+b]
					}
					want += dot * float64(row[a]) * float64(row[b]) / float64(s.Factors)
				}
			}
			if math.Abs(score-want) > 1e-11 {
				t.Fatalf("document %d has the score %v, the definition %v", i, score, want)
			}
		}
	})
}

// Claim: a document's score has the same bits alone and among others.
func TestFMScoresDocumentsAlone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, params, x, lambda := randomFM(t)
		all, one := make([]float64, len(lambda)), make([]float64, 1)
		s.Score(all, params, x, new(Workspace))
		for i := range all {
			s.Score(one, params, x[i*s.Features:(i+1)*s.Features], new(Workspace))
			if math.Float64bits(one[0]) != math.Float64bits(all[i]) {
				t.Fatalf("document %d has the score %v alone and %v among %d", i, one[0], all[i], len(all))
			}
		}
	})
}

// Claim: Backward adds the derivatives of Σ λ_i·s_i. The score is quadratic in the parameters of a feature, so
// central differences are exact but for rounding.
func TestFMBackward(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, params, x, lambda := randomFM(t)
		total := func(params []float64) (sum float64) {
			scores := make([]float64, len(lambda))
			s.Score(scores, params, x, new(Workspace))
			for i, v := range scores {
				sum += lambda[i] * v
			}
			return sum
		}
		var ws Workspace
		s.Score(make([]float64, len(lambda)), params, x, &ws)
		const before, calls = 3, 2
		grad := slices.Repeat([]float64{before}, len(params))
		for range calls { // one call of Score serves several
			s.Backward(grad, params, x, lambda, &ws)
		}
		for j := range params {
			const h = 1.0 / 64
			up, down := slices.Clone(params), slices.Clone(params)
			up[j] += h
			down[j] -= h
			if want := before + calls*(total(up)-total(down))/(2*h); math.Abs(grad[j]-want) > 1e-9 {
				t.Fatalf("derivative %d of %d is %v, the difference quotient %v", j, len(grad), grad[j], want)
			}
		}
	})
}

// Claim: values whose squares exceed float32 have finite scores.
func TestFMLargeValues(t *testing.T) {
	s, dst := FM{2, 1}, make([]float64, 1)
	s.Score(dst, []float64{1, 1, 0.5, 0.25}, []float32{1e30, 2e30}, new(Workspace))
	if want := 0.125 * 2e60; math.Abs(dst[0]-want) > 1e-6*want {
		t.Errorf("the score is %v, expected about %v", dst[0], want)
	}
}

// Claim: a file has this form, and a wrong number of weights, features or factors is an error.
func TestFMFile(t *testing.T) {
	const form = `{"type":"fm","features":2,"factors":1,"weights":[1,2,0.5,-1]}`
	raw, err := Encode(FM{2, 1}, []float64{1, 2, 0.5, -1})
	if err != nil || string(raw) != form {
		t.Errorf("the form is %s, error %v, expected %s", raw, err, form)
	}
	if s, params, err := Decode([]byte(form)); err != nil || s != (FM{2, 1}) || !slices.Equal(params, []float64{1, 2, 0.5, -1}) {
		t.Errorf("back from the file: %v, %v, error %v", s, params, err)
	}
	for text, want := range map[string]string{
		`{"type":"fm","features":2,"factors":1,"weights":[1,2,3]}`:               "found 3 weights, expected 4",
		`{"type":"fm","features":0,"factors":1,"weights":[]}`:                    `found "features" = 0, expected at least 1`,
		`{"type":"fm","features":2,"weights":[1,2]}`:                             `found "factors" = 0, expected at least 1`,
		`{"type":"fm","features":4611686018427387904,"factors":3,"weights":[1]}`: "found 1 weights, expected 18446744073709551616",
	} {
		if _, _, err := Decode([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, expected %q", text, err, want)
		}
	}
}
