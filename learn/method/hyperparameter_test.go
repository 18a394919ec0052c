package method

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// toy is a method with a hyperparameter of every kind.
func toy() *Method {
	return &Method{Name: "toy", Hyperparameters: []Hyperparameter{
		{Name: "C", Kind: Number, Default: "1e-1", Min: 0, Max: 1e6, Grid: []string{"1e-1", "10"}},
		{Name: "n", Kind: Integer, Default: "5", Min: 0, Max: 1e9},
		{Name: "form", Kind: Choice, Default: "a", Choices: []string{"a", "b"}, Grid: []string{"b", "a"}},
		{Name: "on", Kind: Switch, Default: "true"},
	}}
}

// Spellings of one value are one setting, the default's among them.
func TestCanonical(t *testing.T) {
	m := toy()
	for _, c := range []struct{ name, value, want string }{
		{"C", "0.10", "0.1"}, {"C", "1e-1", "0.1"}, {"C", "+.1", "0.1"}, {"C", "100e-3", "0.1"},
		{"C", "-0", "0"}, {"C", "0", "0"}, {"C", "1000000", "1e+06"},
		{"n", "1e6", "1000000"}, {"n", "1000000", "1000000"}, {"n", "7.0", "7"}, {"n", "-0", "0"},
		{"form", "b", "b"}, {"on", "1", "true"}, {"on", "F", "false"}, {"on", "true", "true"},
	} {
		v, err := m.Values(map[string]string{c.name: c.value})
		if err != nil || v.Text(c.name) != c.want {
			t.Errorf("%s=%s is %q, %v; want %q", c.name, c.value, v.Text(c.name), err, c.want)
		}
	}
	standard, err := m.Values(nil)
	if err != nil {
		t.Fatal(err)
	}
	said, err := m.Values(map[string]string{"C": "0.1", "n": "5", "form": "a", "on": "true"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(standard.Map(), said.Map()); diff != "" {
		t.Errorf("the default is not the same setting as its value (-default +said):\n%s", diff)
	}
}

// The canonical form is a fixed point that keeps the value.
func TestCanonicalKeepsValue(t *testing.T) {
	h := Hyperparameter{Name: "x", Kind: Number, Min: -math.MaxFloat64, Max: math.MaxFloat64}
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.Float64Range(h.Min, h.Max).Draw(t, "v")
		for _, format := range []byte("eg") {
			c, err := h.canonical(strconv.FormatFloat(v, format, -1, 64))
			if err != nil {
				t.Fatal(err)
			}
			if back, err := strconv.ParseFloat(c, 64); err != nil || back != v {
				t.Fatalf("%v became %s", v, c)
			}
			if again, err := h.canonical(c); again != c || err != nil {
				t.Fatalf("%s became %s, %v", c, again, err)
			}
		}
	})
}

func TestValuesErrors(t *testing.T) {
	for _, c := range []struct{ name, value, want string }{
		{"C", "-1", "toy: C=-1: expected a number (0 to 1e+06)"},
		{"C", "1e7", "toy: C=1e7: expected a number (0 to 1e+06)"},
		{"C", "nan", "toy: C=nan: expected a number (0 to 1e+06)"},
		{"C", "inf", "toy: C=inf: expected a number (0 to 1e+06)"},
		{"C", "1e999", "toy: C=1e999: expected a number (0 to 1e+06)"},
		{"C", "", "toy: C=: expected a number (0 to 1e+06)"},
		{"C", "1,2", "toy: C=1,2: expected a number (0 to 1e+06)"},
		{"n", "1.5", "toy: n=1.5: expected a whole number (0 to 1000000000)"},
		{"n", "x", "toy: n=x: expected a whole number (0 to 1000000000)"},
		{"form", "c", "toy: form=c: expected a|b"},
		{"form", "A", `toy: form=A: did you mean "a"?`},
		{"on", "yes", "toy: on=yes: expected true|false"},
		{"c", "1", `toy has no hyperparameter "c": did you mean "C"?`},
		{"frm", "a", `toy has no hyperparameter "frm": did you mean "form"?`},
		{"D", "1", `toy has no hyperparameter "D", expected one of C, n, form, on`},
	} {
		_, err := toy().Values(map[string]string{c.name: c.value})
		if err == nil || err.Error() != c.want {
			t.Errorf("error is %v, want %s", err, c.want)
		}
	}
}

func TestValues(t *testing.T) {
	v, err := toy().Values(map[string]string{"n": "3"})
	if err != nil {
		t.Fatal(err)
	}
	if v.Number("C") != 0.1 || v.Int("n") != 3 || v.Number("n") != 3 || v.Text("form") != "a" || !v.Bool("on") {
		t.Errorf("values are %s", v)
	}
	if want := "C=0.1 n=3 form=a on=true"; v.String() != want {
		t.Errorf("values print as %s, want %s", v, want)
	}
	if diff := cmp.Diff(map[string]any{"C": 0.1, "n": 3.0, "form": "a", "on": true}, v.Typed()); diff != "" {
		t.Errorf("typed values (-expected +got):\n%s", diff)
	}
	v.Map()["C"] = "9"
	if v.Number("C") != 0.1 {
		t.Error("Map is not a copy")
	}
}

// The last hyperparameter of the list varies fastest; an override replaces the
// method's own grid, in the order given.
func TestGrid(t *testing.T) {
	grid, err := toy().Grid(nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []map[string]string{{"C": "0.1", "form": "b"}, {"C": "0.1", "form": "a"}, {"C": "10", "form": "b"}, {"C": "10", "form": "a"}}
	if diff := cmp.Diff(want, grid); diff != "" {
		t.Errorf("grid (-expected +got):\n%s", diff)
	}
	grid, err = toy().Grid(map[string][]string{"C": {"3", "1.0"}, "form": {"a"}, "on": {"0"}})
	if err != nil {
		t.Fatal(err)
	}
	want = []map[string]string{{"C": "3", "form": "a", "on": "false"}, {"C": "1", "form": "a", "on": "false"}}
	if diff := cmp.Diff(want, grid); diff != "" {
		t.Errorf("grid (-expected +got):\n%s", diff)
	}
	plain := &Method{Name: "plain", Hyperparameters: []Hyperparameter{{Name: "on", Kind: Switch, Default: "true"}}}
	if grid, err := plain.Grid(nil); err != nil || len(grid) != 1 || len(grid[0]) != 0 {
		t.Errorf("grid of a method without grids is %v, %v; want one empty setting", grid, err)
	}
}

func TestGridErrors(t *testing.T) {
	for want, override := range map[string]map[string][]string{
		`toy has no hyperparameter "D", expected one of C, n, form, on`: {"D": {"1"}},
		"toy: grid of C is empty":                                  {"C": {}},
		"toy: C=: expected a number (0 to 1e+06)":                  {"C": {""}},
		"toy: C=1e-1: expected different values, found 0.1 before": {"C": {"0.1", "1e-1"}},
	} {
		if _, err := toy().Grid(override); err == nil || err.Error() != want {
			t.Errorf("error is %v, want %s", err, want)
		}
	}
}

func TestRange(t *testing.T) {
	for want, h := range map[string]Hyperparameter{
		"0 to 0.5":       {Kind: Number, Min: 0, Max: 0.5},
		"above 0":        {Kind: Number, Min: leastPositive, Max: unbounded},
		"above 0 to 500": {Kind: Number, Min: leastPositive, Max: 500},
		"1 to 1000000":   {Kind: Integer, Min: 1, Max: 1e6},
		"a|b":            {Kind: Choice, Choices: []string{"a", "b"}},
		"true|false":     {Kind: Switch},
	} {
		if got := h.Range(); got != want {
			t.Errorf("range is %q, want %q", got, want)
		}
	}
}

// Of every registered method: defaults and grids are values it accepts, names are
// different, and the description of the range fits a table.
func TestRegisteredHyperparameters(t *testing.T) {
	for _, m := range List() {
		seen := map[string]bool{}
		for _, h := range m.Hyperparameters {
			if seen[h.Name] {
				t.Errorf("%s has two hyperparameters %s", m.Name, h.Name)
			}
			seen[h.Name] = true
			if h.Doc == "" || h.Range() == "" || strings.Contains(h.Doc, "\n") {
				t.Errorf("%s: %s is not described", m.Name, h.Name)
			}
			if _, err := h.canonical(h.Default); err != nil {
				t.Errorf("%s: default: %v", m.Name, err)
			}
			if m.IsNumber(h.Name) != (h.Kind == Number || h.Kind == Integer) {
				t.Errorf("%s: IsNumber(%s) is wrong", m.Name, h.Name)
			}
		}
		if _, err := m.Grid(nil); err != nil {
			t.Errorf("%s: %v", m.Name, err)
		}
		if m.IsNumber("none") {
			t.Errorf("%s: IsNumber of what does not exist", m.Name)
		}
	}
}

// Networks have grids of their own where a hyperparameter has one for them.
func TestGridOfNetworks(t *testing.T) {
	m := lookup(t, "listnet")
	for kind, want := range map[string]int{"": 7, linearScorer: 7, networkScorer: 4} {
		grid, err := m.GridOf(kind, nil)
		if err != nil || len(grid) != want {
			t.Errorf("scorer %q: %d settings, error %v, want %d", kind, len(grid), err, want)
		}
	}
	grid, err := m.GridOf(networkScorer, map[string][]string{"C": {"1", "2", "3"}})
	if err != nil || len(grid) != 6 || grid[0]["C"] != "1" || grid[0]["rate"] == "" {
		t.Errorf("%v, error %v, want C of the override and the rates of networks", grid, err)
	}
	if m := lookup(t, "boltzrank2"); m.Scorers()[0] == pairScorer {
		standard, err := m.Grid(nil)
		pair, err2 := m.GridOf(pairScorer, nil)
		if diff := cmp.Diff(pair, standard); diff != "" || err != nil || err2 != nil {
			t.Errorf("the default is not the pair network's: %s %v %v", diff, err, err2)
		}
	}
}

// A setting that would do nothing beside the others is an error that names what it needs.
func TestIdleSettings(t *testing.T) {
	m, err := Lookup("lambdamart")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		set  map[string]string
		want string
	}{
		{map[string]string{"dropout": "0.2"}, "dropout=0.2 has no effect with boosting=gradient, expected boosting=dart beside it"},
		{map[string]string{"dropout_skip": "0", "boosting": "forest"}, "dropout_skip=0 has no effect with boosting=forest, expected boosting=dart beside it"},
		{map[string]string{"category_smoothing": "3"}, "category_smoothing=3 has no effect with categorical=none, expected categorical=… beside it"},
		{map[string]string{"dropout": "0.2", "boosting": "dart"}, ""},
		{map[string]string{"dropout": "0.10", "category_smoothing": "10", "boosting": "gradient"}, ""},
		{map[string]string{"category_smoothing": "3", "categorical": "2"}, ""},
	} {
		v, err := m.Values(c.set)
		if err != nil {
			t.Fatal(err)
		}
		err = v.Idle()
		if c.want == "" && err != nil || c.want != "" && (err == nil || err.Error() != c.want) {
			t.Errorf("%v: the error is %v, want %s", c.set, err, c.want)
		}
	}
	for _, m := range List() {
		for _, h := range m.Hyperparameters {
			if other, _, ok := strings.Cut(strings.ReplaceAll(h.Needs, "≠", "="), "="); ok {
				if _, err := m.hyperparameter(other); err != nil {
					t.Errorf("%s needs %s: %v", h.Name, h.Needs, err)
				}
			}
		}
	}
}
