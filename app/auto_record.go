package app

import (
	"cmp"
	"path/filepath"

	"github.com/listwise/listwise/app/runs"
	"github.com/listwise/listwise/tune"
	"github.com/listwise/listwise/tune/auto"
)

// recorded describes a run of auto before it trains. What was trained are the trials' methods, which
// trials.jsonl lists; the run is of the recipe.
func (f *autoFlags) recorded(c *auto.Config) *runs.Run {
	settings := f.recordedSettings(c.Tune.Convention)
	settings["select"], settings["ties"], settings["measures"] = c.Tune.Select.Name(), c.Tune.Ties.String(), namesOfMeasures(c.Tune.Measures)
	settings["members"], settings["refit"] = c.Members, string(c.Refit)
	if f.trials > 0 {
		settings["trials"] = f.trials
	}
	if f.budget > 0 {
		settings["budget"] = f.budget.String()
	}
	if f.without != nil {
		settings["without"] = mapped(f.without, func(n int) any { return n })
	}
	r := &runs.Run{Kind: runs.Auto, Methods: []string{autoSystem}, Config: settings, Seed: &c.Tune.Seed}
	r.Data = f.recordedFolds(c.Tune.Folds)
	return r
}

// record takes down what came of a run: for every system the means over the folds, and every
// fold; for what auto fused, its members.
func (f *autoFlags) record(rec *recorder, r *auto.Result, m *autoMeasured) {
	rec.wrote(filepath.Join(f.out, modelName), filepath.Join(f.out, "report.html"), filepath.Join(f.out, "commands.sh"),
		filepath.Join(f.out, "trials.jsonl"), filepath.Join(f.out, "results.json"))
	for s, name := range m.names {
		means := runs.Result{Ranker: name, Validation: runs.NaN(), Measures: meansOf(m.rows[s], m.results[s])}
		if name == autoSystem || name == triedSystem {
			means.Settings = memberNames(&r.Final)
			means.Training = map[string]any{"trials": r.Trials, "trials_in_all": r.Of}
		}
		rec.result(means)
		for k := range r.Folds {
			fold := runs.Result{Ranker: name, Fold: r.Folds[k].Name, Validation: runs.NaN(), Measures: recordedMeasures(m.results[s][k])}
			if name == autoSystem || name == triedSystem {
				fold.Settings = memberNames(&r.Folds[k])
			}
			rec.result(fold)
			rec.wrote(f.foldModel(name, r.Folds[k].Name))
		}
	}
}

// memberNames are the settings of a fusion: what it was made of.
func memberNames(f *auto.Fused) map[string]any {
	return map[string]any{"members": mapped(f.Members, func(m auto.Member) any { return m.Entry.Name })}
}

// recordedFolds describes the data of folds.
func (s *source) recordedFolds(folds []tune.Fold) []runs.Data {
	var all []runs.Data
	for i := range folds {
		fold := &folds[i]
		dir := filepath.Join(s.data, fold.Name)
		if !isFolder(dir) { // one fold's own folder, or a file
			dir = s.data
		}
		all = append(all,
			recordedData(fold.Name+" train", cmp.Or(s.files.Train, dir), fold.Train),
			recordedData(fold.Name+" valid", cmp.Or(s.files.Valid, dir), fold.Valid))
		if fold.Tested() {
			all = append(all, recordedData(fold.Name+" test", cmp.Or(s.files.Test, dir), fold.Test))
		}
	}
	return all
}
