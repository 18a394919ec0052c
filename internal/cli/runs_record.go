package cli

import (
	"context"
	"encoding/json"
	"errors"
	"math"

	"github.com/spf13/cobra"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/measure"
	"github.com/listwise/listwise/method"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/runs"
)

// recording is the flag of the commands whose runs are recorded.
type recording struct{ noRecord bool }

func (r *recording) addTo(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&r.noRecord, "no-record", false, "leave this run out of the record of experiments, .listwise/runs.db in the working folder (see \"listwise runs\")")
}

// recorder takes down one run. A record that cannot be written costs a warning and
// nothing else: from then on the methods do nothing, as they do if nothing is to be
// recorded.
type recorder struct {
	env   *environment
	store *runs.Store // nil: nothing is recorded
	run   *runs.Run
}

// begin adds the run that describe returns to the record.
func (r *recording) begin(env *environment, describe func() *runs.Run) *recorder {
	rec := &recorder{env: env}
	if r.noRecord {
		return rec
	}
	store, err := runs.Open(".")
	if err != nil {
		rec.giveUp(err)
		return rec
	}
	rec.run, rec.store = describe(), store
	rec.run.Command = env.args
	if err := store.Begin(rec.run); err != nil {
		rec.giveUp(err)
	}
	return rec
}

func (r *recorder) giveUp(err error) {
	r.env.note("warning: this run is not recorded: %v (--no-record does without the record)", err)
	if r.store != nil {
		_ = r.store.Close() // the first error is what matters
		r.store = nil
	}
}

// observe keeps a point of the learning curve.
func (r *recorder) observe(it method.Iteration) {
	if r.store == nil {
		return
	}
	p := runs.Point{
		Ranker: r.run.Methods[0], Start: it.Start, Step: it.Number, Epoch: it.Epoch, Objective: it.Objective,
		GradNorm: math.NaN(), Rate: math.NaN(), Validation: math.NaN(), Best: it.Best,
	}
	if it.Epoch {
		p.Rate = it.Rate
	} else {
		p.GradNorm = it.GradNorm
	}
	if it.Validated {
		p.Validation = it.Validation
	}
	r.run.Curve = append(r.run.Curve, p)
}

// result adds what a ranker reached.
func (r *recorder) result(result runs.Result) {
	if r.store != nil {
		r.run.Results = append(r.run.Results, result)
	}
}

// wrote adds files that the run has written; those without a name are none.
func (r *recorder) wrote(paths ...string) {
	if r.store == nil {
		return
	}
	for _, p := range paths {
		if p != "" {
			r.run.Files = append(r.run.Files, p)
		}
	}
}

// end ends the run, which failed if err is not nil.
func (r *recorder) end(err error) {
	if r.store == nil {
		return
	}
	switch {
	case err == nil:
		r.run.Status = runs.Finished
	case errors.Is(err, context.Canceled):
		r.run.Status = runs.Interrupted
	default:
		r.run.Status, r.run.Error = runs.Failed, err.Error()
	}
	if err := r.store.Finish(r.run); err != nil {
		r.giveUp(err)
		return
	}
	if err := r.store.Close(); err != nil {
		r.env.note("warning: %v", err) // the run itself is recorded
	}
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
	for _, name := range r.Names() {
		m := runs.Measure{Name: name, Mean: r.Mean(name), TieNeutral: r.TieNeutral(name), Queries: r.Counted(name)}
		for i, v := range r.PerQuery(name) {
			m.PerQuery = append(m.PerQuery, runs.Value{Query: r.Queries()[i], Value: v})
		}
		all = append(all, m)
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
	return map[string]any{"convention": c.Name(), "threshold": c.Threshold(), "normalize": l.normalize, "missing": l.missing}
}

// scorerOf is the scorer that a method trains.
func (l *learning) scorerOf(m *method.Method) string {
	if l.scorer == "" {
		return m.Scorers()[0]
	}
	return l.scorer
}
