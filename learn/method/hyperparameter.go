package method

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/internal/suggest"
	"github.com/listwise/listwise/learn/train"
)

// Kind is the type of a hyperparameter's values.
type Kind int

// The kinds of hyperparameters.
const (
	Number  Kind = iota // a float64 in [Min, Max]
	Integer             // a whole number in [Min, Max]
	Choice              // one of Choices
	Switch              // true or false
	Columns             // features, counted from 1 as in LETOR text, or none
	Signed              // features, each with a sign, or none
	Groups              // groups of features, or none
)

// Hyperparameter describes a setting that the user chooses and that training does not learn.
type Hyperparameter struct {
	Name    string
	Kind    Kind
	Default string
	Min     float64  // smallest number allowed
	Max     float64  // largest number allowed
	Choices []string // values of a Choice
	Grid    []string // values that tune tries by default; nil means only Default
	Doc     string   // help text of one line

	// Needs is the setting, as name=value, without which this one has no effect. As name≠value it is the setting with
	// which this one has no effect. Empty means that this one always has an effect.
	Needs string

	// Auto reports whether a number may also be "auto". Train replaces auto by the value that fits the data.
	Auto bool

	// NetworkGrid and FMGrid replace Grid for networks and for factorization machines, unless they are nil.
	NetworkGrid, FMGrid []string

	notOnTrees bool // a hyperparameter of a loss that has no effect on trees
}

// Range describes the allowed values in a few characters.
func (h *Hyperparameter) Range() string {
	switch h.Kind {
	case Choice:
		return strings.Join(h.Choices, "|")
	case Switch:
		return "true|false"
	case Columns, Signed, Groups:
		return columnForms[h.Kind]
	}
	format := byte('g')
	if h.Kind == Integer {
		format = 'f'
	}
	least, most := strconv.FormatFloat(h.Min, format, -1, 64), strconv.FormatFloat(h.Max, format, -1, 64)
	switch {
	case h.Auto:
		return "auto or above 0"
	case h.Min == leastPositive && h.Max == unbounded:
		return "above 0"
	case h.Min == leastPositive:
		least = "above 0"
	}
	return least + " to " + most
}

// Bounds of a Number that may be any positive one. Their squares and inverses do not overflow.
const (
	leastPositive = 1e-100
	unbounded     = 1e100
)

// canonical checks a value and returns its canonical text. For example, 0.10 and 1e-1 have the same canonical text.
func (h *Hyperparameter) canonical(value string) (string, error) {
	if h.Auto && value == auto {
		return auto, nil
	}
	switch h.Kind {
	case Number, Integer:
		v, err := strconv.ParseFloat(value, 64)
		if err == nil && v >= h.Min && v <= h.Max {
			v += 0 // −0 is 0
			if h.Kind == Number {
				return strconv.FormatFloat(v, 'g', -1, 64), nil
			}
			if v == math.Trunc(v) {
				return strconv.FormatFloat(v, 'f', -1, 64), nil
			}
		}
		what := "a number"
		if h.Kind == Integer {
			what = "a whole number"
		}
		return "", fmt.Errorf("%s=%s: expected %s (%s)", h.Name, value, what, h.Range())
	case Choice:
		if slices.Contains(h.Choices, value) {
			return value, nil
		}
		return "", fmt.Errorf("%s=%s%s", h.Name, value, suggest.Or(value, h.Choices, ": expected "+h.Range()))
	case Switch:
		if v, err := strconv.ParseBool(value); err == nil {
			return strconv.FormatBool(v), nil
		}
	case Columns, Signed, Groups:
		text, err := canonicalColumns(h.Kind, value)
		if err != nil {
			return "", fmt.Errorf("%s=%s: %w, expected %s", h.Name, value, err, h.Range())
		}
		return text, nil
	}
	return "", fmt.Errorf("%s=%s: expected %s", h.Name, value, h.Range())
}

// Values contains a value for each hyperparameter of a method. All values are valid. Only [Method.Values] makes
// Values.
type Values struct {
	method *Method
	text   map[string]string
	given  map[string]bool // names set by the caller
}

// Values returns the given settings, and defaults for all other hyperparameters. An unknown name or an invalid value
// is a *ProblemError, which lists the known names or the valid values.
func (m *Method) Values(set map[string]string) (Values, error) {
	text, given := make(map[string]string, len(m.Hyperparameters)), make(map[string]bool, len(set))
	for i := range m.Hyperparameters {
		h := &m.Hyperparameters[i]
		standard, err := h.canonical(h.Default)
		if err != nil {
			panic(fmt.Sprintf("method: default of %s: %v", m.Name, err))
		}
		text[h.Name] = standard
	}
	for _, name := range slices.Sorted(maps.Keys(set)) {
		h, err := m.hyperparameter(name)
		if err != nil {
			return Values{}, err
		}
		if text[name], err = h.canonical(set[name]); err != nil {
			return Values{}, train.BadProblem("%s: %w", m.Name, err)
		}
		given[name] = true
	}
	return Values{method: m, text: text, given: given}, nil
}

// Idle returns a *ProblemError if a value that is not the default has no effect, because of another value
// ([Hyperparameter.Needs]).
func (v Values) Idle() error {
	for _, h := range v.method.Hyperparameters {
		if h.Needs == "" || v.IsDefault(h.Name) {
			continue
		}
		other, wanted, differs := strings.Cut(h.Needs, "≠")
		if !differs {
			other, wanted, _ = strings.Cut(h.Needs, "=")
		}
		if value := v.Text(other); (value == wanted) == differs {
			return train.BadProblem("%s=%s has no effect with %s=%s, expected %s beside it", h.Name, v.Text(h.Name), other, value, strings.ReplaceAll(h.Needs, "≠"+wanted, "=…"))
		}
	}
	return nil
}

// IsNumber reports whether the method has a Number or Integer of the given name.
func (m *Method) IsNumber(name string) bool {
	h, err := m.hyperparameter(name)
	return err == nil && (h.Kind == Number || h.Kind == Integer)
}

func (m *Method) hyperparameter(name string) (*Hyperparameter, error) {
	names := make([]string, len(m.Hyperparameters))
	for i := range m.Hyperparameters {
		if m.Hyperparameters[i].Name == name {
			return &m.Hyperparameters[i], nil
		}
		names[i] = m.Hyperparameters[i].Name
	}
	if own := foreignSettings[strings.ToLower(name)]; slices.Contains(names, own) {
		return nil, train.BadProblem("%s has no hyperparameter %q: it is called %s here", m.label(), name, own)
	}
	return nil, train.BadProblem("%s has no hyperparameter %q%s", m.label(), name, suggest.Or(name, names, ", expected one of "+strings.Join(names, ", ")))
}

// Names returns the names of the hyperparameters in the order of Method.Hyperparameters.
func (v Values) Names() []string {
	names := make([]string, len(v.method.Hyperparameters))
	for i := range names {
		names[i] = v.method.Hyperparameters[i].Name
	}
	return names
}

// IsNumber reports whether the method has a Number or Integer of the given name.
func (v Values) IsNumber(name string) bool { return v.method.IsNumber(name) }

// String returns the values as name=value, separated by spaces, in the order of Method.Hyperparameters.
func (v Values) String() string {
	var parts []string
	for _, h := range v.method.Hyperparameters {
		parts = append(parts, h.Name+"="+v.text[h.Name])
	}
	return strings.Join(parts, " ")
}

// Text returns the canonical text of a hyperparameter. It panics if the method does not have the hyperparameter.
func (v Values) Text(name string) string {
	text, ok := v.text[name]
	if !ok {
		panic(fmt.Sprintf("method: %s has no hyperparameter %q", v.method.Name, name))
	}
	return text
}

// with returns a copy of the values with one number replaced.
func (v Values) with(name string, number float64) Values {
	return v.withText(name, strconv.FormatFloat(number, 'g', -1, 64))
}

// withText returns a copy of the values with one canonical text replaced.
func (v Values) withText(name, text string) Values {
	own := v
	own.text = maps.Clone(v.text)
	own.text[name] = text
	return own
}

// IsDefault reports whether the method has the hyperparameter and its value is the default.
func (v Values) IsDefault(name string) bool {
	h, err := v.method.hyperparameter(name)
	if err != nil {
		return false
	}
	standard, err := h.canonical(h.Default)
	return err == nil && v.Text(name) == standard
}

// Number returns a Number or Integer as float64. It panics if the value is auto.
func (v Values) Number(name string) float64 {
	f, err := strconv.ParseFloat(v.Text(name), 64)
	if err != nil {
		panic(fmt.Sprintf("method: %s is no number: %v", name, err))
	}
	return f
}

// Int returns the value of an Integer.
func (v Values) Int(name string) int { return int(v.Number(name)) }

// Bool returns the value of a Switch.
func (v Values) Bool(name string) bool { return v.Text(name) == "true" }

// Typed returns the values as numbers, strings and booleans, for JSON.
func (v Values) Typed() map[string]any {
	typed := make(map[string]any, len(v.text))
	for _, h := range v.method.Hyperparameters {
		switch h.Kind {
		case Number, Integer:
			typed[h.Name] = v.text[h.Name]
			if v.text[h.Name] != auto {
				typed[h.Name] = v.Number(h.Name)
			}
		case Switch:
			typed[h.Name] = v.Bool(h.Name)
		default:
			typed[h.Name] = v.text[h.Name]
		}
	}
	return typed
}

// Map returns a copy of the canonical texts.
func (v Values) Map() map[string]string { return maps.Clone(v.text) }

// Grid returns every combination of values for [Method.Values]. The values of a hyperparameter are those in override
// or else its default grid for the method's default scorer. The last hyperparameter of the method varies fastest, and
// values keep their order. An empty grid or a repeated value in override is an error.
func (m *Method) Grid(override map[string][]string) ([]map[string]string, error) {
	return m.GridOf("", override)
}

// GridOf does what Grid does, with the default grids for a kind of scorer. An empty kind means the default scorer.
func (m *Method) GridOf(kind string, override map[string][]string) ([]map[string]string, error) {
	m, err := m.For(kind)
	if err != nil {
		return nil, err
	}
	if kind == "" {
		kind = m.Scorers()[0]
	}
	for _, name := range slices.Sorted(maps.Keys(override)) {
		if _, err := m.hyperparameter(name); err != nil {
			return nil, err
		}
		if len(override[name]) == 0 {
			return nil, train.BadProblem("%s: grid of %s is empty", m.Name, name)
		}
	}
	grid := []map[string]string{{}}
	for i := range m.Hyperparameters {
		h := &m.Hyperparameters[i]
		values, ok := override[h.Name]
		if !ok {
			values = h.gridOf(kind)
		}
		if values == nil {
			continue
		}
		values, err := h.canonicalList(values)
		if err != nil {
			return nil, train.BadProblem("%s: %w", m.Name, err)
		}
		var next []map[string]string
		for _, base := range grid {
			for _, value := range values {
				point := maps.Clone(base)
				point[h.Name] = value
				next = append(next, point)
			}
		}
		grid = next
	}
	return grid, nil
}

// gridOf returns the default grid for a kind of scorer. nil means only the default value.
func (h *Hyperparameter) gridOf(kind string) []string {
	if h.NetworkGrid != nil && (kind == networkScorer || kind == pairScorer) {
		return h.NetworkGrid
	}
	if h.FMGrid != nil && kind == fmScorer {
		return h.FMGrid
	}
	return h.Grid
}

// canonicalList returns the canonical forms of values. A repeated value is an error.
func (h *Hyperparameter) canonicalList(values []string) ([]string, error) {
	var list []string
	for i, value := range values {
		c, err := h.canonical(value)
		if err != nil {
			return nil, err
		}
		if k := slices.Index(list, c); k >= 0 {
			return nil, fmt.Errorf("%s=%s: expected different values, found %s before", h.Name, values[i], values[k])
		}
		list = append(list, c)
	}
	return list, nil
}

// auto is the value of a hyperparameter that Train replaces by a value that fits the data.
const auto = "auto"

// thresholdName is the name of the hyperparameter that divides documents into relevant and irrelevant ones.
const thresholdName = "threshold"

// threshold returns the hyperparameter threshold. when is appended to the help text.
func threshold(when string) Hyperparameter {
	return Hyperparameter{
		Name: thresholdName, Kind: Number, Default: auto, Auto: true, Min: leastPositive, Max: unbounded,
		Doc: "lowest relevant grade; auto: the measures' threshold, which is 1 for whole grades and otherwise the smallest positive grade" + when,
	}
}

// settle replaces an auto threshold by the threshold of the convention.
func (p *Problem) settle(c measure.Convention) {
	p.relevant = c
	if _, err := p.Values.method.hyperparameter(thresholdName); err == nil && p.Values.Text(thresholdName) == auto {
		p.Values = p.Values.with(thresholdName, c.Threshold())
	}
}

// largestWork is a hyperparameter of all methods with a loss on scores. Its default corresponds to about 10 seconds a
// pass, or a gigabyte, for one query.
var largestWork = Hyperparameter{
	Name: "largest_work", Kind: Number, Default: "1e10", Min: 1, Max: unbounded,
	Doc: "limit of the work for one query in a pass: operations (about a nanosecond each), or ten times the bytes of memory if that is more; a larger query is an error",
}

// redraw returns a hyperparameter of methods whose loss draws random numbers. what names the draws, and when says for
// which settings the loss makes them.
func redraw(what, when string) Hyperparameter {
	return Hyperparameter{Name: "redraw", Kind: Switch, Default: "false", Doc: "draw " + what + " again for every epoch of descent or every tree" + when}
}

// redrawAnew returns redraw with the default true, as in the papers.
func redrawAnew(what, when string) Hyperparameter {
	h := redraw(what, when)
	h.Default = "true"
	return h
}

// redraws reports whether the loss repeats its random draws for every epoch or tree.
func (p *Problem) redraws() bool {
	_, err := p.Values.method.hyperparameter("redraw")
	return err == nil && p.Values.Bool("redraw")
}
