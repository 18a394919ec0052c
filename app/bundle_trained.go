package app

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/tune/runs"
)

// A recorded eval has the values of a model of train. check.sh trains and evaluates again.

// addModel adds the model of a recorded run of train with its evaluation. It returns an error unless all
// recorded evaluations of the model are on the same data.
func (b *bundle) addModel(ctx context.Context, path string) error {
	list, err := b.recorded()
	if err != nil {
		return err
	}
	now := runs.FileFingerprint(path)
	var found *runs.Run
	var ids []string
	for i := range list {
		r := &list[i]
		m := evaluated(r)
		if m == nil || m.Fingerprint != now || r.Status != runs.Finished || !placeOf(m.Path).is(placeOf(path)) {
			continue
		}
		if found == nil {
			found = r // the newest
		}
		if r.Data[0].Fingerprint != found.Data[0].Fingerprint || ids == nil {
			ids = append(ids, strconv.FormatInt(r.ID, 10))
		}
	}
	switch {
	case found == nil:
		return usageErrorf("%s: found no recorded run of eval with this model, expected its values on test data: listwise eval --model %s --data TEST", path, shellLine(path))
	case len(ids) > 1:
		return usageErrorf("%s: found evaluations on several data, runs %s, expected the number of each to pack", path, strings.Join(ids, ", "))
	}
	whole, err := runsNamed(ids)
	if err != nil {
		return err
	}
	return b.addEval(ctx, whole[0])
}

// evaluated returns the model file of a run of eval. It returns nil for other runs, and for files of
// scores.
func evaluated(r *runs.Run) *runs.Data {
	i := slices.IndexFunc(r.Data, func(d runs.Data) bool { return d.Role == "model" })
	if r.Kind != runs.Eval || i < 0 {
		return nil
	}
	return &r.Data[i]
}

// addEval adds a recorded run of eval, with the run of train that wrote its model.
func (b *bundle) addEval(ctx context.Context, r *runs.Run) error {
	at := fmt.Sprintf("run %d", r.ID)
	if slices.Contains(b.added, r.ID) {
		return usageErrorf("%s: found the run twice, expected each once", at)
	}
	b.added = append(b.added, r.ID)
	m := evaluated(r)
	if m == nil {
		return usageErrorf("%s: found an evaluation of scores, which check.sh cannot compute again, expected one of a model of train", at)
	}
	trained, err := b.trainerOf(m.Path)
	if err == nil {
		env := silent()
		err = env.guarded(func() error { return b.addTrained(ctx, env, trained, r, m) })
	}
	if err != nil {
		return usageErrorf("%s, %s: %w", m.Path, at, err)
	}
	return nil
}

// trainerOf returns the newest finished run of train that wrote a model.
func (b *bundle) trainerOf(path string) (*runs.Run, error) {
	list, err := b.recorded()
	if err != nil {
		return nil, err
	}
	for i := range list {
		r := &list[i]
		if r.Kind == runs.Train && r.Status == runs.Finished && len(r.Command) > 0 && placeOf(r.Files[0]).is(placeOf(path)) {
			found, err := runsNamed([]string{strconv.FormatInt(r.ID, 10)})
			if err != nil {
				return nil, err
			}
			return found[0], nil
		}
	}
	return nil, errors.New("found no recorded run of train that wrote this model, expected one")
}

func (b *bundle) addTrained(ctx context.Context, env *environment, trained, r *runs.Run, m *runs.Data) error {
	if err := isOf(m.Path, trained); err != nil {
		return err
	}
	for _, d := range trained.Data {
		if d.Fingerprint == r.Data[0].Fingerprint {
			return fmt.Errorf("found values of %s, the %s data of the model, expected values of test data", r.Data[0].Path, d.Role)
		}
	}
	o, err := reopen(ctx, env, trained)
	if err != nil {
		return err
	}
	test, err := reopen(ctx, env, r)
	if err != nil {
		return err
	}
	name := bareName(m.Path)
	run := b.newRun(name, trained)
	run.addFingerprints(r.Data[:1])
	run.Evaluation, run.trained = test.evaluation, trained.ID
	for _, other := range b.manifest.Runs {
		if other.trained == run.trained && other.Evaluation == run.Evaluation && slices.Equal(other.Fingerprints, run.Fingerprints) {
			return errors.New("found two evaluations of the model on the same data, expected one")
		}
	}
	made := map[string]string{"model": "runs/" + run.Name + "/model.json", "curve": "runs/" + run.Name + "/curve", "per-query": "runs/" + run.Name + "/" + valuesOfEval}
	evaluate, err := b.portable(run, test, made)
	if err != nil {
		return err
	}
	if !slices.Contains(evaluate, made["per-query"]) {
		evaluate = append(evaluate, "--per-query", made["per-query"])
	}
	train, err := b.portable(run, o, made)
	if err != nil {
		return err
	}
	run.Commands = [][]string{train, evaluate}
	var text bytes.Buffer
	if err := test.result.WriteCSV(&text); err != nil {
		return err
	}
	if err := checkValues(m.Path, text.Bytes(), &r.Results[0]); err != nil {
		return err
	}
	b.manifest.Runs = append(b.manifest.Runs, run)
	folder := b.newSystem(run, name)
	base := folder + "/" + run.Data[0]
	fold := bundleFold{Fold: run.Data[0], Settings: trained.Results[0].Settings, Values: base + valuesEnding, Result: valuesOfEval}
	if v := float64(trained.Results[0].Validation); v == v {
		fold.Validation = &v
	}
	b.files[fold.Values] = text.Bytes()
	others := []struct{ flag, result, ending string }{{"--curve", "curve", ".curve"}}
	if b.models {
		others = append(others, struct{ flag, result, ending string }{"--model", "model.json", ".model.json"})
	}
	for _, other := range others {
		for _, out := range o.targets.outputs {
			if out.flag != other.flag {
				continue
			}
			if err := b.addFile(base+other.ending, out.path); err != nil {
				return err
			}
			fold.Others = append(fold.Others, bundleCopy{base + other.ending, other.result})
		}
	}
	run.Systems = append(run.Systems, bundleSystem{name, folder, []bundleFold{fold}})
	return nil
}

// valuesOfEval is the file of eval --per-query in the folder of a run.
const valuesOfEval = "queries.csv"

// isOf returns an error if a model is not the one that a run of train wrote.
func isOf(path string, r *runs.Run) error {
	m, err := model.Load(path)
	if err != nil {
		return err
	}
	if !reflect.DeepEqual(runs.TrainingOf(m), r.Results[0].Training) {
		return fmt.Errorf("found a model of another training, expected that of run %d", r.ID)
	}
	return nil
}
