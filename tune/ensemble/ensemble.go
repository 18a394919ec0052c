// Package ensemble fuses the scores of several systems for the same data: for one test set, or fold
// by fold. A system is a model, or the score files of any program. Fusion rules and weights are
// chosen on validation data.
//
// Start reading at [Config.Run]. A division is a test set with its validation data, such as a fold.
// systems.go reads systems from files. The package must not depend on how any model was trained.
package ensemble

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/model/fuse"
)

// System is a source of scores.
type System struct {
	Name  string
	Model *model.Model // nil if there are only scores
	Test  []float64    // scores of the division's test data, one per document; dataset.NotRetrieved if a run lacks the document
	Valid []float64    // scores of the division's validation data; nil if there are none

	// Places has the position of each test document in the system's run, for [measure.TiesInput].
	// nil means the order of the data.
	Places []uint32

	Unjudged []float64 // scores of the division's unjudged queries

	Notes []string // assumptions about a model file of another system

	Warnings []string // about documents that were omitted when the runs were joined with the data
}

// Division has test and validation data, with the scores of all systems.
type Division struct {
	Name    string
	Valid   *dataset.Dataset // nil if nothing is chosen
	Test    *dataset.Dataset
	Systems []System

	// Unjudged has the documents of runs for queries without judgements. It is nil if there are
	// none, or if Options.Unjudged is false.
	Unjudged *dataset.Dataset
}

// Evaluate measures a system on the test data.
func (d *Division) Evaluate(system int, measures []measure.Measure, ties measure.TiePolicy) (*measure.Result, error) {
	s := &d.Systems[system]
	return measure.EvaluateRun(d.Test, s.Test, s.Places, measures, ties)
}

// EvaluateReranked is Evaluate for a system that reranks only the first depth documents of another
// ranking; see [measure.Rerank].
func (d *Division) EvaluateReranked(system int, places []int, depth int, measures []measure.Measure, ties measure.TiePolicy) (*measure.Result, error) {
	s := &d.Systems[system]
	return measure.EvaluateRun(d.Test, measure.Rerank(d.Test, places, s.Test, depth, ties), s.Places, measures, ties)
}

// places returns the positions of the test documents in a fusion under TiesInput. The documents of
// the first run come first, in their order. The remaining documents of the second run follow, and
// so on. places returns nil for other policies, and if the systems have no positions.
func (d *Division) places(ties measure.TiePolicy) []uint32 {
	if ties != measure.TiesInput || len(d.Systems) == 0 || d.Systems[0].Places == nil {
		return nil
	}
	places := make([]uint32, d.Test.Docs())
	for i := range d.Test.Queries {
		q, next := &d.Test.Queries[i], uint32(0)
		for row := q.Start; row < q.Start+q.Len(); row++ {
			places[row] = math.MaxUint32
		}
		for s := range d.Systems {
			var own []int
			for row := q.Start; row < q.Start+q.Len(); row++ {
				if places[row] == math.MaxUint32 && d.Systems[s].Test[row] != dataset.NotRetrieved {
					own = append(own, row)
				}
			}
			slices.SortFunc(own, func(a, b int) int { return cmp.Compare(d.Systems[s].Places[a], d.Systems[s].Places[b]) })
			for _, row := range own {
				places[row] = next
				next++
			}
		}
	}
	return places
}

// Config is the configuration of fusions and their evaluation. The zero value fuses by reciprocal
// ranks with equal weights and evaluates MAP.
type Config struct {
	Rules    []fuse.Rule       // none means the zero Rule
	Weights  []float64         // one per system; nil means equal weights, or tuned weights if Tuned is set and there are validation data
	Tuned    bool              // chooses weights on validation data
	Tuning   Tuning            // options for Tuned; its Measure also chooses the rule
	Measures []measure.Measure // of the test data; none means Tuning.Measure
	Ties     measure.TiePolicy

	// Observe, if not nil, is called with the number of finished steps and the total. Each rule
	// takes the same number of steps on each division: one for the evaluation and, if weights are
	// tuned, one for each bootstrap sample (at least one).
	Observe func(done, total int)
}

// Fusion is the result of one rule on one division.
type Fusion struct {
	Rule    fuse.Rule
	Weights []float64
	Value   float64 // tie-neutral mean of the measure on validation data; 0 without validation data
	Scores  []float64
	Test    *measure.Result
}

// Row is the result, on every division, of a system, of a rule, or of the rules chosen by
// validation data.
type Row struct {
	Name    string
	Tests   []*measure.Result
	Fusions []*Fusion // nil for a system alone
}

// Result has a row for each system and for each rule. In Chosen, the fusion on each division is
// that of the rule with the best value on the division's validation data.
type Result struct {
	Systems, Rules []Row
	Chosen         *Row // the only rule's row if there is one rule; nil if there are several rules and no validation data
}

// Run evaluates every system and every rule on every division.
func (c *Config) Run(ctx context.Context, divisions []Division) (*Result, error) {
	c, err := c.settled(divisions)
	if err != nil {
		return nil, err
	}
	r := &Result{Rules: make([]Row, len(c.Rules))}
	for i, s := range divisions[0].Systems {
		row := Row{Name: s.Name}
		for k := range divisions {
			test, err := divisions[k].Evaluate(i, c.Measures, c.Ties)
			if err != nil {
				return nil, err
			}
			row.Tests = append(row.Tests, test)
		}
		r.Systems = append(r.Systems, row)
	}
	steps := c.steps(divisions)
	for i, rule := range c.Rules {
		r.Rules[i].Name = rule.Kind.String()
		for k := range divisions {
			before, total := (i*len(divisions)+k)*steps, len(c.Rules)*len(divisions)*steps
			f, err := c.fuse(ctx, rule, &divisions[k], func(done int) { tell(c.Observe, before+done, total) })
			if err != nil {
				return nil, fmt.Errorf("%s: %w", rule.Kind, err)
			}
			tell(c.Observe, before+steps, total)
			r.Rules[i].add(f)
		}
	}
	r.Chosen = choose(r.Rules, divisions)
	return r, nil
}

// settled returns the configuration with its defaults. If the caller did not choose a relevance
// threshold for a measure, the measure gets the threshold that [measure.For] derives from the
// grades of all divisions together. settled returns an error if the configuration does not fit the
// divisions.
func (c *Config) settled(divisions []Division) (*Config, error) {
	s := *c
	if len(s.Rules) == 0 {
		s.Rules = []fuse.Rule{{}}
	}
	if s.Tuning.Measure == nil && len(s.Measures) > 0 {
		s.Tuning.Measure = s.Measures[0]
	}
	s.Tuning.Measure = s.Tuning.measure()
	if len(s.Measures) == 0 {
		s.Measures = []measure.Measure{s.Tuning.Measure}
	}
	if err := s.check(divisions); err != nil {
		return nil, err
	}
	var sets []*dataset.Dataset
	for i := range divisions {
		sets = append(sets, divisions[i].Test)
		if divisions[i].Valid != nil {
			sets = append(sets, divisions[i].Valid)
		}
	}
	s.Measures, s.Tuning.Measure = measure.ForAll(s.Measures, sets...), measure.For(s.Tuning.Measure, sets...)
	return &s, nil
}

// check returns an error for invalid rules, and for divisions whose systems lack scores.
func (c *Config) check(divisions []Division) error {
	if len(divisions) == 0 {
		return errors.New("found no division of data, expected at least one")
	}
	for _, r := range c.Rules {
		if err := r.Check(); err != nil {
			return err
		}
	}
	systems := len(divisions[0].Systems)
	if c.Weights != nil && len(c.Weights) != systems {
		return fmt.Errorf("found %d weights for %d systems, expected as many", len(c.Weights), systems)
	}
	for i := range divisions {
		d := &divisions[i]
		if d.Test == nil || len(d.Systems) == 0 || len(d.Systems) != systems {
			return fmt.Errorf("division %d: found %d systems, expected test data and as many systems as in the first division, at least one", i+1, len(d.Systems))
		}
		for _, s := range d.Systems {
			if n := d.Test.Docs(); len(s.Test) != n {
				return fmt.Errorf("division %d, %s: found %d scores for %d documents of the test data", i+1, s.Name, len(s.Test), n)
			}
			if d.Valid != nil && len(s.Valid) != d.Valid.Docs() {
				return fmt.Errorf("division %d, %s: found %d scores for %d documents of the validation data", i+1, s.Name, len(s.Valid), d.Valid.Docs())
			}
		}
	}
	return nil
}

func (r *Row) add(f *Fusion) {
	r.Fusions, r.Tests = append(r.Fusions, f), append(r.Tests, f.Test)
}

// choose returns a row with, for each division, the fusion of the rule with the best value on the
// division's validation data. If several rules have the best value, it chooses the first.
func choose(rules []Row, divisions []Division) *Row {
	if len(rules) == 1 {
		return &rules[0]
	}
	chosen := &Row{Name: "chosen"}
	for k := range divisions {
		if divisions[k].Valid == nil {
			return nil
		}
		best := rules[0].Fusions[k]
		for _, row := range rules[1:] {
			if row.Fusions[k].Value > best.Value {
				best = row.Fusions[k]
			}
		}
		chosen.add(best)
	}
	return chosen
}

// steps returns the largest number of steps that a rule takes on one of the divisions, for Observe.
func (c *Config) steps(divisions []Division) int {
	if c.Weights == nil && c.Tuned && slices.ContainsFunc(divisions, func(d Division) bool { return d.Valid != nil }) {
		return max(1, c.Tuning.Draws) + 1
	}
	return 1
}

// fuse applies one rule to one division. While it tunes weights, it calls observe before each bootstrap
// sample with the number of finished samples.
func (c *Config) fuse(ctx context.Context, rule fuse.Rule, d *Division, observe func(done int)) (*Fusion, error) {
	tuning := c.Tuning
	tuning.Observe = func(done, _ int) { observe(done) }
	test, valid := make([][]float64, len(d.Systems)), make([][]float64, len(d.Systems))
	for i, s := range d.Systems {
		test[i], valid[i] = s.Test, s.Valid
	}
	f := &Fusion{Rule: rule, Weights: c.Weights}
	var err error
	if f.Weights == nil {
		f.Weights = fuse.Equal(len(d.Systems))
		if c.Tuned && d.Valid != nil {
			if f.Weights, f.Value, err = tuning.Weights(ctx, rule, d.Valid, valid); err != nil {
				return nil, fmt.Errorf("validation data: %w", err)
			}
		}
	}
	if d.Valid != nil {
		ranker := measure.Ranker{Ties: measure.TiesAverage}
		f.Value, _ = ranker.Mean(d.Valid, rule.Scores(d.Valid, valid, f.Weights), c.Tuning.Measure)
	}
	f.Scores = rule.Scores(d.Test, test, f.Weights)
	f.Test, err = measure.EvaluateRun(d.Test, f.Scores, d.places(c.Ties), c.Measures, c.Ties)
	return f, err
}

// Retrieved returns the test data and the unjudged queries as one data set, and the scores of the
// fusion for the documents of this data set.
func (d *Division) Retrieved(f *Fusion) (*dataset.Dataset, []float64, error) {
	if d.Unjudged == nil {
		return d.Test, f.Scores, nil
	}
	scores := make([][]float64, len(d.Systems))
	for i := range d.Systems {
		scores[i] = d.Systems[i].Unjudged
	}
	unjudged := f.Rule.Scores(d.Unjudged, scores, f.Weights)
	if d.Test == nil {
		return d.Unjudged, unjudged, nil
	}
	all, err := dataset.Concat(d.Test, d.Unjudged)
	return all, slices.Concat(f.Scores, unjudged), err
}

// Model returns the fusion as one model. It returns an error if a system is not a model.
func (d *Division) Model(f *Fusion) (*model.Model, error) {
	members := make([]*model.Model, len(d.Systems))
	for i, s := range d.Systems {
		if s.Model == nil {
			return nil, fmt.Errorf("%s: found scores, expected a model: only models can be fused to a model", s.Name)
		}
		members[i] = s.Model
	}
	return model.NewFused(f.Rule, members, f.Weights)
}
