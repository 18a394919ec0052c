package scorer

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// drawLayers draws a network of up to three layers, parameters, a query and λ.
func drawLayers(t *rapid.T) (n *Layers, params []float64, x []float32, lambda []float64) {
	features := rapid.IntRange(1, 5).Draw(t, "features")
	var layers []Layer
	for range rapid.IntRange(0, 2).Draw(t, "hidden") {
		layers = append(layers, Layer{rapid.IntRange(1, 4).Draw(t, "units"), Activation(rapid.IntRange(0, len(activationNames)-1).Draw(t, "activation"))})
	}
	layers = append(layers, Layer{1, Activation(rapid.IntRange(0, len(activationNames)-1).Draw(t, "last"))})
	n, err := NewLayers(features, layers)
	if err != nil {
		t.Fatal(err)
	}
	params = rapid.SliceOfN(rapid.Float64Range(-2, 2), n.NumParams(), n.NumParams()).Draw(t, "params")
	docs := rapid.IntRange(0, 4).Draw(t, "docs")
	x = rapid.SliceOfN(rapid.Float32Range(-3, 3), docs*features, docs*features).Draw(t, "x")
	lambda = rapid.SliceOfN(rapid.Float64Range(-2, 2), docs, docs).Draw(t, "lambda")
	return n, params, x, lambda
}

// naiveLayers is one document's score as the definition has it, and how near to 0, where some
// activations have a kink, the sums of its units come.
func naiveLayers(n *Layers, params []float64, x []float32) (score, nearest float64) {
	nearest = math.Inf(1)
	var in []float64
	for _, v := range x {
		in = append(in, float64(v))
	}
	for _, layer := range n.Layers() {
		var out []float64
		for u := range layer.Units {
			z := params[layer.Units*len(in)+u]
			for j, v := range in {
				z += params[u*len(in)+j] * v
			}
			nearest = min(nearest, math.Abs(z))
			out = append(out, formulas[layer.Activation](z))
		}
		params, in = params[layer.Units*(len(in)+1):], out
	}
	return in[0], nearest
}

// Scores are as the definition has them, the gradient is that of differences, and the form in
// model files comes back with the same bits.
func TestLayers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, params, x, lambda := drawLayers(t)
		docs := len(lambda)
		got, ws := make([]float64, docs), new(Workspace)
		n.Score(got, params, x, ws)
		nearest := math.Inf(1)
		for i := range docs {
			want, near := naiveLayers(n, params, x[i*n.features:(i+1)*n.features])
			nearest = min(nearest, near)
			if math.Abs(got[i]-want) > 1e-11*max(1, math.Abs(want)) {
				t.Fatalf("document %d scores %v, want %v", i, got[i], want)
			}
			alone := make([]float64, 1)
			if n.Score(alone, params, x[i*n.features:(i+1)*n.features], nil); alone[0] != got[i] {
				t.Fatalf("document %d scores %v among others and %v alone", i, got[i], alone[0])
			}
		}
		raw, err := Encode(n, params)
		if err != nil {
			t.Fatal(err)
		}
		s, again, err := Decode(raw)
		if err != nil || !slices.Equal(again, params) || !slices.Equal(s.(*Layers).layers, n.layers) || s.NumFeatures() != n.features {
			t.Fatalf("%s came back as %+v, %v, %v", raw, s, again, err)
		}
		if nearest > 1e-3 { // elsewhere differences straddle a kink
			checkLayersGradient(t, n, params, x, lambda)
		}
	})
}

func checkLayersGradient(t *rapid.T, n *Layers, params []float64, x []float32, lambda []float64) {
	total := func() (sum float64) {
		scores := make([]float64, len(lambda))
		n.Score(scores, params, x, nil)
		for i, s := range scores {
			sum += lambda[i] * s
		}
		return sum
	}
	ws, grad := new(Workspace), make([]float64, len(params))
	for j := range grad {
		grad[j] = float64(j)
	}
	n.Score(make([]float64, len(lambda)), params, x, ws)
	n.Backward(grad, params, x, lambda, ws)
	const h = 1e-6
	for j, at := range params {
		params[j] = at + h
		up := total()
		params[j] = at - h
		down := total()
		params[j] = at
		if want := (up - down) / (2 * h); math.Abs(grad[j]-float64(j)-want) > 1e-4*max(1, math.Abs(want)) {
			t.Fatalf("derivative %d is %v, differences say %v", j, grad[j]-float64(j), want)
		}
	}
}

// A layer of the identity is a linear scorer with a bias.
func TestLayersWithBias(t *testing.T) {
	n, err := NewLayers(2, []Layer{{1, Identity}})
	if err != nil {
		t.Fatal(err)
	}
	dst := make([]float64, 2)
	n.Score(dst, []float64{2, -3, 0.5}, []float32{1, 1, 4, 2}, nil)
	if want := []float64{-0.5, 2.5}; !slices.Equal(dst, want) {
		t.Errorf("scores are %v, want %v", dst, want)
	}
	const form = `{"type":"layers","features":2,"layers":[{"units":1,"activation":"identity"}],"weights":[2,-3,0.5]}`
	if raw, err := Encode(n, []float64{2, -3, 0.5}); err != nil || string(raw) != form {
		t.Errorf("form is %s, %v", raw, err)
	}
}

func TestDecodeLayersErrors(t *testing.T) {
	for text, want := range map[string]string{
		`{"type":"layers"}`:                                                                                  `found "features" = 0`,
		`{"type":"layers","features":2}`:                                                                     `found 0 layers, expected 1 to 1000`,
		`{"type":"layers","features":2,"layers":[{"units":1}]}`:                                              `layer 1: found the activation ""`,
		`{"type":"layers","features":2,"layers":[{"units":0,"activation":"relu"}]}`:                          `found 0 units in layer 1`,
		`{"type":"layers","features":2,"layers":[{"units":2,"activation":"relu"}]}`:                          `found 2 units in the last layer, expected 1`,
		`{"type":"layers","features":2,"layers":[{"units":1,"activation":"relu"}],"weights":[1]}`:            `found 1 weights, expected 3`,
		`{"type":"layers","features":2147483647,"layers":[{"units":1,"activation":"relu"}],"weights":[1]}`:   `found 2147483648 parameters`,
		`{"type":"layers","features":2,"layers":[{"units":1,"activation":"relu"}],"weights":[null,1,2]}`:     `found null`,
		`{"type":"layers","features":2,"layers":[{"units":1,"activation":"relu"}],"weights":[1,2,"x"]}`:      `weights`,
		`{"type":"layers","features":2,"layers":[{"units":"a","activation":"relu"}],"weights":[1,2,3]}`:      `units`,
		`{"type":"layers","features":1e9,"layers":[{"units":1e9,"activation":"relu"}],"weights":[1,2,3]}`:    `features`,
		`{"type":"layers","features":1000000000,"layers":[{"units":9,"activation":"relu"}],"weights":[1,2]}`: `found 9 units in the last layer`,
	} {
		if _, _, err := Decode(json.RawMessage(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error is %v, want %s", text, err, want)
		}
	}
	if _, err := NewLayers(1, []Layer{{1, 77}}); err == nil {
		t.Error("an activation that does not exist was accepted")
	}
}
