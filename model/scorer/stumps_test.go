package scorer

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// drawStumps draws stumps and features on a coarse grid, so that values meet
// thresholds exactly.
func drawStumps(t *rapid.T) (list []Stump, weights []float64, features int) {
	features = rapid.IntRange(1, 5).Draw(t, "features")
	grid := rapid.Map(rapid.IntRange(-4, 4), func(i int) float32 { return float32(i) / 4 })
	for range rapid.IntRange(0, 30).Draw(t, "stumps") {
		list = append(list, Stump{rapid.IntRange(0, features-1).Draw(t, "feature"), grid.Draw(t, "threshold")})
		weights = append(weights, rapid.Float64Range(-3, 3).Draw(t, "weight"))
	}
	return list, weights, features
}

func mustStumps(t interface{ Fatal(...any) }, features int, list []Stump) *Stumps {
	s, err := NewStumps(features, list)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// The merged stumps score as the sum of the unmerged ones, written down from its
// definition; Backward is the adjoint of that sum, what was in grad stays; and the
// form in model files comes back with the same bits.
func TestStumpsScoreAndBackward(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list, weights, features := drawStumps(t)
		merged, w := MergeStumps(list, weights)
		s := mustStumps(t, features, merged)
		docs := rapid.IntRange(0, 7).Draw(t, "docs")
		x, lambda := make([]float32, docs*features), make([]float64, docs)
		for i := range x {
			x[i] = float32(rapid.IntRange(-5, 5).Draw(t, "x")) / 4
		}
		for i := range lambda {
			lambda[i] = rapid.Float64Range(-2, 2).Draw(t, "lambda")
		}
		got, ws := make([]float64, docs), new(Workspace)
		s.Score(got, w, x, ws)
		for i := range docs {
			var want float64
			for k, stump := range list {
				if x[i*features+stump.Feature] > stump.Threshold {
					want += weights[k]
				}
			}
			if math.Abs(got[i]-want) > 1e-12 {
				t.Fatalf("document %d scores %v, want %v", i, got[i], want)
			}
		}
		grad := make([]float64, len(w))
		for k := range grad {
			grad[k] = float64(k)
		}
		s.Backward(grad, w, x, lambda, ws)
		for k, stump := range merged {
			want := float64(k)
			for i, l := range lambda {
				if x[i*features+stump.Feature] > stump.Threshold {
					want += l
				}
			}
			if math.Abs(grad[k]-want) > 1e-12 {
				t.Fatalf("gradient %d is %v, want %v", k, grad[k], want)
			}
		}
		raw, err := Encode(s, w)
		if err != nil {
			t.Fatal(err)
		}
		back, params, err := Decode(raw)
		if err != nil || !reflect.DeepEqual(back, Scorer(s)) || !slices.Equal(params, w) {
			t.Fatalf("%s came back as %#v %v, %v", raw, back, params, err)
		}
	})
}

// The form that scripts rely on: features count from 1.
func TestStumpsForm(t *testing.T) {
	s := mustStumps(t, 3, []Stump{{0, 0.1}, {2, -1}})
	raw, err := Encode(s, []float64{0.5, -2})
	want := `{"type":"stumps","features":3,"stumps":[{"feature":1,"threshold":0.1,"weight":0.5},{"feature":3,"threshold":-1,"weight":-2}]}`
	if err != nil || string(raw) != want {
		t.Errorf("form is %s, %v; want %s", raw, err, want)
	}
}

func TestDecodeStumpsErrors(t *testing.T) {
	for text, want := range map[string]string{
		`{"type":"stumps","stumps":[]}`:                                                                       `stumps scorer: found "features" = 0, expected at least 1`,
		`{"type":"stumps","features":2}`:                                                                      `stumps scorer: found no list of stumps, expected one, if only empty`,
		`{"type":"stumps","features":2,"stumps":[{"feature":1,"weight":1}]}`:                                  `stumps scorer: found stump 1 without a threshold or a weight, expected both`,
		`{"type":"stumps","features":2,"stumps":[{"feature":1,"threshold":0,"weight":null}]}`:                 `stumps scorer: found stump 1 without a threshold or a weight, expected both`,
		`{"type":"stumps","features":2,"stumps":[{"threshold":0,"weight":1}]}`:                                `stumps scorer: found feature 0 in stump 1, expected one from 1 to 2`,
		`{"type":"stumps","features":2,"stumps":[{"feature":3,"threshold":0,"weight":1}]}`:                    `stumps scorer: found feature 3 in stump 1, expected one from 1 to 2`,
		`{"type":"stumps","features":2,"stumps":[{"feature":2,"threshold":0.5,"weight":1},{"feature":1}]}`:    `stumps scorer: found stump 2 without a threshold or a weight, expected both`,
		`{"type":"stumps","features":1,"stumps":[` + twice(`{"feature":1,"threshold":0.5,"weight":1}`) + `]}`: `stumps scorer: found stump 2 (feature 1 above 0.5) after feature 1 above 0.5, expected increasing features and thresholds`,
	} {
		if _, _, err := Decode(json.RawMessage(text)); err == nil || err.Error() != want {
			t.Errorf("%s: error is %v, want %s", text, err, want)
		}
	}
	for _, bad := range []float64{math.NaN(), math.Inf(1)} {
		if _, err := NewStumps(1, []Stump{{0, float32(bad)}}); err == nil {
			t.Errorf("the threshold %v is accepted", bad)
		}
	}
}

func twice(s string) string { return s + "," + s }

// BenchmarkStumps scores a query of 150 documents by 300 stumps on 45 features.
func BenchmarkStumps(b *testing.B) {
	const docs, features = 150, 45
	rng := rand.New(rand.NewPCG(1, 2))
	x, _, _ := query(rng, docs, features)
	list, weights := make([]Stump, 300), make([]float64, 300)
	for i := range list {
		list[i], weights[i] = Stump{rng.IntN(features), float32(rng.NormFloat64())}, rng.NormFloat64()
	}
	merged, w := MergeStumps(list, weights)
	s := mustStumps(b, features, merged)
	dst, ws := make([]float64, docs), new(Workspace)
	b.ReportAllocs()
	for b.Loop() {
		s.Score(dst, w, x, ws)
	}
}
