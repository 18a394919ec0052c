package scorer

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// someTreeClasses returns classes with functions of different numbers of trees, none among
// them, and parameters.
func someTreeClasses(t *testing.T, rng *rand.Rand) (*TreeClasses, []float64) {
	t.Helper()
	var functions []*Trees
	for _, trees := range [][][]TreeNode{
		{{{Feature: 1, Threshold: 0.2, MissingLeft: true, Left: -1, Right: -2}}, nil},
		{},
		{{{Feature: 2, Threshold: -0.1, Left: 1, Right: -3}, {Feature: 0, Threshold: 0.5, Left: -1, Right: -2}}},
	} {
		f, err := NewTrees(3, trees)
		if err != nil {
			t.Fatal(err)
		}
		functions = append(functions, f)
	}
	c, err := NewTreeClasses([]float64{-1, 0.5, 2, 7}, functions)
	if err != nil {
		t.Fatal(err)
	}
	params := make([]float64, c.NumParams())
	for i := range params {
		params[i] = rng.NormFloat64()
	}
	return c, params
}

// Claim: the score is the expected value of the class by its definition, from the functions'
// own scores, and Backward adds its derivatives, by central differences. The file gives back
// both.
func TestTreeClasses(t *testing.T) {
	rng := newRand()
	c, params := someTreeClasses(t, rng)
	x, _, lambda := query(rng, 9, 3)
	x[4] = float32(math.NaN())
	scores := make([]float64, 9)
	ws := new(Workspace)
	score := func(at []float64) []float64 {
		c.Score(scores, at, x, ws)
		return slices.Clone(scores)
	}
	got := score(params)
	want, from := slices.Repeat([]float64{-1}, 9), 0
	for k, f := range c.Functions() {
		u := make([]float64, 9)
		f.Score(u, params[from:from+f.NumParams()], x, new(Workspace))
		from += f.NumParams()
		for i, v := range u {
			want[i] += (c.Values()[k+1] - c.Values()[k]) / (1 + math.Exp(-v))
		}
	}
	for i := range want {
		if math.Abs(got[i]-want[i]) > 1e-12 {
			t.Errorf("document %d scores %v, want %v", i, got[i], want[i])
		}
	}
	grad := slices.Repeat([]float64{3}, len(params)) // what was there stays
	c.Backward(grad, params, x, lambda, ws)
	for p := range params {
		const h = 1e-5
		total := func(d float64) (sum float64) {
			at := slices.Clone(params)
			at[p] += d
			for i, v := range score(at) {
				sum += lambda[i] * v
			}
			return sum
		}
		if want := 3 + (total(h)-total(-h))/(2*h); math.Abs(grad[p]-want) > 1e-8 {
			t.Errorf("derivative %d is %v, differences say %v", p, grad[p], want)
		}
	}
	text, err := Encode(c, params)
	if err != nil {
		t.Fatal(err)
	}
	back, again, err := Decode(text)
	if err != nil || !slices.Equal(again, params) {
		t.Fatalf("%v; parameters %v, want %v", err, again, params)
	}
	b := back.(*TreeClasses)
	if b.Kind() != "treeclasses" || b.NumFeatures() != 3 || !slices.Equal(b.Values(), c.Values()) {
		t.Errorf("read back as %+v", b)
	}
	for k, f := range b.Functions() {
		if !reflect.DeepEqual(f.Trees(), c.Functions()[k].Trees()) {
			t.Errorf("function %d is read back as %v", k, f.Trees())
		}
	}
	b.Score(scores, again, x, ws)
	if !slices.Equal(scores, got) {
		t.Error("read back, the scores are others")
	}
}

// Claim: what is no such scorer is refused, with a word about what was found.
func TestTreeClassesRefuse(t *testing.T) {
	one, err := NewTrees(1, nil)
	if err != nil {
		t.Fatal(err)
	}
	two, err := NewTrees(2, nil)
	if err != nil {
		t.Fatal(err)
	}
	for want, of := range map[string]func() error{
		"found 1 values of classes":                  func() error { _, err := NewTreeClasses([]float64{0}, nil); return err },
		"found 1 functions for 3 classes":            func() error { _, err := NewTreeClasses([]float64{0, 1, 2}, []*Trees{one}); return err },
		"found 2 features in function 2, expected 1": func() error { _, err := NewTreeClasses([]float64{0, 1, 2}, []*Trees{one, two}); return err },
	} {
		if err := of(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error is %v, want %s", err, want)
		}
	}
	for text, want := range map[string]string{
		`{"type":"treeclasses","features":1,"values":[0,1]}`:                                                                                                           "found no functions",
		`{"type":"treeclasses","features":0,"values":[0,1],"functions":[[]]}`:                                                                                          `found "features" = 0`,
		`{"type":"treeclasses","features":1,"values":[0,1],"functions":[null]}`:                                                                                        "function 1: found no list of trees",
		`{"type":"treeclasses","features":1,"values":[1,0],"functions":[[]]}`:                                                                                          "not increasing",
		`{"type":"treeclasses","features":1,"values":[0,1],"functions":[[],[]]}`:                                                                                       "found 2 functions for 2 classes",
		`{"type":"treeclasses","features":1,"values":[0,1],"functions":[[{"feature":[2],"threshold":[0],"left":[-1],"right":[-2],"missing_left":[],"values":[0,0]}]]}`: "function 1: tree 1: found feature 2",
	} {
		if _, _, err := Decode([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error is %v, want %s", text, err, want)
		}
	}
}
