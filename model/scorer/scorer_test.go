package scorer

import (
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func newRand() *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }

// query returns a random row-major matrix of docs × features, parameters and λ.
func query(rng *rand.Rand, docs, features int) (x []float32, params, lambda []float64) {
	x, params, lambda = make([]float32, docs*features), make([]float64, features), make([]float64, docs)
	for i := range x {
		x[i] = float32(rng.NormFloat64())
	}
	for i := range params {
		params[i] = rng.NormFloat64()
	}
	for i := range lambda {
		lambda[i] = rng.NormFloat64()
	}
	return x, params, lambda
}

// A linear score is w·x, document by document.
func TestLinearScore(t *testing.T) {
	rng := newRand()
	for _, shape := range [][2]int{{1, 1}, {3, 5}, {7, 45}, {20, 136}} {
		docs, features := shape[0], shape[1]
		x, w, _ := query(rng, docs, features)
		got := make([]float64, docs)
		Linear{features}.Score(got, w, x, nil)
		for i := range docs {
			var want, size float64
			for j := range features {
				want += w[j] * float64(x[i*features+j])
				size += math.Abs(w[j] * float64(x[i*features+j]))
			}
			if math.Abs(got[i]-want) > 1e-14*size {
				t.Errorf("%v: document %d scores %v, want %v", shape, i, got[i], want)
			}
		}
	}
}

// Backward adds the derivative of Σ λ_i·score_i: central differences, which are
// exact for a linear function but for rounding, and what was there stays.
func TestLinearBackward(t *testing.T) {
	rng := newRand()
	const docs, features, h = 9, 13, 1.0 / 64
	x, w, lambda := query(rng, docs, features)
	s := Linear{features}
	total := func() float64 {
		scores := make([]float64, docs)
		s.Score(scores, w, x, nil)
		var sum float64
		for i, v := range scores {
			sum += lambda[i] * v
		}
		return sum
	}
	grad := make([]float64, features)
	for j := range grad {
		grad[j] = float64(j)
	}
	s.Backward(grad, w, x, lambda, nil)
	for j := range w {
		at := w[j]
		w[j] = at + h
		up := total()
		w[j] = at - h
		down := total()
		w[j] = at
		if want := float64(j) + (up-down)/(2*h); math.Abs(grad[j]-want) > 1e-11 {
			t.Errorf("gradient %d is %v, want %v", j, grad[j], want)
		}
	}
}

// What Encode writes Decode reads back to the same bits.
func TestEncodeDecode(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := rapid.SliceOfN(rapid.Float64Range(-math.MaxFloat64, math.MaxFloat64), 1, 50).Draw(t, "w")
		raw, err := Encode(Linear{len(w)}, w)
		if err != nil {
			t.Fatal(err)
		}
		s, got, err := Decode(raw)
		if err != nil {
			t.Fatal(err)
		}
		if s != (Linear{len(w)}) {
			t.Fatalf("scorer is %#v", s)
		}
		for j := range w {
			if math.Float64bits(got[j]) != math.Float64bits(w[j]) {
				t.Fatalf("weight %d is %v, want %v", j, got[j], w[j])
			}
		}
	})
}

// The form that scripts rely on.
func TestLinearForm(t *testing.T) {
	raw, err := Encode(Linear{3}, []float64{0.1, -2, 1e-300})
	if want := `{"type":"linear","weights":[0.1,-2,1e-300]}`; err != nil || string(raw) != want {
		t.Errorf("form is %s, %v; want %s", raw, err, want)
	}
}

// bare is a scorer without a form in model files.
type bare struct{ Scorer }

func TestEncodeErrors(t *testing.T) {
	for _, c := range []struct {
		s      Scorer
		params []float64
		want   string
	}{
		{Linear{2}, []float64{1}, "linear scorer: 1 parameters, expected 2"},
		{Linear{2}, []float64{1, math.NaN()}, "linear scorer: parameter 2 is NaN, expected a finite number"},
		{Linear{1}, []float64{math.Inf(-1)}, "linear scorer: parameter 1 is -Inf, expected a finite number"},
		{bare{Linear{1}}, []float64{1}, "linear scorer: it has no form in a model file, expected a kind that is registered with scorer.Register"},
	} {
		if _, err := Encode(c.s, c.params); err == nil || err.Error() != c.want {
			t.Errorf("error is %v, want %s", err, c.want)
		}
	}
}

func TestDecodeErrors(t *testing.T) {
	for text, want := range map[string]string{
		`{}`:                                   `found the type "", expected classes, fm, layers, linear, net, pairnet, random, stumps, treeclasses, trees, example-squares`,
		`{"type":"tree"}`:                      `found the type "tree", expected classes, fm, layers, linear, net, pairnet, random, stumps, treeclasses, trees, example-squares; a program that reads scorers of another package must import that package`,
		`{"type":"linear"}`:                    "linear scorer: found no weights, expected one a feature",
		`{"type":"linear","weights":[]}`:       "linear scorer: found no weights, expected one a feature",
		`{"type":"linear","weights":null}`:     "linear scorer: found no weights, expected one a feature",
		`{"type":"linear","weights":[1,null]}`: "linear scorer: found null as weight 2, expected a number",
		`null`:                                 `found the type "", expected classes, fm, layers, linear, net, pairnet, random, stumps, treeclasses, trees, example-squares`,
	} {
		if _, _, err := Decode(json.RawMessage(text)); err == nil || err.Error() != want {
			t.Errorf("%s: error is %v, want %s", text, err, want)
		}
	}
	for text, part := range map[string]string{
		`{"type":"linear","weights":[1e400]}`: "1e400",
		`{"type":"linear","weights":["1"]}`:   "string",
		`{"type":"linear","weights":{}}`:      "object",
		`{"type":1}`:                          "number",
		`[1]`:                                 "array",
	} {
		_, _, err := Decode(json.RawMessage(text))
		var kind *json.UnmarshalTypeError
		if !errors.As(err, &kind) || !strings.Contains(kind.Value, part) {
			t.Errorf("%s: error is %v, want a *json.UnmarshalTypeError about %q", text, err, part)
		}
	}
}

// For any bytes, Decode returns an error or a scorer whose form it reads back the same.
func FuzzDecode(f *testing.F) {
	for _, text := range []string{
		`{"type":"trees","features":2,"trees":[{"feature":[2,1],"threshold":[0.5,-1],"left":[-1,-2],"right":[1,-3],"missing_left":[1],"values":[0.25,-1,2]},{"feature":[],"threshold":[],"left":[],"right":[],"missing_left":[],"values":[7]}]}`,
		`{"type":"trees","features":2,"trees":[{"feature":[2],"threshold":[null],"left":[-1],"right":[-2],"missing_left":[],"categories":[{"node":0,"left":[-1,0,2.5]}],"values":[0.25,-1]}]}`,
		`{"type":"treeclasses","features":1,"values":[0,1,3],"functions":[[{"feature":[1],"threshold":[0.5],"left":[-1],"right":[-2],"missing_left":[],"values":[0.25,-1]}],[]]}`,
		`{"type":"linear","weights":[0.5,-1e-9]}`, `{"type":"linear","weights":[1,null]}`, `{"type":"linear","weights":[1e400]}`, `{"type":"x"}`, `[]`, `{`,
		`{"type":"net","activation":"relu","features":1,"hidden":1,"weights":[1,2,3]}`, `{"type":"pairnet","activation":"tanh","features":1,"hidden":1,"pair_hidden":1,"weights":[1,2,3,4,5,6,7]}`,
		`{"type":"stumps","features":2,"stumps":[{"feature":1,"threshold":0.5,"weight":1},{"feature":2,"threshold":-1e-9,"weight":-2}]}`, `{"type":"stumps","features":1,"stumps":[]}`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		s, params, err := Decode(text)
		if err != nil {
			return
		}
		raw, err := Encode(s, params)
		if err != nil {
			t.Fatalf("%q decodes to what does not encode: %v", text, err)
		}
		again, same, err := Decode(raw)
		if err != nil || !reflect.DeepEqual(again, s) || !slices.Equal(params, same) {
			t.Fatalf("%q came back as %#v %v, %v", raw, again, same, err)
		}
	})
}
