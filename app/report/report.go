// Package report makes an HTML page that compares rankers. The page contains tables, plots, and an
// explorer that shows two systems' rankings of a query side by side. It is one file and needs no
// network.
//
// Start reading at [Build], which computes everything that the page shows, and at [Report.Write].
// The folder page contains the template, the style and the scripts that draw the plots. The package
// must not depend on the files or commands that systems come from.
package report

import (
	"context"
	"errors"
	"fmt"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/eval/slicing"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/tune/ensemble"
)

// DefaultMaxBytes is the default size limit of a page.
const DefaultMaxBytes = 4_000_000

// Config contains the options of a page.
type Config struct {
	Title    string
	Source   string            // name of the data
	Measures []measure.Measure // systems are compared by the first measure
	Ties     measure.TiePolicy
	Baseline int // index of the baseline among the systems

	// Runs has, for each system, the indices of its runs among the systems of a division, which the
	// page compares as one. The first runs of all systems come first, in the order of the systems. nil
	// means that each system of a division is a system of the page.
	Runs [][]int

	// Permutations, Resamples and Seed are passed to stats.Config.
	Permutations, Resamples int
	Seed                    uint64

	Tunings []Tuning // one per method, if settings were tried

	// Slices are divisions of the queries of all test data. Queries are in the order of the
	// divisions.
	Slices []*slicing.Division

	// MaxBytes is the size limit of the page. 0 is DefaultMaxBytes. It limits the number of
	// rankings in the explorer, which prefers queries on which the systems differ most.
	MaxBytes int

	// Observe, if not nil, is called with the name and the progress of the current stage. A total
	// of 0 is unknown. Several goroutines may call it.
	Observe func(stage string, done, total int)
}

func (c *Config) observe(stage string, done, total int) {
	if c.Observe != nil {
		c.Observe(stage, done, total)
	}
}

// Report contains everything that a page shows. It does not change after Build.
type Report struct {
	config Config
	view   view
	data   data
	grades gradeTable
	pieces []details // rankings of as many queries as fit
}

// input contains the input of Build and intermediate results.
type input struct {
	*Config
	divisions []ensemble.Division
	names     []string              // names of the systems
	results   [][][]*measure.Result // by system, run and division
	queries   []query               // queries of all divisions
	values    [][][]float64         // [measure][system][query], means over runs; NaN if a query does not count
	runs      [][][][]float64       // [measure][system][run][query]
	weights   []float64             // query weights; nil if all are 1
	explained []map[int]*explainer  // by system and division, for models whose scores have contributions
	features  *featureTable
}

// query is a query of a division. index is its index in the division.
type query struct {
	division, index int
}

func (in *input) at(q query) *dataset.Query { return &in.divisions[q.division].Test.Queries[q.index] }

func (in *input) scores(system int, q query) []float64 {
	d := in.at(q)
	return in.divisions[q.division].Systems[system].Test[d.Start : d.Start+d.Len()]
}

// places returns the positions of a query's documents in a system's run. It returns nil if ties
// keep the order of the data.
func (in *input) places(system int, q query) []uint32 {
	d, places := in.at(q), in.divisions[q.division].Systems[system].Places
	if places == nil {
		return nil
	}
	return places[d.Start : d.Start+d.Len()]
}

// model returns a system's model for a division. It returns nil if the system has scores only.
func (in *input) model(system, division int) *model.Model {
	return in.divisions[division].Systems[system].Model
}

// Build makes the report of the systems, which must be the same in each division. It pools the
// queries of all divisions. The result depends only on the arguments. Contradictory arguments are
// an error.
func Build(ctx context.Context, c Config, divisions []ensemble.Division, curves []Curve) (*Report, error) {
	if c.MaxBytes == 0 {
		c.MaxBytes = DefaultMaxBytes
	}
	in, err := newInput(&c, divisions)
	if err != nil {
		return nil, err
	}
	r := &Report{config: *in.Config}
	r.data.Forest, r.data.Weights = []forest{}, []weights{} // not null: the page's script iterates over them
	for _, step := range []struct {
		stage string
		do    func() error
	}{
		{"measuring", func() error { return r.measureAll(in) }},
		{"comparing", func() error { return r.summarise(in) }},
		{"comparing slices", func() error { return r.slice(in) }},
		{"measuring NDCG at every rank", func() error { return r.cutoffs(in) }},
		{"weighing features", func() error { return r.weigh(in) }},
		{"looking at trees", func() error { return r.lookAtTrees(in) }},
		{"sampling rankings", func() error { return r.sample(in) }},
		{"thinning learning curves", func() error {
			r.data.Curves, r.data.Tunings = thinned(curves), append([]Tuning{}, c.Tunings...)
			return nil
		}},
		{"laying out rankings", func() error { return r.explore(ctx, in) }},
	} {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		c.observe(step.stage, 0, 0)
		if err := step.do(); err != nil {
			return nil, err
		}
	}
	return r, nil
}

func newInput(given *Config, divisions []ensemble.Division) (*input, error) {
	own := *given // the caller's stays as it is
	c := &own
	if len(divisions) == 0 || len(divisions[0].Systems) == 0 {
		return nil, errors.New("found no systems to report on, expected at least one")
	}
	if len(c.Measures) == 0 {
		return nil, errors.New("found no measures to report, expected at least one")
	}
	var tests []*dataset.Dataset
	for i := range divisions {
		tests = append(tests, divisions[i].Test)
	}
	c.Measures = measure.ForAll(c.Measures, tests...)
	in := &input{Config: c, divisions: divisions, features: newFeatureTable(divisions[0].Test)}
	if c.Runs == nil {
		for i := range divisions[0].Systems {
			c.Runs = append(c.Runs, []int{i})
		}
	}
	for i := range c.Runs {
		in.names = append(in.names, divisions[0].Systems[i].Name)
	}
	if c.Baseline < 0 || c.Baseline >= len(in.names) {
		return nil, fmt.Errorf("baseline %d of %d systems", c.Baseline, len(in.names))
	}
	for k := range divisions {
		if n, first := len(divisions[k].Systems), len(divisions[0].Systems); n != first {
			return nil, fmt.Errorf("%s has %d systems, the first division %d", divisions[k].Name, n, first)
		}
		for i := range divisions[k].Test.Queries {
			in.queries = append(in.queries, query{k, i})
		}
	}
	if len(in.queries) == 0 {
		return nil, errors.New("found no queries, expected at least one")
	}
	return in, nil
}
