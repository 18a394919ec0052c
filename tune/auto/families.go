package auto

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/transform"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/internal/random"
	"github.com/listwise/listwise/learn/method"
	"github.com/listwise/listwise/tune"
)

// form is a representation of the features: the views and the transforms that a scorer gets.
type form struct {
	name       string
	views      dataset.Views
	transforms []string
}

var (
	raw      = form{name: "raw"}
	relative = form{name: "raw-rank-zscore", views: dataset.Views{dataset.RawView, dataset.RankView, dataset.ZScoreView}}
	scaled   = form{name: "log1p-standard", transforms: []string{"log1p", "standard"}} // of features that are not sparse
)

// formsOf returns the forms for families with a kind of scorer. Trees do not depend on the scales of features, so they
// have no form with other scales.
func formsOf(kind string) []form {
	if kind == "trees" || kind == "stumps" {
		return []form{raw, relative}
	}
	return []form{raw, relative, scaled}
}

// others are the methods of families that are not in the portfolio, the most promising first. The list omits baselines,
// and methods that take minutes on a few hundred queries and were best on no data set.
var others = []string{
	"lambdamart", "mart", "yetirank", "xendcg", "listnet", "boltzrank1", "lambdarank", "approxndcg", "ranknet", "listmle", "lambdaloss",
	"yetiloss", "stochasticrank", "rankcosine", "convexloss", "regression", "ranksvm", "rankboost", "coordascent", "mcrank", "boltzrank2",
}

// planned is a trial of the portfolio.
type planned struct {
	method, kind string
	form         form
	set          map[string]string // hyperparameters that differ from the defaults
}

// family returns the name of the trial's family.
func (p *planned) family() string { return p.method + "." + p.kind + "." + p.form.name }

// sampled and symmetric are settings of trees that differ from the defaults. sampled draws a sample of the queries and
// the features for each tree. symmetric grows symmetric trees, which overfit less.
var (
	sampled   = map[string]string{"query_fraction": "0.75", "feature_fraction": "0.3"}
	symmetric = map[string]string{"growth": "symmetric", "leaves": "64", "feature_fraction": "0.5"}
)

// starts has the hyperparameters of a family's first trial that differ from the defaults, by kind of scorer. The factors
// of a factorization machine overfit without a strong penalty.
var starts = map[string]map[string]string{
	"fm": {"C": "2", "epochs": "50", "decay": "0.8"},
}

// portfolio lists the first trials. They differ as much as possible, and any prefix has a good ranker. LambdaMART is
// second, since it does not depend on the scales of features. Then linear functions come before trees and networks:
// their trainings are short, and on thousands of sparse features they are also better.
var portfolio = []planned{
	{"regression", "linear", raw, nil},
	{"lambdamart", "trees", raw, nil},
	{"lambdarank", "linear", relative, nil},
	{"lambdarank", "linear", raw, nil},
	{"listnet", "linear", scaled, nil},
	{"mart", "trees", raw, symmetric},
	{"listnet", "fm", scaled, starts["fm"]},
	{"yetirank", "trees", raw, symmetric},
	{"lambdarank", "net", scaled, nil},
	{"lambdamart", "trees", relative, sampled},
	{"convexloss", "trees", raw, sampled},
	{"listnet", "trees", raw, symmetric},
	{"boltzrank1", "trees", raw, sampled},
}

// choices has the values of hyperparameters from which settings are drawn, by kind of scorer. They replace the grids of
// the methods.
var choices = map[string]map[string][]string{
	"trees": {
		"trees":            {"500"},
		"growth":           {"leaf", "symmetric"},
		"patience":         {"50"},
		"leaves":           {"6", "8", "12", "16", "24", "32", "64"},
		"rate":             {"0.03", "0.05", "0.1"},
		"leaf_documents":   {"5", "10", "20", "50"},
		"l2":               {"0", "1", "10"},
		"query_fraction":   {"0.5", "0.75", "1"},
		"feature_fraction": {"0.2", "0.4", "0.7", "1"},
		"normalize":        {"gap", "none", "both"},
	},
	"fm": {
		"C":       {"0.5", "1", "2", "4", "8"},
		"factors": {"4", "8", "16"},
		"rate":    {"0.003", "0.01"},
		"epochs":  {"50"},
		"decay":   {"0.8"},
	},
	"net": {
		"hidden": {"10", "20", "40", "80"},
		"bag":    {"1", "3"},
	},
}

// fastRate is the learning rate of trees if they learn too slowly, see [Trial.slow]. Elsewhere it is worse than lower rates.
const fastRate = "0.15"

// own returns the first trials of the methods besides those of the catalogue.
func (c *Config) own() (trials []planned) {
	for _, m := range c.Methods {
		for _, kind := range m.Scorers() {
			p := planned{m.Name, kind, scaled, starts[kind]}
			if kind == "trees" {
				p.form, p.set = raw, symmetric
			}
			trials = append(trials, p)
		}
	}
	return trials
}

// family is a method with a kind of scorer and a form of the features.
type family struct {
	entry      int // index of the family's entry in the configuration of package tune
	name       string
	method     *method.Method
	kind, form string
	grid       map[string][]string // the values of hyperparameters to draw from
	drawn      []method.Values     // the settings of its trials, in order
}

// catalogue returns all families, beginning with those of Methods and of the portfolio, and their entries. It omits
// families whose models the target cannot run.
func (c *Config) catalogue() (all []*family, entries []tune.Entry, err error) {
	scaling := c.scaling()
	add := func(m *method.Method, kind string, f form) error {
		name := m.Name + "." + kind + "." + f.name
		if c.Target != nil && (f.name != raw.name || !slices.Contains(c.Target.Scorers(), kind)) ||
			slices.ContainsFunc(all, func(f *family) bool { return f.name == name }) {
			return nil
		}
		e, grid, err := c.entry(m, kind, f, scaling)
		if err != nil {
			return err
		}
		e.Name = name
		all = append(all, &family{len(entries), name, e.Method, kind, f.name, grid, nil})
		entries = append(entries, e)
		return nil
	}
	addAll := func(m *method.Method) error {
		for _, kind := range m.Scorers() {
			for _, f := range formsOf(kind) {
				if err := add(m, kind, f); err != nil {
					return err
				}
			}
		}
		return nil
	}
	for i, m := range c.Methods {
		if _, err := method.Lookup(m.Name); err == nil || slices.ContainsFunc(c.Methods[:i], func(o *method.Method) bool { return o.Name == m.Name }) {
			return nil, nil, fmt.Errorf("found the method %s twice, expected different names, which the catalogue does not have", m.Name)
		}
		if err := addAll(m); err != nil {
			return nil, nil, err
		}
	}
	for _, p := range portfolio {
		m, err := method.Lookup(p.method)
		if err == nil {
			err = add(m, p.kind, p.form)
		}
		if err != nil {
			return nil, nil, err
		}
	}
	for _, name := range others {
		m, err := method.Lookup(name)
		if err == nil {
			err = addAll(m)
		}
		if err != nil {
			return nil, nil, err
		}
	}
	return all, entries, nil
}

// mostRanges is the largest number of ranges of features in a transform of a trial.
const mostRanges = 1000

// scaling returns what limits a transform to the features that it should change: "" if these are all, "none" if there are
// none. It leaves features alone that are 0 in three quarters of the documents and within ±1, as one-hot features are.
// Standardization would give their rare values a large influence. Ranges are numbers even if a feature's name is a number.
// Above mostRanges ranges, which would make commands too long, it limits nothing.
func (c *Config) scaling() string {
	if c.Data == nil || c.Target != nil { // for a target, all families have raw features
		return ""
	}
	zeros, large := make([]int, c.Data.Features), make([]bool, c.Data.Features)
	rows := c.Data.Reader()
	for i := range c.Data.Queries {
		for x := rows.At(i); len(x) > 0; x = x[len(zeros):] {
			for j, v := range x[:len(zeros)] {
				if v == 0 {
					zeros[j]++
				}
				large[j] = large[j] || v < -1 || v > 1
			}
		}
	}
	changed := func(j int) bool { return large[j] || 4*zeros[j] < 3*c.Data.Docs() }
	var ranges []string
	all := true
	for j := 0; j < len(zeros); j++ {
		from := j
		for j < len(zeros) && changed(j) {
			j++
		}
		if j > from {
			ranges = append(ranges, fmt.Sprintf("%d..%d", from+1, j))
		}
		all = all && j == len(zeros)
	}
	switch {
	case all || len(ranges) > mostRanges:
		return ""
	case ranges == nil:
		return "none"
	}
	return ":" + strings.Join(ranges, ",")
}

// entry returns the entry of a family, and the values of hyperparameters from which its settings are drawn. scaling is
// the result of Config.scaling.
func (c *Config) entry(m *method.Method, kind string, f form, scaling string) (e tune.Entry, grid map[string][]string, err error) {
	of, err := m.For(kind)
	if err != nil {
		return e, nil, err
	}
	own := tune.Variant{Scorer: kind, Views: f.views, Transforms: slices.Clone(c.Tune.Transforms), Seed: c.Tune.Seed}
	var steps []string
	if scaling != "none" {
		for _, step := range f.transforms {
			steps = append(steps, step+scaling)
		}
	}
	if kind != "trees" && c.keepsMissing() {
		steps = slices.Concat([]string{"fill=mean"}, steps)
	}
	for _, text := range steps {
		step, err := transform.ParseSpec(text)
		if err != nil {
			return e, nil, err
		}
		own.Transforms = append(own.Transforms, step)
	}
	e = tune.Entry{Method: of, Own: &own}
	if m.UsesMeasure {
		if e.Measure, err = measure.Parse(m.DefaultMeasure, c.Tune.Convention, measure.Options{}); err != nil {
			return e, nil, err
		}
	}
	standard, err := of.Values(nil)
	if err != nil {
		return e, nil, err
	}
	e.Settings = []tune.Setting{standard}
	override := maps.Clone(choices[kind])
	maps.DeleteFunc(override, func(name string, _ []string) bool { return !slices.Contains(standard.Names(), name) })
	points, err := of.GridOf(kind, nil)
	if err != nil {
		return e, nil, err
	}
	grid = make(map[string][]string)
	for _, point := range points {
		for name, value := range point {
			if !slices.Contains(grid[name], value) {
				grid[name] = append(grid[name], value)
			}
		}
	}
	maps.Copy(grid, override)
	return e, grid, nil
}

// keepsMissing reports whether the configuration leaves missing values missing. Trees then learn a direction for
// missing values. For other scorers, entry replaces missing values by the mean of the feature.
func (c *Config) keepsMissing() bool {
	fills := func(s transform.Spec) bool { return strings.HasPrefix(s.String(), transform.Fill{}.Name()) }
	return c.Tune.Missing == dataset.MissingKeep && !slices.ContainsFunc(c.Tune.Transforms, fills)
}

// draw returns a setting for the family's next trial. ok is false if it finds no setting that was not tried. The first
// setting has the values of starts, and otherwise the defaults. In every other setting, each hyperparameter is drawn from the grid or, with
// probability 1/2, copied from best. best is the best trial so far with the same kind of scorer, or nil.
func (f *family) draw(seed uint64, best *Trial) (v method.Values, ok bool, err error) {
	const tries = 50
	for try := range tries {
		set := best.hurried(f.method, starts[f.kind])
		if len(f.drawn) > 0 {
			rng := random.Stream(seed, "setting of "+f.name, strconv.Itoa(len(f.drawn))+" "+strconv.Itoa(try))
			for _, name := range slices.Sorted(maps.Keys(f.grid)) {
				values := f.grid[name]
				set[name] = values[rng.IntN(len(values))]
				if value, has := best.own(f.kind, name); rng.IntN(2) == 0 && has {
					set[name] = value
				}
			}
			set = best.hurried(f.method, set)
		}
		if v, err = f.method.Values(set); err != nil {
			return v, false, fmt.Errorf("%s: %w", f.name, err)
		}
		if f.tried(v) {
			continue
		}
		return v, true, nil
	}
	return v, false, nil
}

func (f *family) tried(v method.Values) bool {
	return slices.ContainsFunc(f.drawn, func(d method.Values) bool { return d.String() == v.String() })
}
