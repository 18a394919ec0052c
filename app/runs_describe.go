package app

import (
	"cmp"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/listwise/listwise/app/runs"
	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/learn/method"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/tune"
	"github.com/listwise/listwise/tune/ensemble"
)

// recorded describes a run of train before it trains.
func (f *trainFlags) recorded(m *method.Method, p *method.Problem) *runs.Run {
	c := f.recordedSettings(measure.ConventionOf(p.Select))
	c["scorer"], c["select"], c["hyperparameters"] = cmp.Or(f.scorer, m.Scorers()[0]), p.Select.Name(), p.Values.Typed()
	if p.Measure != nil {
		c["measure"] = p.Measure.Name()
	}
	r := &runs.Run{Kind: runs.Train, Methods: []string{m.Name}, Config: c, Seed: &p.Seed, Data: []runs.Data{recordedData("train", strings.Join(f.train, ", "), p.Data)}}
	if p.Valid != nil {
		r.Data = append(r.Data, recordedData("valid", f.recordedAs(strings.Join(f.train, ", ")), p.Valid))
	}
	if p.Initial != nil {
		r.Data = append(r.Data, recordedFile("continue", f.from))
		c["normalize"] = p.Normalization.String()
		if !p.Views.Raw() {
			c["views"] = p.Views.String()
		}
	}
	if p.Refit {
		c["refit"] = p.Decay
	}
	return r
}

// trainResult is what came of a training; valid may be nil.
func trainResult(m *method.Method, p *method.Problem, trained *model.Model, valid *measure.Result) runs.Result {
	r := runs.Result{Ranker: m.Name, Settings: p.Values.Typed(), Training: recordedTraining(trained), Validation: runs.NaN()}
	if v := trained.Training.Validation; v != nil {
		r.Validation = runs.Number(*v)
	}
	if valid != nil {
		r.Measures = recordedMeasures(valid)
	}
	return r
}

// recorded describes a run of tune before it trains.
func (f *tuneFlags) recorded(c *tune.Config) *runs.Run {
	settings := f.recordedSettings(c.Convention)
	settings["select"], settings["ties"] = c.Select.Name(), c.Ties.String()
	settings["measures"] = namesOfMeasures(c.Measures)
	if f.budget != "" {
		settings["budget"] = f.budget
	}
	r := &runs.Run{Kind: runs.Tune, Config: settings, Seed: &c.Seed}
	methods := make(map[string]any)
	for i := range c.Entries {
		e := &c.Entries[i]
		r.Methods = append(r.Methods, e.Name)
		methods[e.Name] = f.recordedEntry(e)
	}
	settings["methods"] = methods
	r.Data = f.recordedFolds(c.Folds)
	return r
}

func namesOfMeasures(measures []measure.Measure) []any {
	return mapped(measures, func(m measure.Measure) any { return m.Name() })
}

// recordedEntry has a method's hyperparameters, those with several values to try as
// lists.
func (f *tuneFlags) recordedEntry(e *tune.Entry) map[string]any {
	tried := e.Settings[0].Typed()
	for name := range tried {
		var values []any
		for _, s := range e.Settings {
			if v := s.Typed()[name]; !slices.Contains(values, v) {
				values = append(values, v)
			}
		}
		if len(values) > 1 {
			tried[name] = values
		}
	}
	settings := map[string]any{"scorer": cmp.Or(f.scorers[e.Name], e.Method.Scorers()[0]), "hyperparameters": tried}
	if e.Measure != nil {
		settings["measure"] = e.Measure.Name()
	}
	return settings
}

// recordTuning takes down what came of tune: for every method the means over its
// folds, and every fold.
func recordTuning(rec *recorder, c *tune.Config, r *tune.Result) {
	for i := range r.Rows {
		row := &r.Rows[i]
		rec.result(tunedMeans(row))
		for k := range row.Folds {
			rec.result(tunedFold(row, &row.Folds[k]))
			base := filepath.Join(c.Dir, row.Entry.Name, row.Folds[k].Fold)
			rec.wrote(base+".model.json", base+".scores", base+".queries.csv")
			if len(row.Folds[k].Curve) > 0 {
				rec.wrote(base + ".curve")
			}
		}
	}
}

func tunedMeans(row *tune.Row) runs.Result {
	tests := mapped(row.Folds, func(f tune.FoldResult) *measure.Result { return f.Test })
	return runs.Result{Ranker: row.Entry.Name, Validation: runs.NaN(), Measures: meansOf(row.Measures, tests)}
}

// meansOf are the means over folds, whose results are given.
func meansOf(means []tune.Summary, folds []*measure.Result) []runs.Measure {
	var all []runs.Measure
	for _, s := range means {
		m := runs.Measure{Name: s.Measure.Name(), Mean: runs.Number(s.Mean), TieNeutral: runs.Number(s.TieNeutral)}
		for _, f := range folds {
			m.Queries += f.Counted(s.Measure)
		}
		all = append(all, m)
	}
	return all
}

func tunedFold(row *tune.Row, f *tune.FoldResult) runs.Result {
	r := runs.Result{
		Ranker: row.Entry.Name, Fold: f.Fold, Settings: f.Chosen.Typed(), Training: recordedTraining(f.Model),
		Validation: runs.Number(f.Validation), Measures: recordedMeasures(f.Test),
	}
	varied := row.Varied()
	for i, s := range row.Entry.Settings {
		if math.IsNaN(f.Tried[i]) {
			continue // dropped by successive halving
		}
		all := s.Typed()
		tried := make(map[string]any)
		for _, name := range varied {
			tried[name] = all[name]
		}
		r.Trials = append(r.Trials, runs.Trial{Settings: tried, Validation: f.Tried[i]})
	}
	return r
}

// recorded describes a run of eval.
func (f *evalFlags) recorded(test *dataset.Dataset, m *model.Model, convention measure.Convention, measures []measure.Measure) *runs.Run {
	r := &runs.Run{
		Kind: runs.Eval,
		Config: map[string]any{
			"measures": namesOfMeasures(measures), "convention": f.convention, "ties": f.ties, "threshold": convention.Threshold(), "max_grade": f.maxGrade, "missing": f.missing,
		},
		Data: []runs.Data{recordedData("test", f.data, test)},
	}
	if m == nil {
		r.Data = append(r.Data, recordedFile("scores", f.scores))
		return r
	}
	r.Methods = []string{m.Method}
	r.Data = append(r.Data, recordedFile("model", f.model))
	return r
}

// evalResult is what a model or scores reached.
func evalResult(s *ensemble.System, measured *measure.Result) runs.Result {
	r := runs.Result{Ranker: s.Name, Validation: runs.NaN(), Measures: recordedMeasures(measured)}
	if s.Model != nil {
		r.Settings = s.Model.Hyperparameters
	}
	return r
}
