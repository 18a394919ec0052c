package scorer

import (
	"encoding/json"
	"math"
	"reflect"
	"slices"
	"testing"
)

var someClasses = []Classes{
	{Features: 4, Values: []float64{0, 1, 2}},
	{Features: 4, Values: []float64{-1, 0.5, 7, 20}, Ordinal: true},
	{Features: 1, Values: []float64{0, 1}},
	{Features: 1, Values: []float64{0, 1}, Ordinal: true},
}

// naiveClasses is the expected value of each document's class by its definition.
func naiveClasses(c Classes, params []float64, x []float32) []float64 {
	n, p := c.Functions(), c.Features
	scores := make([]float64, len(x)/p)
	for i := range scores {
		u := make([]float64, n)
		for k := range u {
			u[k] = params[n*p+k]
			for j := range p {
				u[k] += params[k*p+j] * float64(x[i*p+j])
			}
		}
		if c.Ordinal {
			scores[i] = c.Values[0]
			for k, v := range u {
				scores[i] += (c.Values[k+1] - c.Values[k]) / (1 + math.Exp(-v))
			}
			continue
		}
		var total float64
		for _, v := range u {
			total += math.Exp(v)
		}
		for k, v := range u {
			scores[i] += c.Values[k] * math.Exp(v) / total
		}
	}
	return scores
}

// Scores are expected values of classes, and Backward adds their derivatives: central
// differences of the definition.
func TestClasses(t *testing.T) {
	rng := newRand()
	for _, c := range someClasses {
		for _, docs := range []int{1, 2, 9} {
			x, params, lambda := start(rng, c, docs)
			got, want := score(c, params, x), naiveClasses(c, params, x)
			for i := range want {
				if math.Abs(got[i]-want[i]) > 1e-12*max(1, math.Abs(want[i])) {
					t.Errorf("%+v, %d documents: score %d is %v, expected %v", c, docs, i, got[i], want[i])
				}
			}
			var ws Workspace
			grad := gradient(c, params, x, lambda, &ws)
			for i := range params {
				const h = 1e-4
				total := func(shift float64) (sum float64) {
					moved := slices.Clone(params)
					moved[i] += shift
					for j, s := range naiveClasses(c, moved, x) {
						sum += lambda[j] * s
					}
					return sum
				}
				want := (8*(total(h)-total(-h)) - (total(2*h) - total(-2*h))) / (12 * h)
				if math.Abs(grad[i]-want) > 1e-8*max(1, math.Abs(want)) {
					t.Errorf("%+v, %d documents: derivative %d is %v, differences say %v", c, docs, i, grad[i], want)
				}
			}
		}
	}
}

// However large the functions' values are, scores are between the lowest and the highest
// value.
func TestClassesStayFinite(t *testing.T) {
	for _, c := range someClasses {
		for _, size := range []float64{1e3, 1e300} {
			params := make([]float64, c.NumParams())
			for i := range params {
				params[i] = size * math.Cos(float64(i))
			}
			for _, s := range score(c, params, make([]float32, 3*c.Features)) {
				if !(s >= c.Values[0] && s <= c.Values[len(c.Values)-1]) {
					t.Errorf("%+v, parameters of size %v: score %v", c, size, s)
				}
			}
		}
	}
}

// What Encode writes Decode reads back.
func TestClassesFile(t *testing.T) {
	rng := newRand()
	for _, c := range someClasses {
		_, params, _ := start(rng, c, 1)
		raw, err := Encode(c, params)
		if err != nil {
			t.Fatal(err)
		}
		s, got, err := Decode(raw)
		if err != nil || !reflect.DeepEqual(s, c) || !slices.Equal(got, params) {
			t.Errorf("%s is %#v, %v, %v", raw, s, got, err)
		}
	}
}

func TestDecodeClassesErrors(t *testing.T) {
	for text, want := range map[string]string{
		`{"type":"classes","features":0,"values":[0,1],"ordinal":true,"weights":[1]}`:       `classes scorer: found "features" = 0, expected at least 1`,
		`{"type":"classes","features":1,"values":[0],"ordinal":true,"weights":[1,2]}`:       "classes scorer: found 1 values of classes, expected 2 to 256",
		`{"type":"classes","features":1,"values":[1,0],"ordinal":true,"weights":[1,2]}`:     "classes scorer: found values of classes that are not finite or not increasing",
		`{"type":"classes","features":1,"values":[0,1],"ordinal":true,"weights":[1,2,3]}`:   "classes scorer: found 3 weights, expected 2",
		`{"type":"classes","features":1,"values":[0,1],"ordinal":false,"weights":[1,2,3]}`:  "classes scorer: found 3 weights, expected 4",
		`{"type":"classes","features":9007199254740993,"values":[0,1],"weights":[1,2,3,4]}`: "classes scorer: found 4 weights, expected 18014398509481984",
	} {
		if _, _, err := Decode(json.RawMessage(text)); err == nil || err.Error() != want {
			t.Errorf("%s: error is %v, expected %s", text, err, want)
		}
	}
}
