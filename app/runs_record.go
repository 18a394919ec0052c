package app

import (
	"cmp"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/learn/method"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/tune"
	"github.com/listwise/listwise/tune/ensemble"
	"github.com/listwise/listwise/tune/runs"
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
	r.run.Curve = append(r.run.Curve, runs.PointOf(r.run.Methods[0], it))
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
	if r.run != nil {
		r.run.End(err)
	}
	recorded := r.finish(hurry) == nil
	if err == nil {
		err = r.env.print(out)
	}
	if !recorded && r.run.Status != runs.Interrupted {
		r.insist()
	}
	return err
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

func recordedFile(role, path string) runs.Data {
	return runs.Data{Role: role, Path: path, Fingerprint: runs.FileFingerprint(path)}
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
	r := &runs.Run{Kind: runs.Train, Methods: []string{m.Name}, Config: c, Seed: &p.Seed, Data: []runs.Data{runs.DataOf("train", strings.Join(f.train, ", "), p.Data)}}
	if p.Valid != nil {
		r.Data = append(r.Data, runs.DataOf("valid", f.recordedAs(strings.Join(f.train, ", ")), p.Valid))
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
	r := runs.RankerResult{Ranker: m.Name, Settings: p.Values.Typed(), Training: runs.TrainingOf(trained), Validation: runs.NaN()}
	if v := trained.Training.Validation; v != nil {
		r.Validation = runs.Number(*v)
	}
	if valid != nil {
		r.Measures = runs.MeasuresOf(valid)
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
		methods[e.Name] = runs.EntryOf(e, f.scorers[e.Name])
	}
	settings["methods"] = methods
	r.Data = f.recordedFolds(c.Folds)
	return r
}

func namesOfMeasures(measures []measure.Measure) []any {
	return mapped(measures, func(m measure.Measure) any { return m.Name() })
}

// recordTuning adds the results of tune: for each method the means over folds, and the results of
// each fold. Results of --seeds are those of recordSeeds.
func recordTuning(rec *recorder, configs []tune.Config, results []*tune.Result) {
	if configs[0].Subfolder != "" {
		recordSeeds(rec, configs, results)
		return
	}
	for _, r := range runs.ResultsOf(results[0]) {
		rec.result(r)
	}
	rec.wrote(runs.FilesOf(&configs[0], results[0])...)
}

// recorded describes a run of eval.
func (f *evalFlags) recorded(test *dataset.Dataset, m *model.Model, convention measure.Convention, measures []measure.Measure) *runs.Run {
	r := &runs.Run{
		Kind: runs.Eval,
		Config: map[string]any{
			"measures": namesOfMeasures(measures), "convention": f.convention, "ties": f.ties, "threshold": convention.Threshold(), "max_grade": f.maxGrade, "missing": f.missing,
		},
		Data: []runs.Data{runs.DataOf("test", f.data, test)},
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
	r := runs.RankerResult{Ranker: s.Name, Validation: runs.NaN(), Measures: runs.MeasuresOf(measured)}
	if s.Model != nil {
		r.Settings = s.Model.Hyperparameters
	}
	return r
}
