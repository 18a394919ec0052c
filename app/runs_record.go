package app

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/listwise/listwise/app/runs"
	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/learn/method"
	"github.com/listwise/listwise/model"
)

// recording is the flag of the commands whose runs are recorded.
type recording struct{ noRecord bool }

func (r *recording) addTo(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&r.noRecord, "no-record", false, "do not record this run (see \"listwise runs\")")
}

// recorder takes down one run. A record that cannot be written costs a warning and
// at most runs.Patience, after the result was printed, and nothing else.
type recorder struct {
	env   *environment
	run   *runs.Run   // nil: nothing is recorded
	store *runs.Store // that knows of the run, nil if none does yet
}

// hurry is how long a run waits at its beginning for others that write to the record.
// What fails then is done at its end.
const hurry = 100 * time.Millisecond

// begin adds the run that describe returns to the record.
func (r *recording) begin(env *environment, describe func() *runs.Run) *recorder {
	rec := &recorder{env: env}
	if r.noRecord {
		return rec
	}
	rec.run = describe()
	rec.run.Command, rec.run.Begun = env.args, time.Now()
	_ = rec.enter(time.Now().Add(hurry)) // if it is no passing error, it comes again in the end
	return rec
}

// enter makes the run known to the record.
func (r *recorder) enter(deadline time.Time) error {
	store, err := runs.Open(".", time.Until(deadline))
	if err != nil {
		return err
	}
	status := r.run.Status
	if err = store.Wait(time.Until(deadline)); err == nil {
		err = store.Begin(r.run)
	}
	if status != "" { // it has ended
		r.run.Status = status
	}
	if err != nil {
		_ = store.Close() // the first error is what matters
		return err
	}
	r.store = store
	return nil
}

// observe keeps a point of the learning curve.
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

// result adds what a ranker reached.
func (r *recorder) result(result runs.Result) {
	if r.run != nil {
		r.run.Results = append(r.run.Results, result)
	}
}

// wrote adds files that the run has written; those without a name are none.
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

// conclude ends the run, which failed if err is not nil, and else prints its result:
// after the run is recorded, so that what was printed is in the record, or before if
// that has to wait for others.
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

// settle sets the run's final status.
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

// insist records the run's end, or warns that this failed.
func (r *recorder) insist() {
	err := r.finish(runs.Patience)
	if err == nil {
		return
	}
	if r.store != nil {
		_ = r.store.Close() // the first error is what matters
	}
	r.env.note("warning: this run is not recorded: %v (--no-record turns recording off)", err)
}

// finish puts the run's end into the record, and its beginning if that is not yet
// there. It waits no longer than patience in all, and may be called again after an
// error.
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
	_ = r.store.Close() // what was written is safe
	return nil
}

// recordedData describes a data set that was read.
func recordedData(role, path string, d *dataset.Dataset) runs.Data {
	return runs.Data{Role: role, Path: path, Fingerprint: d.Fingerprint(), Queries: len(d.Queries), Documents: d.Docs()}
}

// recordedFile describes another file that was read.
func recordedFile(role, path string) runs.Data {
	return runs.Data{Role: role, Path: path, Fingerprint: runs.FileFingerprint(path)}
}

// recordedMeasures are all values of a result.
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

// recordedTraining is what a model file says of how the training went.
func recordedTraining(m *model.Model) map[string]any {
	var training map[string]any
	text, err := json.Marshal(m.Training)
	if err == nil {
		err = json.Unmarshal(text, &training)
	}
	if err != nil {
		return nil // as with a final objective that is no number
	}
	return training
}

// recordedSettings are those that train and tune share.
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
