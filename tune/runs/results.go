package runs

import (
	"cmp"
	"encoding/json"
	"math"
	"path/filepath"
	"slices"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/learn/train"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/tune"
)

// DataOf describes a data set. path is the file or folder of the data; "" if they are from none.
func DataOf(role, path string, d *dataset.Dataset) Data {
	return Data{Role: role, Path: path, Fingerprint: d.Fingerprint(), Queries: len(d.Queries), Documents: d.Docs()}
}

// MeasuresOf returns all measures of a result, with the value of each query.
func MeasuresOf(r *measure.Result) []Measure {
	var all []Measure
	for _, m := range r.Measures() {
		recorded := Measure{Name: m.Name(), Mean: Number(r.Mean(m)), TieNeutral: Number(r.TieNeutral(m)), Queries: r.Counted(m)}
		for i, v := range r.PerQuery(m) {
			recorded.PerQuery = append(recorded.PerQuery, Value{Query: r.Queries()[i], Value: Number(v)})
		}
		all = append(all, recorded)
	}
	return all
}

// MeansOf returns means over folds. Queries sums the counted queries of the folds.
func MeansOf(means []tune.Summary, folds []*measure.Result) []Measure {
	var all []Measure
	for _, s := range means {
		m := Measure{Name: s.Measure.Name(), Mean: Number(s.Mean), TieNeutral: Number(s.TieNeutral)}
		for _, f := range folds {
			m.Queries += f.Counted(s.Measure)
		}
		all = append(all, m)
	}
	return all
}

// TrainingOf returns the description of the training in a model file. It returns nil if JSON cannot
// represent the description, because the objective is NaN.
func TrainingOf(m *model.Model) map[string]any {
	var training map[string]any
	text, err := json.Marshal(m.Training)
	if err == nil {
		err = json.Unmarshal(text, &training)
	}
	if err != nil {
		return nil
	}
	return training
}

// PointOf returns a point of the learning curve of a training.
func PointOf(ranker string, it train.Iteration) Point {
	p := Point{
		Ranker: ranker, Start: it.Start, Step: it.Number, Epoch: it.Epoch, Objective: Number(it.Objective),
		GradNorm: NaN(), Rate: NaN(), Validation: NaN(), Best: it.Best,
	}
	if it.Epoch {
		p.Rate = Number(it.Rate)
	} else {
		p.GradNorm = Number(it.GradNorm)
	}
	if it.Validated {
		p.Validation = Number(it.Validation)
	}
	return p
}

// EntryOf returns the scorer, the training measure and the hyperparameters of an entry, for
// Run.Config. A hyperparameter with several values to try is a list. An empty kind of scorer means the
// method's default.
func EntryOf(e *tune.Entry, kind string) map[string]any {
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
	settings := map[string]any{"hyperparameters": tried}
	if e.Method != nil {
		settings["scorer"] = cmp.Or(kind, e.Method.Scorers()[0])
	}
	if e.Measure != nil {
		settings["measure"] = e.Measure.Name()
	}
	return settings
}

// ResultsOf returns the results of a tuning: for each entry the means over folds, and then the results
// of each fold.
func ResultsOf(r *tune.Result) []RankerResult {
	var all []RankerResult
	for i := range r.Rows {
		row := &r.Rows[i]
		var tests []*measure.Result
		for k := range row.Folds {
			tests = append(tests, row.Folds[k].Test)
		}
		all = append(all, RankerResult{Ranker: row.Entry.Name, Validation: NaN(), Measures: MeansOf(row.Measures, tests)})
		for k := range row.Folds {
			all = append(all, foldOf(row, &row.Folds[k]))
		}
	}
	return all
}

func foldOf(row *tune.Row, f *tune.FoldResult) RankerResult {
	r := RankerResult{
		Ranker: row.Entry.Name, Fold: f.Fold, Settings: f.Chosen.Typed(), Training: TrainingOf(f.Model),
		Validation: Number(f.Validation), Measures: MeasuresOf(f.Test),
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
		r.Trials = append(r.Trials, Trial{Settings: tried, Validation: f.Tried[i]})
	}
	return r
}

// FilesOf returns the files of models, scores, measures and curves that a tuning wrote to its folder.
func FilesOf(c *tune.Config, r *tune.Result) []string {
	var all []string
	for i := range r.Rows {
		row := &r.Rows[i]
		for k := range row.Folds {
			base := filepath.Join(c.Dir, row.Entry.Name, c.Subfolder, row.Folds[k].Fold)
			all = append(all, base+".model.json", base+".scores", base+".queries.csv")
			if len(row.Folds[k].Curve) > 0 {
				all = append(all, base+".curve")
			}
		}
	}
	return all
}
