package app

import (
	"fmt"

	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/eval/stats"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/tune"
	"github.com/listwise/listwise/tune/auto"
	"github.com/listwise/listwise/tune/ensemble"
)

// The systems that auto measures on every fold.
const (
	autoSystem   = "auto"         // the fusion of the members, trained anew
	triedSystem  = "not-refitted" // the same before these were trained anew
	singleSystem = "best-single"  // the first member alone, trained anew
	plainSystem  = "plain-fusion" // of every method on the raw features, as they were tried
)

// autoMeasured is what the systems do on the folds' test data or, where there are none, on their
// validation data.
type autoMeasured struct {
	tested    bool
	divisions []ensemble.Division
	names     []string
	results   [][]*measure.Result // of each system on each fold
	rows      [][]tune.Summary    // of each system
	slices    *slicedMeans
	compared  []*stats.Comparison // by each measure, every system with the first; nil where there is but one query
}

// measureFusions measures the fusions of every fold beside what they are compared with.
func (f *autoFlags) measureFusions(r *auto.Result) (*autoMeasured, error) {
	m := &autoMeasured{tested: r.Tune.Folds[0].Tested()}
	results := make(map[string][]*measure.Result)
	for k := range r.Tune.Folds {
		fold := &r.Tune.Folds[k]
		systems, err := m.systems(r, k)
		if err != nil {
			return nil, err
		}
		d := ensemble.Division{Name: fold.Name, Test: fold.Test}
		m.names = nil
		for _, s := range systems {
			if s.Test, err = s.Model.Score(fold.Test); err != nil {
				return nil, fmt.Errorf("%s, %s: %w", s.Name, fold.Name, err)
			}
			test, err := measure.Evaluate(fold.Test, s.Test, r.Tune.Measures, r.Tune.Ties)
			if err != nil {
				return nil, err
			}
			results[s.Name] = append(results[s.Name], test)
			d.Systems, m.names = append(d.Systems, s), append(m.names, s.Name)
		}
		m.divisions = append(m.divisions, d)
	}
	var pooled []*measure.Result
	for _, name := range m.names {
		m.results = append(m.results, results[name])
		m.rows = append(m.rows, tune.Summarise(results[name]...))
		pooled = append(pooled, measure.Pool(results[name]...))
	}
	var err error
	if m.slices, err = f.of(testsOf(m.divisions), r.Tune.Convention, m.names, m.results); err != nil {
		return nil, err
	}
	for _, by := range r.Tune.Measures {
		c, err := comparedBy(by, pooled, f.seed)
		if err != nil {
			return nil, err
		}
		m.compared = append(m.compared, c)
	}
	return m, nil
}

// systems returns the systems of a fold.
func (m *autoMeasured) systems(r *auto.Result, k int) ([]ensemble.System, error) {
	f := &r.Folds[k]
	if m.tested && len(r.Folds) == 1 {
		f = &auto.Fused{Name: f.Name, Members: r.Final.Members, Model: r.Final.Model, Candidates: f.Candidates}
	}
	tried, err := auto.Untrained(r.Folds[k].Members)
	if err != nil {
		return nil, err
	}
	var raw []auto.Member
	for _, c := range f.Candidates {
		if c.Entry.Own.Views.Raw() {
			raw = append(raw, c)
		}
	}
	if raw == nil {
		raw = f.Candidates
	}
	plain, err := auto.Untrained(raw)
	if err != nil {
		return nil, err
	}
	all := []ensemble.System{{Name: triedSystem, Model: tried}, {Name: plainSystem, Model: plain}}
	if !m.tested { // what was trained anew has seen the validation data
		return append(all, ensemble.System{Name: singleSystem, Model: f.Members[0].Tried}), nil
	}
	single, err := f.Members[0].Model()
	if err != nil {
		return nil, err
	}
	return append([]ensemble.System{{Name: autoSystem, Model: f.Model}}, append(all, ensemble.System{Name: singleSystem, Model: single})...), nil
}

// comparedBy tests the differences of a measure between the first system and each other, query by
// query; nil if there are not two queries that count.
func comparedBy(by measure.Measure, pooled []*measure.Result, seed uint64) (*stats.Comparison, error) {
	values := make([][]float64, len(pooled))
	var weights []float64
	for i, r := range pooled {
		w := r.Weights()
		for q, v := range r.PerQuery(by) {
			if v != v {
				continue
			}
			values[i] = append(values[i], v)
			if i == 0 && w != nil {
				weights = append(weights, w[q])
			}
		}
	}
	if len(values[0]) < 2 || len(values) < 2 {
		return nil, nil
	}
	const permutations, resamples = 10_000, 2_000
	return stats.Compare(values, stats.Config{Weights: weights, Permutations: permutations, Resamples: resamples, Seed: seed})
}

// modelsOf returns a system's models, one a fold.
func (m *autoMeasured) modelsOf(system int) []*model.Model {
	var all []*model.Model
	for k := range m.divisions {
		all = append(all, m.divisions[k].Systems[system].Model)
	}
	return all
}
