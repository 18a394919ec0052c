package auto

import (
	"fmt"
	"slices"
	"strings"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/internal/random"
	"github.com/listwise/listwise/learn/method"
	"github.com/listwise/listwise/tune"
)

// DefaultViews are the default views: the raw features, and the raw features with their ranks and z-scores
// within the query.
func DefaultViews() []dataset.Views {
	return []dataset.Views{nil, {dataset.RawView, dataset.RankView, dataset.ZScoreView}}
}

// baselines are in the catalogue to be compared with, not to rank.
var baselines = []string{"singlefeature", "random"}

// stages are the order in which scorers are tried. Linear functions come first: they are cheap, and their
// losses are mostly convex. Then come the scorers of methods without linear ones, such as trees, then
// networks.
var stages = []func(m *method.Method, kind string) bool{
	func(_ *method.Method, kind string) bool { return kind == "linear" },
	func(m *method.Method, kind string) bool { return kind == m.Scorers()[0] && kind != "linear" },
	func(_ *method.Method, kind string) bool { return kind == "net" },
}

// soonest are tried before all others, so that a short time or many documents still give a ranker.
// Regression takes one pass over the data, and trees do not depend on the scales of features.
var soonest = []string{"regression", "lambdamart"}

const (
	settingsOf = 4 // of each method, scorer and views at most: the default, then others of its grid
	reseeds    = 2 // further seeds of what the seed decides most
)

// Trial is a training of a setting of an entry on all folds. Trials are numbered from 0 in their order,
// which depends only on the seed.
type Trial struct {
	Entry   int
	Setting method.Values
}

// catalogue returns the trials and their entries, one for each method, scorer and views. The default
// settings of soonest and of all stages come first, then the second settings of all stages, and so on.
// Further seeds of networks come last.
func (c *Config) catalogue() ([]tune.Entry, []Trial, error) {
	b := builder{config: c}
	var lists [][]int // of entries, a stage each
	for _, in := range stages {
		var list []int
		for _, m := range method.List() {
			for _, kind := range m.Scorers() {
				if slices.Contains(baselines, m.Name) || !in(m, kind) {
					continue
				}
				for _, views := range c.Views {
					if err := b.add(m, tune.Variant{Scorer: kind, Views: views, Seed: c.Tune.Seed}); err != nil {
						return nil, nil, err
					}
					list = append(list, len(b.entries)-1)
				}
			}
		}
		lists = append(lists, list)
	}
	for _, list := range b.inOrder(lists) {
		b.turn(list, 0)
	}
	for turn := 1; turn < settingsOf; turn++ {
		for _, list := range lists {
			b.turn(list, turn)
		}
	}
	networks := lists[len(lists)-1]
	for seed := range uint64(reseeds) {
		for _, i := range networks {
			e := b.entries[i]
			own := *e.Own
			own.Seed += 1 + seed
			if err := b.add(e.Method, own); err != nil {
				return nil, nil, err
			}
			b.turn([]int{len(b.entries) - 1}, 0)
		}
	}
	return b.entries, b.trials, nil
}

// builder makes the list of trials.
type builder struct {
	config  *Config
	entries []tune.Entry
	trials  []Trial
}

// add adds an entry with its settings in the order of their trials.
func (b *builder) add(m *method.Method, own tune.Variant) error {
	of, err := m.For(own.Scorer)
	if err != nil {
		return err
	}
	grid, err := of.GridOf(own.Scorer, nil)
	if err != nil {
		return err
	}
	e := tune.Entry{Name: nameOf(m, own, b.config.Tune.Seed), Method: of, Own: &own}
	if m.UsesMeasure {
		if e.Measure, err = measure.Parse(m.DefaultMeasure, b.config.Tune.Convention, measure.Options{}); err != nil {
			return err
		}
	}
	standard, err := of.Values(nil)
	if err != nil {
		return err
	}
	e.Settings = append(e.Settings, standard)
	for _, i := range random.Stream(b.config.Tune.Seed, "order of settings", e.Name).Perm(len(grid)) {
		v, err := of.Values(grid[i])
		if err != nil {
			return err
		}
		if v.String() != standard.String() && len(e.Settings) < settingsOf {
			e.Settings = append(e.Settings, v)
		}
	}
	b.entries = append(b.entries, e)
	return nil
}

// turn adds the trials of one setting of some entries, by number, where they have it.
func (b *builder) turn(entries []int, setting int) {
	for _, i := range entries {
		if s := b.entries[i].Settings; setting < len(s) {
			b.trials = append(b.trials, Trial{i, s[setting].(method.Values)})
		}
	}
}

// inOrder moves the soonest entries, except networks, to a list before the others.
func (b *builder) inOrder(lists [][]int) [][]int {
	var first []int
	soon := func(i int) bool { return slices.Contains(soonest, b.entries[i].Method.Name) }
	rest := [][]int{nil}
	for k, list := range lists {
		if k == len(lists)-1 { // networks
			rest = append(rest, list)
			continue
		}
		for _, i := range list {
			if soon(i) {
				first = append(first, i)
			}
		}
		rest = append(rest, slices.DeleteFunc(slices.Clone(list), soon))
	}
	rest[0] = first
	return rest
}

// nameOf returns the name of an entry, a plain file name such as ranknet.net.raw-rank-zscore.
func nameOf(m *method.Method, own tune.Variant, seed uint64) string {
	name := m.Name + "." + own.Scorer + "." + strings.Join(own.Views.Texts(), "-")
	if own.Seed != seed {
		name += fmt.Sprintf(".seed%d", own.Seed)
	}
	return name
}
