package scorer

import (
	"encoding/json"
	"errors"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// What Encode writes of a network Decode reads back: the same architecture, and
// parameters of the same bits.
func TestEncodeDecodeNetworks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		features, hidden := rapid.IntRange(1, 9).Draw(t, "features"), rapid.IntRange(1, 5).Draw(t, "hidden")
		activation := Activation(rapid.IntRange(0, len(activationNames)-1).Draw(t, "activation"))
		var want Scorer = Network{Features: features, Hidden: hidden, Activation: activation}
		if pair := rapid.IntRange(0, 4).Draw(t, "pair"); pair > 0 {
			want = PairNetwork{Features: features, Hidden: hidden, PairHidden: pair, Activation: activation}
		}
		number := rapid.Float64Range(-math.MaxFloat64, math.MaxFloat64)
		params := rapid.SliceOfN(number, want.NumParams(), want.NumParams()).Draw(t, "params")
		raw, err := Encode(want, params)
		if err != nil {
			t.Fatal(err)
		}
		s, got, err := Decode(raw)
		if err != nil || s != want {
			t.Fatalf("%s came back as %#v, %v", raw, s, err)
		}
		same := func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) }
		if !slices.EqualFunc(got, params, same) {
			t.Fatalf("parameters are %v, want %v", got, params)
		}
	})
}

// The form of networks in model files.
func TestNetworkForm(t *testing.T) {
	for want, s := range map[string]Scorer{
		`{"type":"net","activation":"relu","features":2,"hidden":1,"weights":[1,2,3,4]}`:                           Network{2, 1, ReLU},
		`{"type":"pairnet","activation":"elu","features":1,"hidden":1,"pair_hidden":1,"weights":[1,2,3,4,5,6,7]}`:  PairNetwork{1, 1, 1, ELU},
		`{"type":"pairnet","activation":"tanh","features":1,"hidden":1,"pair_hidden":1,"weights":[1,2,3,4,5,6,7]}`: PairNetwork{1, 1, 1, Tanh},
		`{"type":"net","activation":"softplus","features":1,"hidden":3,"weights":[1,2,3,4,5,6,7,8,9]}`:             Network{1, 3, Softplus},
		`{"type":"net","activation":"sigmoid","features":3,"hidden":2,"weights":[1,2,3,4,5,6,7,8,9,10]}`:           Network{3, 2, Sigmoid},
	} {
		params := make([]float64, s.NumParams())
		for i := range params {
			params[i] = float64(i + 1)
		}
		if raw, err := Encode(s, params); err != nil || string(raw) != want {
			t.Errorf("form is %s, %v; want %s", raw, err, want)
		}
	}
}

func TestDecodeNetworkErrors(t *testing.T) {
	const weights = `"weights":[1,2,3]}`
	for text, want := range map[string]string{
		`{"type":"net",` + weights:                                                                                 `net scorer: found the activation "", expected tanh, sigmoid, relu, softplus, elu, identity, leakyrelu`,
		`{"type":"net","activation":"tanh",` + weights:                                                             `net scorer: found "features" = 0, expected at least 1`,
		`{"type":"net","activation":"tanh","features":1,` + weights:                                                `net scorer: found "hidden" = 0, expected at least 1`,
		`{"type":"net","activation":"tanh","features":1,"hidden":-1,` + weights:                                    `net scorer: found "hidden" = -1, expected at least 1`,
		`{"type":"net","activation":"tanh","features":2,"hidden":1,` + weights:                                     `net scorer: found 3 weights, expected 4`,
		`{"type":"net","activation":"tanh","features":1,"hidden":1,"weights":[1,null,3]}`:                          `net scorer: found null as weight 2, expected a number`,
		`{"type":"net","activation":"tanh","features":9223372036854775807,"hidden":9223372036854775807,` + weights: `net scorer: found 3 weights, expected 85070591730234615865843651857942052864`,
		`{"type":"pairnet","activation":"tanh","features":1,"hidden":1,` + weights:                                 `pairnet scorer: found "pair_hidden" = 0, expected at least 1`,
		`{"type":"pairnet","activation":"tanh","features":1,"hidden":1,"pair_hidden":1,` + weights:                 `pairnet scorer: found 3 weights, expected 7`,
	} {
		if _, _, err := Decode(json.RawMessage(text)); err == nil || err.Error() != want {
			t.Errorf("%s: error is %v, want %s", text, err, want)
		}
	}
	for _, text := range []string{
		`{"type":"net","activation":"tanh","features":1.5,"hidden":1,` + weights,
		`{"type":"pairnet","activation":7}`,
		`{"type":"net","activation":"tanh","features":1,"hidden":1,"weights":[1e400,2,3]}`,
	} {
		_, _, err := Decode(json.RawMessage(text))
		var kind *json.UnmarshalTypeError
		if !errors.As(err, &kind) {
			t.Errorf("%s: error is %v, want a *json.UnmarshalTypeError", text, err)
		}
	}
}
