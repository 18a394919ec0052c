package runs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/transform"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/learn/train"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/tune"
)

// Tune calls [tune.Run] and records the run: settings, fingerprints of the data, and the results of
// each fold with the values of each query. "listwise runs" shows the run like one of the command tune.
// The recorded setting "program" is the name of the calling program.
//
// If the configuration is invalid (see [tune.Open]), or the beginning cannot be recorded, Tune returns an
// error, and neither trains nor records. If the end cannot be recorded, Tune returns both the result and an
// error.
func (s *Store) Tune(ctx context.Context, c tune.Config) (*tune.Result, error) {
	session, err := tune.Open(c)
	if err != nil {
		return nil, err
	}
	c = session.Config() // with the names and measures that the result has
	r := &Run{Kind: Tune, Seed: &c.Seed, Config: settingsOf(c.Select, c.Normalization, c.Missing, c.Views, c.Transforms)}
	measures := []any{}
	for _, m := range c.Measures {
		measures = append(measures, m.Name())
	}
	r.Config["measures"], r.Config["ties"] = measures, c.Ties.String()
	methods := make(map[string]any)
	for i := range c.Entries {
		e := &c.Entries[i]
		kind := cmp.Or(e.Scorer, c.Scorer)
		if e.Own != nil {
			kind = e.Own.Scorer
		}
		methods[e.Name] = EntryOf(e, kind)
		r.Methods = append(r.Methods, e.Name)
	}
	r.Config["methods"] = methods
	for i := range c.Folds {
		f := &c.Folds[i]
		for _, part := range []struct {
			role string
			data *dataset.Dataset
		}{{"train", f.Train}, {"valid", f.Valid}, {"test", f.Test}} {
			if part.role != "test" || f.Tested() {
				r.Data = append(r.Data, DataOf(f.Name+" "+part.role, "", part.data))
			}
		}
	}
	if err := s.Begin(r); err != nil {
		return nil, err
	}
	result, err := tune.Run(ctx, c)
	if err == nil {
		if r.Results = ResultsOf(result); c.Dir != "" {
			r.Files = FilesOf(&c, result)
		}
	}
	return result, s.end(r, err)
}

// Train calls [train.Run] and records the run: settings, fingerprints of the data, the learning curve,
// and the values of p.Select for the validation queries. The name of the ranker is p.Method or, if it
// is empty, the type of the learner. For a method of the catalogue, pass the result of its method
// Problem. Like [Store.Tune], Train returns an error before the training if the beginning cannot be
// recorded, and the model with an error if the end cannot.
func (s *Store) Train(ctx context.Context, p *train.Problem) (*model.Model, error) {
	own := *p
	name := cmp.Or(p.Method, fmt.Sprintf("%T", p.Learner))
	selects := p.Select
	if selects == nil {
		selects = orMAP(p.Measure)
	}
	r := &Run{Kind: Train, Methods: []string{name}, Seed: &own.Seed, Config: settingsOf(selects, p.Normalization, p.Missing, p.Views, p.Transforms)}
	r.Config["hyperparameters"], r.Config["identity"] = p.Settings, cmp.Or(p.Identity, train.IdentityOf(p.Method, p.Loss, p.Learner, p.Settings))
	if p.Measure != nil {
		r.Config["measure"] = p.Measure.Name()
	}
	if p.Data != nil { // otherwise train.Run returns an error
		r.Data = append(r.Data, DataOf("train", "", p.Data))
	}
	if p.Valid != nil {
		r.Data = append(r.Data, DataOf("valid", "", p.Valid))
	}
	own.Observe = func(it train.Iteration) {
		r.Curve = append(r.Curve, PointOf(name, it))
		if p.Observe != nil {
			p.Observe(it)
		}
	}
	if err := s.Begin(r); err != nil {
		return nil, err
	}
	m, err := train.Run(ctx, &own)
	if err == nil {
		result := RankerResult{Ranker: name, Settings: p.Settings, Training: TrainingOf(m), Validation: NaN()}
		if v := m.Training.Validation; v != nil {
			result.Validation = Number(*v)
		}
		if p.Valid != nil {
			result.Measures, err = validated(m, p.Valid, selects)
		}
		r.Results = []RankerResult{result}
	}
	return m, s.end(r, err)
}

// validated measures a model on validation data.
func validated(m *model.Model, valid *dataset.Dataset, by measure.Measure) ([]Measure, error) {
	scores, err := m.Score(valid)
	if err != nil {
		return nil, err
	}
	result, err := measure.Evaluate(valid, scores, []measure.Measure{by}, measure.TiesInput)
	if err != nil {
		return nil, err
	}
	return MeasuresOf(result), nil
}

// orMAP returns a measure, or the default of [tune.Run] and [train.Run] if it is nil.
func orMAP(m measure.Measure) measure.Measure {
	if m == nil {
		return measure.MustParse("map", measure.Convention{})
	}
	return m
}

// settingsOf returns the settings that trainings and tunings share.
func settingsOf(selects measure.Measure, n dataset.Normalization, missing dataset.Missing, views dataset.Views, transforms []transform.Spec) map[string]any {
	settings := map[string]any{
		"program": filepath.Base(os.Args[0]), "select": selects.Name(), "convention": measure.ConventionOf(selects).Name(),
		"normalize": n.String(), "missing": missing.String(),
	}
	if !views.Raw() {
		settings["views"] = views.String()
	}
	if len(transforms) > 0 {
		settings["transform"] = transform.Texts(transforms)
	}
	return settings
}

// end records the end of a run that err ended, or that has its results if err is nil.
func (s *Store) end(r *Run, err error) error {
	r.End(err)
	if recorded := s.Finish(r); recorded != nil && err == nil {
		return fmt.Errorf("the run has its result, but is not recorded: %w", recorded)
	}
	return err
}

// End sets Status and Error for a run that err ended. A run is finished if err is nil, and interrupted
// if its context was canceled.
func (r *Run) End(err error) {
	switch {
	case err == nil:
		r.Status = Finished
	case errors.Is(err, context.Canceled):
		r.Status = Interrupted
	default:
		r.Status, r.Error = Failed, err.Error()
	}
}
