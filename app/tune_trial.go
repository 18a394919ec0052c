package app

import (
	"context"
	"strconv"

	"github.com/listwise/listwise/tune"
)

// listTrials is the value of --trial that prints the trainings in place of doing one.
const listTrials = "list"

// trainingJSON is a training in the JSON form of the list.
type trainingJSON struct {
	Trial   int    `json:"trial"`
	Method  string `json:"method"`
	Fold    string `json:"fold"`
	Setting string `json:"setting"`
}

// checkTrial returns an error if --trial is not what it can be.
func (f *tuneFlags) checkTrial() error {
	if f.trial == "" || f.trial == listTrials {
		return nil
	}
	if n, err := strconv.Atoi(f.trial); err != nil || n < 0 {
		return usageErrorf("--trial: found %q, expected a number from 0, or %s", f.trial, listTrials)
	}
	if f.refit {
		return usageErrorf("--refit: found it with --trial, expected it in the call that collects all trainings")
	}
	return nil
}

// doTrial does one of the trainings, or lists them.
func (f *tuneFlags) doTrial(ctx context.Context, env *environment, config tune.Config) error {
	if f.trial != listTrials {
		n, err := strconv.Atoi(f.trial)
		if err != nil {
			return err
		}
		return tune.RunTrial(ctx, config, n)
	}
	config.Dir = "" // nothing is written
	trials, err := tune.Trials(config)
	if err != nil {
		return usageErrorf("--trial: %w", err)
	}
	r := report{columns: []string{"trial", "method", "fold", "setting"}}
	list := make([]trainingJSON, len(trials))
	for i, t := range trials {
		list[i] = trainingJSON{i, t.Entry, t.Fold, t.Setting}
		r.rows = append(r.rows, []any{i, t.Entry, t.Fold, t.Setting})
	}
	r.json = list
	return env.print(r)
}
