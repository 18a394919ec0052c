package model

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/model/fuse"
)

// turned returns d with its features in another order, and their names.
func turned(d *dataset.Dataset, order []int) *dataset.Dataset {
	return d.KeepFeatures(order)
}

// Data whose features have the model's names in another order get the same scores, to the
// bit, whatever the model does to features; with others among them too, if these are to be
// ignored.
func TestScoreByNames(t *testing.T) {
	all := kinds(t)
	rapid.Check(t, func(t *rapid.T) {
		m := *all[rapid.SampledFrom([]string{"linear", "trees", "pairs"}).Draw(t, "kind")]
		m.FeatureNames = []string{"a", "b", "c"}
		m.Normalization = rapid.SampledFrom([]dataset.Normalization{dataset.NoNormalization, dataset.MinMax, dataset.ZScore}).Draw(t, "normalization")
		m.Missing = rapid.SampledFrom([]dataset.Missing{dataset.MissingError, dataset.MissingMin}).Draw(t, "missing")
		if rapid.Bool().Draw(t, "transforms") {
			m.Transforms = threeChains(new(testing.T))
		}
		d := randomQueries(3)
		d.FeatureNames = m.FeatureNames
		if m.Missing == dataset.MissingMin {
			d.Change(func(x []float32) {
				for i := 1; i < len(x); i += 4 {
					x[i] = float32(math.NaN())
				}
			})
		}
		want, err := m.Score(d)
		if err != nil {
			t.Fatal(err)
		}
		other := turned(d, rapid.Permutation([]int{0, 1, 2}).Draw(t, "order"))
		before := slices.Clone(other.X())
		got, err := m.Score(other)
		if err != nil || !slices.Equal(got, want) {
			t.Fatalf("%q: %v, %v, expected %v", other.FeatureNames, got, err, want)
		}
		if !slices.EqualFunc(other.X(), before, func(a, b float32) bool { return a == b || a != a && b != b }) {
			t.Fatal("scoring changed the data")
		}
		wide := d.Widen(5)
		wide.FeatureNames = []string{"a", "b", "c", "d", "e"}
		wide = turned(wide, rapid.Permutation([]int{0, 1, 2, 3, 4}).Draw(t, "wide order"))
		var names *dataset.NamesError
		if _, err := m.Score(wide); !errors.As(err, &names) || len(names.Unexpected) != 2 {
			t.Fatalf("further features: %v", err)
		}
		wide.IgnoreOthers = true
		if got, err := m.Score(wide); err != nil || !slices.Equal(got, want) {
			t.Fatalf("%q: %v, %v, expected %v", wide.FeatureNames, got, err, want)
		}
	})
}

// Data without names go by position, as do models without; names that are not the model's are
// refused.
func TestScoreRefusesOtherNames(t *testing.T) {
	m, d := linear(1, 2, 3), randomQueries(3)
	want, _ := m.Score(d)
	m.FeatureNames = []string{"bm25", "clicks", "age"}
	if got, err := m.Score(d); err != nil || !slices.Equal(got, want) {
		t.Errorf("data without names: %v", err)
	}
	d.FeatureNames = []string{"bm25", "age", "click"}
	if _, err := m.Score(d); err == nil || err.Error() != `found features other than the model's: without "clicks": did you mean "click"?; with "click", which it does not know` {
		t.Errorf("other names: %v", err)
	}
	narrow := d.KeepFeatures([]int{0, 1})
	if _, err := m.Score(narrow); err == nil || !strings.Contains(err.Error(), `without "clicks"`) {
		t.Errorf("fewer names: %v", err)
	}
	m.FeatureNames = m.FeatureNames[:2]
	if _, err := m.Score(d); err == nil || !strings.Contains(err.Error(), "found 2 feature names, expected 3") {
		t.Errorf("a model with too few names: %v", err)
	}
	m.FeatureNames = nil
	if got, err := m.Score(d); err != nil || !slices.Equal(got, want) {
		t.Errorf("a model without names: %v", err)
	}
}

// A missing value in a column that the model does not look at is none for it.
func TestMissingValuesOfOthers(t *testing.T) {
	m, d := linear(1, 2), randomQueries(2).Widen(3)
	m.FeatureNames, d.FeatureNames, d.IgnoreOthers = []string{"b", "a"}, []string{"a", "b", "c"}, true
	d.Change(func(x []float32) { x[2] = float32(math.NaN()) })
	if _, err := m.Score(d); err != nil {
		t.Error(err)
	}
	d.Change(func(x []float32) { x[1] = float32(math.NaN()) })
	if _, err := m.Score(d); err == nil || !strings.Contains(err.Error(), `of feature 2 (b) for document 1`) {
		t.Errorf("a missing value: %v", err)
	}
}

// The members of a fusion find their own features by name, in their own order, and the fusion
// has them all; it comes back from its file, and its scores are its members'.
func TestFusionByNames(t *testing.T) {
	a, b := linear(1, -2), kinds(t)["pairs"]
	a.FeatureNames, b.FeatureNames = []string{"y", "x"}, []string{"z", "x", "w"}
	a.Normalization, b.Normalization = dataset.ZScore, dataset.MinMax
	d := randomQueries(4)
	d.FeatureNames = []string{"w", "x", "y", "z"}
	weights := []float64{0.25, 0.75}
	for _, r := range fusionRules() {
		fused, err := NewFused(r, []*Model{a, b}, weights)
		if err != nil {
			t.Fatal(err)
		}
		if want := []string{"y", "x", "z", "w"}; !slices.Equal(fused.FeatureNames, want) || fused.Scorer.NumFeatures() != 4 {
			t.Fatalf("the fusion has the features %q, expected %q", fused.FeatureNames, want)
		}
		var text bytes.Buffer
		if err := fused.Write(&text); err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(text.String(), "{\n  \"format\": \"listwise-model\",\n  \"version\": 2,") {
			t.Error("a program that takes features by position would take the file")
		}
		back, err := Read(&text)
		if err != nil {
			t.Fatal(err)
		}
		nested, err := NewFused(r, []*Model{back}, []float64{1})
		if err != nil {
			t.Fatal(err)
		}
		var systems [][]float64
		for _, m := range []*Model{a, b} {
			own := *d
			own.IgnoreOthers = true
			s, err := m.Score(&own)
			if err != nil {
				t.Fatal(err)
			}
			systems = append(systems, s)
		}
		want := r.Scores(d, systems, weights)
		for _, m := range []*Model{fused, back} {
			for _, order := range [][]int{{0, 1, 2, 3}, {3, 1, 0, 2}, {2, 1, 3, 0}} {
				if got, err := m.Score(turned(d, order)); err != nil || !slices.Equal(got, want) {
					t.Errorf("%s, order %v: %v, %v, expected %v", r.Kind, order, got, err, want)
				}
			}
		}
		if _, err := nested.Score(d); err != nil {
			t.Error(err)
		}
	}
}

func TestFusionOfNamesThatContradict(t *testing.T) {
	a, b, bare := linear(1, 2), linear(3, 4, 5), linear(6, 7, 8, 9)
	a.FeatureNames, b.FeatureNames = []string{"x", "y"}, []string{"x", "y", "z"}
	fused, err := NewFused(fuse.Rule{Kind: fuse.Borda}, []*Model{a, b, bare}, []float64{1, 1, 1})
	if err != nil || fused.FeatureNames != nil || fused.Scorer.NumFeatures() != 4 {
		t.Errorf("names that agree with positions: %v", err)
	}
	fused, err = NewFused(fuse.Rule{Kind: fuse.Borda}, []*Model{a, linear(1), b}, []float64{1, 1, 1})
	if err != nil || !slices.Equal(fused.FeatureNames, b.FeatureNames) || fused.version() != 1 {
		t.Errorf("the names of the widest: %v", err)
	}
	a.FeatureNames = []string{"y", "x"}
	if _, err := NewFused(fuse.Rule{Kind: fuse.Borda}, []*Model{a, b, bare}, []float64{1, 1, 1}); err == nil || !strings.Contains(err.Error(), "one without names") {
		t.Errorf("names of another order beside a model without: %v", err)
	}
	a.FeatureNames = []string{"y", "y"}
	if _, err := NewFused(fuse.Rule{Kind: fuse.Borda}, []*Model{a, b}, []float64{1, 1}); err == nil || !strings.Contains(err.Error(), `member 1: found two features named "y"`) {
		t.Errorf("a name twice: %v", err)
	}
	a.FeatureNames = []string{"y"}
	if _, err := NewFused(fuse.Rule{Kind: fuse.Borda}, []*Model{a, b}, []float64{1, 1}); err == nil || !strings.Contains(err.Error(), "found 1 feature names, expected 2") {
		t.Errorf("too few names: %v", err)
	}
	a.FeatureNames = []string{"y", "x"}
	fused, err = NewFused(fuse.Rule{Kind: fuse.Borda}, []*Model{a, b}, []float64{1, 1})
	if err != nil {
		t.Fatal(err)
	}
	fused.FeatureNames = []string{"x", "y", "z"}
	if err := fused.Write(&bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), "other feature names than those of the fusion's members") {
		t.Errorf("a fusion of other names than its members': %v", err)
	}
}

// Names of a model file that do not fit are refused, those of a fusion come from its members.
func TestNamesInFiles(t *testing.T) {
	const head = `{"format":"listwise-model","version":1,"normalization":"none","features":`
	member := func(names string) string {
		return head + `{"count":2,"names":` + names + `},"scorer":{"type":"linear","weights":[1,2]}}`
	}
	fusion := func(features, a, b string) string {
		return head + features + `,"scorer":{"type":"fusion","rule":"borda","weights":[1,1],"members":[` + member(a) + "," + member(b) + `]}}`
	}
	m, err := Read(strings.NewReader(fusion(`{"count":3}`, `["a","b"]`, `["c","a"]`)))
	if err != nil || !slices.Equal(m.FeatureNames, []string{"a", "b", "c"}) {
		t.Errorf("a fusion without names of its own: %v", err)
	}
	for text, want := range map[string]string{
		fusion(`{"count":2}`, `["a","b"]`, `["c","a"]`):                       "expected the scorer's 3",
		fusion(`{"count":3,"names":["a","c","b"]}`, `["a","b"]`, `["c","a"]`): "other feature names than those of the fusion's members",
		fusion(`{"count":2}`, `["a","b"]`, `["b","b"]`):                       `member 2: found two features named "b"`,
		fusion(`{"count":2}`, `["b","a"]`, `[]`):                              "",
		fusion(`{"count":2}`, `["a"]`, `["b","a"]`):                           "found 1 feature names, expected 2",
	} {
		if _, err := Read(strings.NewReader(text)); want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s\n%v, expected %q", text, err, want)
		}
	}
}

// Claim: a table that lacks a column of a model without feature names is refused, since later columns would be taken
// for others. Text without names may be narrower.
func TestNarrowTableIsRefused(t *testing.T) {
	m := kinds(t)["linear"]
	d := turned(randomQueries(3), []int{0, 1})
	if _, err := m.Columns(d); err != nil {
		t.Errorf("text: %v", err)
	}
	d.FeatureNames = []string{"a", "c"}
	if _, err := m.Columns(d); err == nil || !strings.Contains(err.Error(), "found 2 named features, expected 3") {
		t.Errorf("a table: error %v", err)
	}
}
