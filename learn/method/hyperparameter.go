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
	Columns             // features of the data, counted from 1 as in LETOR text, or none
	Signed              // the same, each with a sign
	Groups              // lists of these
)

// Hyperparameter is a setting of a method that is not learned.
type Hyperparameter struct {
	Name    string
	Kind    Kind
	Default string
	Min     float64  // of numbers, inclusive
	Max     float64  // likewise
	Choices []string // of a Choice
	Grid    []string // what tune tries unless told otherwise; nil: only Default
	Doc     string   // one line

	// Needs is a setting, name=value, without which this one has no effect, or with name≠value the
	// one with which it has none; empty: it always has.
	Needs string

	// Auto is whether a number may also be "auto": the value that fits the data, which Train
	// puts in its place.
	Auto bool

	// NetworkGrid takes the place of Grid for networks, unless it is nil.
	NetworkGrid []string

	notOnTrees bool // of a loss, but it says how a penalty or an optimiser counts that trees do not have
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

// Bounds of a Number that may be any positive one: far from where squares and
// inverses overflow.
const (
	leastPositive = 1e-100
	unbounded     = 1e100
)

// canonical checks a value and returns its canonical text, so that 0.10 and 1e-1 are the same
// setting.
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

// Values are a method's hyperparameters, complete and checked: made by
// [Method.Values] alone.
type Values struct {
	method *Method
	text   map[string]string
	given  map[string]bool // the names of those that are no defaults put in place
}

// Values completes the given settings with the defaults. An unknown name or a value out of range
// is a *ProblemError that lists the known names.
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

// Idle returns an error if one of the settings is not its default, and has no effect beside the
// others.
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

// IsNumber reports whether the method has a hyperparameter of that name whose values are
// numbers.
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

// Names returns the names of the hyperparameters, in the order of the method's list.
func (v Values) Names() []string {
	names := make([]string, len(v.method.Hyperparameters))
	for i := range names {
		names[i] = v.method.Hyperparameters[i].Name
	}
	return names
}

// IsNumber reports whether the method has a hyperparameter of that name whose values are
// numbers.
func (v Values) IsNumber(name string) bool { return v.method.IsNumber(name) }

// String returns the settings as k=v, in the order of the method's list.
func (v Values) String() string {
	var parts []string
	for _, h := range v.method.Hyperparameters {
		parts = append(parts, h.Name+"="+v.text[h.Name])
	}
	return strings.Join(parts, " ")
}

// Text returns the canonical text of a hyperparameter.
func (v Values) Text(name string) string {
	text, ok := v.text[name]
	if !ok {
		panic(fmt.Sprintf("method: %s has no hyperparameter %q", v.method.Name, name))
	}
	return text
}

// with returns the values with one of them, a number, replaced.
func (v Values) with(name string, number float64) Values {
	return v.withText(name, strconv.FormatFloat(number, 'g', -1, 64))
}

// withText returns the values with the canonical text of one of them replaced.
func (v Values) withText(name, text string) Values {
	own := v
	own.text = maps.Clone(v.text)
	own.text[name] = text
	return own
}

// IsDefault reports whether a hyperparameter has its default.
func (v Values) IsDefault(name string) bool {
	h, err := v.method.hyperparameter(name)
	if err != nil {
		return false
	}
	standard, err := h.canonical(h.Default)
	return err == nil && v.Text(name) == standard
}

// Number returns a Number or Integer, but none that is still auto, as float64.
func (v Values) Number(name string) float64 {
	f, err := strconv.ParseFloat(v.Text(name), 64)
	if err != nil {
		panic(fmt.Sprintf("method: %s is no number: %v", name, err))
	}
	return f
}

// Int returns an Integer.
func (v Values) Int(name string) int { return int(v.Number(name)) }

// Bool returns a Switch.
func (v Values) Bool(name string) bool { return v.Text(name) == "true" }

// Typed returns the settings as numbers, strings and booleans, for JSON.
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

// Map returns a copy of the settings' canonical texts.
func (v Values) Map() map[string]string { return maps.Clone(v.text) }

// Grid returns every combination of the method's default grids, each overridden
// by the entry of the same name in override, as settings for [Method.Values].
// The last hyperparameter of the method's list varies fastest; values keep the
// order in which they are given. An empty grid, or a value given twice, is an
// error. The grids belong to the method's default scorer.
func (m *Method) Grid(override map[string][]string) ([]map[string]string, error) {
	return m.GridOf("", override)
}

// GridOf is Grid with the default grids of a kind of scorer; the empty string means the
// method's default.
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

// gridOf returns the grid for a kind of scorer, nil for only the default.
func (h *Hyperparameter) gridOf(kind string) []string {
	if h.NetworkGrid != nil && (kind == networkScorer || kind == pairScorer) {
		return h.NetworkGrid
	}
	return h.Grid
}

// canonicalList returns the canonical forms of values that are all different.
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

// auto is the text of a hyperparameter that the data decide on.
const auto = "auto"

// thresholdName is the hyperparameter that splits documents into relevant and
// irrelevant ones.
const thresholdName = "threshold"

// threshold is that hyperparameter; when reports for which settings it matters.
func threshold(when string) Hyperparameter {
	return Hyperparameter{
		Name: thresholdName, Kind: Number, Default: auto, Auto: true, Min: leastPositive, Max: unbounded,
		Doc: "lowest grade that counts as relevant; auto: that of the measures, 1 among whole grades, else the smallest positive grade" + when,
	}
}

// settle puts the threshold of a convention in place.
func (p *Problem) settle(c measure.Convention) {
	p.relevant = c
	if _, err := p.Values.method.hyperparameter(thresholdName); err == nil && p.Values.Text(thresholdName) == auto {
		p.Values = p.Values.with(thresholdName, c.Threshold())
	}
}

// largestWork is a hyperparameter of all methods that have a loss on scores. Its
// default is about 10 seconds a pass, or a gigabyte, for one query.
var largestWork = Hyperparameter{
	Name: "largest_work", Kind: Number, Default: "1e10", Min: 1, Max: unbounded,
	Doc: "operations, of about a nanosecond each, that one query may take a pass, and ten times the bytes of memory that it may take; a query that needs more of either is refused before training",
}

// redraw is a hyperparameter of the methods whose loss draws random numbers; when
// says of which settings that is true.
func redraw(what, when string) Hyperparameter {
	return Hyperparameter{Name: "redraw", Kind: Switch, Default: "false", Doc: "draw " + what + " again for every epoch of descent or every tree, not once" + when}
}

// redrawAnew is redraw where it is the default, as in the papers.
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
