package app

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/listwise/listwise/app/runs"
	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/learn/method"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/tune"
	"github.com/listwise/listwise/tune/ensemble"
)

// recording has the flag of commands whose runs are recorded.
type recording struct{ noRecord bool }

func (r *recording) addTo(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&r.noRecord, "no-record", false, "do not record this run (see \"listwise runs\")")
}

// recorder records one run. If it cannot write the record, the command prints its result and, at
// most runs.Patience later, a warning.
type recorder struct {
	env   *environment
	run   *runs.Run   // nil: nothing is recorded
	store *runs.Store // contains the run; nil until enter succeeds
}

// hurry limits the time that the beginning of a run waits for other writers. If the wait fails, the
// run is recorded at its end.
const hurry = 100 * time.Millisecond

// begin adds the run that describe returns to the record.
func (r *recording) begin(env *environment, describe func() *runs.Run) *recorder {
	rec := &recorder{env: env}
	if r.noRecord {
		return rec
	}
	rec.run = describe()
	rec.run.Command, rec.run.Begun = env.args, time.Now()
	_ = rec.enter(time.Now().Add(hurry)) // a lasting error recurs at the end of the run
	return rec
}

// enter adds the run to the record.
func (r *recorder) enter(deadline time.Time) error {
	store, err := runs.Open(".", time.Until(deadline))
	if err != nil {
		return err
	}
	status := r.run.Status
	if err = store.Wait(time.Until(deadline)); err == nil {
		err = store.Begin(r.run)
	}
	if status != "" { // the run has ended
		r.run.Status = status
	}
	if err != nil {
		_ = store.Close() // the first error is reported
		return err
	}
	r.store = store
	return nil
}

func (r *recorder) observe(it method.Iteration) {
	if r.run == nil {
		return
	}
	p := runs.Point{
		Ranker: r.run.Methods[0], Start: it.Start, Step: it.Number, Epoch: it.Epoch, Objective: runs.Number(it.Objective),
		GradNorm: runs.NaN(), Rate: runs.NaN(), Validation: runs.NaN(), Best: it.Best,
	}
	if it.Epoch {
		p.Rate = runs.Number(it.Rate)
	} else {
		p.GradNorm = runs.Number(it.GradNorm)
	}
	if it.Validated {
		p.Validation = runs.Number(it.Validation)
	}
	r.run.Curve = append(r.run.Curve, p)
}

func (r *recorder) result(result runs.RankerResult) {
	if r.run != nil {
		r.run.Results = append(r.run.Results, result)
	}
}

// wrote adds files that the run has written. It ignores empty names.
func (r *recorder) wrote(paths ...string) {
	if r.run == nil {
		return
	}
	for _, p := range paths {
		if p != "" {
			r.run.Files = append(r.run.Files, p)
		}
	}
}

// conclude records the end of the run and prints its result. The run failed if err is not nil. The
// result is printed after the record is written, unless the record is locked by other processes.
func (r *recorder) conclude(out report, err error) error {
	r.settle(err)
	recorded := r.finish(hurry) == nil
	if err == nil {
		err = r.env.print(out)
	}
	if !recorded && r.run.Status != runs.Interrupted {
		r.insist()
	}
	return err
}

func (r *recorder) settle(err error) {
	switch {
	case r.run == nil:
	case err == nil:
		r.run.Status = runs.Finished
	case errors.Is(err, context.Canceled):
		r.run.Status = runs.Interrupted
	default:
		r.run.Status, r.run.Error = runs.Failed, err.Error()
	}
}

// insist records the end of the run, waiting up to runs.Patience. It prints a warning on failure.
func (r *recorder) insist() {
	err := r.finish(runs.Patience)
	if err == nil {
		return
	}
	if r.store != nil {
		_ = r.store.Close() // the first error is reported
	}
	r.env.note("warning: this run is not recorded: %v (--no-record turns recording off)", err)
}

// finish records the end of the run, and its beginning if that is missing. It waits at most
// patience for other writers. It may be called again after an error.
func (r *recorder) finish(patience time.Duration) error {
	if r.run == nil {
		return nil
	}
	deadline := time.Now().Add(patience)
	if r.store == nil {
		if err := r.enter(deadline); err != nil {
			return err
		}
	}
	if err := r.store.Wait(time.Until(deadline)); err != nil {
		return err
	}
	if err := r.store.Finish(r.run); err != nil {
		return err
	}
	_ = r.store.Close() // the record is already written
	return nil
}

func recordedData(role, path string, d *dataset.Dataset) runs.Data {
	return runs.Data{Role: role, Path: path, Fingerprint: d.Fingerprint(), Queries: len(d.Queries), Documents: d.Docs()}
}

func recordedFile(role, path string) runs.Data {
	return runs.Data{Role: role, Path: path, Fingerprint: runs.FileFingerprint(path)}
}

func recordedMeasures(r *measure.Result) []runs.Measure {
	var all []runs.Measure
	for _, m := range r.Measures() {
		recorded := runs.Measure{Name: m.Name(), Mean: runs.Number(r.Mean(m)), TieNeutral: runs.Number(r.TieNeutral(m)), Queries: r.Counted(m)}
		for i, v := range r.PerQuery(m) {
			recorded.PerQuery = append(recorded.PerQuery, runs.Value{Query: r.Queries()[i], Value: runs.Number(v)})
		}
		all = append(all, recorded)
	}
	return all
}

// recordedTraining returns the description of the training in a model file.
func recordedTraining(m *model.Model) map[string]any {
	var training map[string]any
	text, err := json.Marshal(m.Training)
	if err == nil {
		err = json.Unmarshal(text, &training)
	}
	if err != nil {
		return nil // JSON cannot represent a NaN objective
	}
	return training
}

// recordedSettings returns the settings that train and tune share.
func (l *learning) recordedSettings(c measure.Convention) map[string]any {
	settings := map[string]any{"convention": c.Name(), "threshold": c.Threshold(), "normalize": l.normalize, "missing": l.missing}
	if views, err := l.recipe().ParseViews(); err == nil && views != nil {
		settings["views"] = views.String()
	}
	if len(l.transform) > 0 {
		settings["transform"] = l.transform
	}
	return settings
}

// recorded describes a run of train before the training starts.
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
	if f.fromClicks.given() {
		f.fromClicks.record(r)
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

// trainResult returns the result of a training. valid may be nil.
func trainResult(m *method.Method, p *method.Problem, trained *model.Model, valid *measure.Result) runs.RankerResult {
	r := runs.RankerResult{Ranker: m.Name, Settings: p.Values.Typed(), Training: recordedTraining(trained), Validation: runs.NaN()}
	if v := trained.Training.Validation; v != nil {
		r.Validation = runs.Number(*v)
	}
	if valid != nil {
		r.Measures = recordedMeasures(valid)
	}
	return r
}

// recorded describes a run of tune before the search starts.
func (f *tuneFlags) recorded(c *tune.Config) *runs.Run {
	settings := f.recordedSettings(c.Convention)
	settings["select"], settings["ties"] = c.Select.Name(), c.Ties.String()
	settings["measures"] = namesOfMeasures(c.Measures)
	if f.budget != "" {
		settings["budget"] = f.budget
	}
	r := &runs.Run{Kind: runs.Tune, Config: settings, Seed: &c.Seed}
	if f.repeats != nil {
		settings["seeds"], r.Seed = seedsText(f.repeats), nil
	}
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

// recordedEntry returns a method's hyperparameters. A hyperparameter with several values to try is
// a list.
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

// recordTuning adds the results of tune: for each method the means over folds, and the results of
// each fold. Results of --seeds are those of recordSeeds.
func recordTuning(rec *recorder, configs []tune.Config, results []*tune.Result) {
	if configs[0].Subfolder != "" {
		recordSeeds(rec, configs, results)
		return
	}
	for i := range results[0].Rows {
		row := &results[0].Rows[i]
		rec.result(tunedMeans(row))
		recordFolds(rec, &configs[0], row, row.Entry.Name)
	}
}

// recordFolds adds a method's results of each fold, under a name, and the files with them.
func recordFolds(rec *recorder, c *tune.Config, row *tune.Row, name string) {
	for k := range row.Folds {
		result := tunedFold(row, &row.Folds[k])
		result.Ranker = name
		rec.result(result)
		base := filepath.Join(c.Dir, row.Entry.Name, c.Subfolder, row.Folds[k].Fold)
		rec.wrote(base+".model.json", base+".scores", base+".queries.csv")
		if len(row.Folds[k].Curve) > 0 {
			rec.wrote(base + ".curve")
		}
	}
}

func tunedMeans(row *tune.Row) runs.RankerResult {
	tests := mapped(row.Folds, func(f tune.FoldResult) *measure.Result { return f.Test })
	return runs.RankerResult{Ranker: row.Entry.Name, Validation: runs.NaN(), Measures: meansOf(row.Measures, tests)}
}

// meansOf returns means over folds in the form of the record. Queries sums the counted queries of
// the folds.
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

func tunedFold(row *tune.Row, f *tune.FoldResult) runs.RankerResult {
	r := runs.RankerResult{
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

func evalResult(s *ensemble.System, measured *measure.Result) runs.RankerResult {
	r := runs.RankerResult{Ranker: s.Name, Validation: runs.NaN(), Measures: recordedMeasures(measured)}
	if s.Model != nil {
		r.Settings = s.Model.Hyperparameters
	}
	return r
}
