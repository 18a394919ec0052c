package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/tune"
	"github.com/listwise/listwise/tune/runs"
)

// reopened is the command of a recorded run, whose flags are parsed and whose data are read again.
type reopened struct {
	cmd     *cobra.Command
	args    []string // as recorded
	targets *targets
	data    []runs.Data // as they would be recorded now
	folds   []tune.Fold // of tune and auto

	// Of eval:
	result     *measure.Result
	evaluation bundleEvaluation
}

// silent returns an environment for a command that prints nothing.
func silent() *environment {
	return &environment{stdin: strings.NewReader(""), stdout: io.Discard, stderr: io.Discard, quiet: true}
}

// reopen parses the command of a recorded run and reads its data again, with the files of env.
func reopen(ctx context.Context, env *environment, r *runs.Run) (o *reopened, err error) {
	o = &reopened{args: r.Command}
	switch r.Kind {
	case runs.Tune:
		var f tuneFlags
		if err = o.parse(env, f.command(env)); err == nil {
			err = o.tune(ctx, env, &f)
		}
	case runs.Auto:
		var f autoFlags
		if err = o.parse(env, f.command(env)); err == nil {
			err = o.auto(ctx, env, &f)
		}
	case runs.Train:
		var f trainFlags
		if err = o.parse(env, f.command(env)); err == nil {
			err = o.train(ctx, env, &f)
		}
	case runs.Eval:
		var f evalFlags
		if err = o.parse(env, f.command(env)); err == nil {
			err = o.eval(ctx, env, &f)
		}
	case runs.Ablate: // addRuns refuses it
	}
	if err != nil {
		return nil, err
	}
	return o, sameData(r.Data, o.data)
}

// parse parses the recorded command. cmd is a command of its kind.
func (o *reopened) parse(env *environment, cmd *cobra.Command) error {
	root := newRoot(env)
	for _, c := range root.Commands() {
		if c.Name() == cmd.Name() {
			root.RemoveCommand(c)
		}
	}
	root.AddCommand(cmd)
	var rest []string
	var err error
	if o.cmd, rest, err = root.Find(o.args); err == nil {
		err = o.cmd.ParseFlags(rest)
	}
	if err != nil {
		return fmt.Errorf("the recorded command: %w", err)
	}
	return nil
}

func (o *reopened) tune(ctx context.Context, env *environment, f *tuneFlags) error {
	f.cmd, o.targets = o.cmd, f.targets(f.by, f.out)
	if err := f.parseRepeats(o.cmd); err != nil {
		return err
	}
	configs, _, err := f.open(ctx, env)
	if err == nil {
		o.folds, o.data = configs[0].Folds, f.recorded(&configs[0]).Data
	}
	return err
}

func (o *reopened) auto(ctx context.Context, env *environment, f *autoFlags) error {
	o.targets = f.targets(f.by, f.out)
	if err := f.require(o.cmd); err != nil {
		return err
	}
	w, err := f.open(ctx, env)
	if err == nil {
		o.folds, o.data = w.folds, f.recorded(w).Data
	}
	return err
}

func (o *reopened) train(ctx context.Context, env *environment, f *trainFlags) error {
	if f.from != "" {
		return fmt.Errorf("found --continue %s, a model of another command, expected a training from data alone", f.from)
	}
	o.targets = f.targets()
	m, p, err := f.problem(ctx, env)
	if err == nil {
		o.data = f.recorded(m, p).Data
	}
	return err
}

func (o *reopened) eval(ctx context.Context, env *environment, f *evalFlags) error {
	o.targets = f.targets()
	read, convention, measures, ties, err := f.open(ctx, env)
	if err != nil {
		return err
	}
	o.data = f.recorded(read[0].Test, read[0].Systems[0].Model, convention, measures).Data
	o.evaluation = bundleEvaluation{convention.Name(), convention.Threshold(), ties.String()}
	o.result, err = read[0].Evaluate(0, measures, ties)
	return err
}

// testOf returns the test data of a fold of tune or auto, or nil.
func (o *reopened) testOf(fold string) *dataset.Dataset {
	i := slices.IndexFunc(o.folds, func(f tune.Fold) bool { return f.Name == fold })
	if i < 0 {
		return nil
	}
	return o.folds[i].Test
}

// sameData returns an error if data differ from the recorded data of a run.
func sameData(recorded, now []runs.Data) error {
	for i, d := range recorded {
		switch {
		case i >= len(now) || now[i].Role != d.Role:
			return fmt.Errorf("the data have changed since: found no %s, expected it as recorded", d.Role)
		case now[i].Fingerprint != d.Fingerprint:
			return fmt.Errorf("the data have changed since: %s, %s: found fingerprint %s, expected %s as recorded", d.Path, d.Role, now[i].Fingerprint, d.Fingerprint)
		}
	}
	if len(now) > len(recorded) {
		return fmt.Errorf("the data have changed since: found %s, which is not recorded", now[len(recorded)].Role)
	}
	return nil
}

// dropped are flags that change no packed number. A checkpoint would resume a training.
var dropped = []string{"jobs", "by", "max-memory", "quiet", "format", "checkpoint", "rerank", "first"}

// portable returns the command with the paths of the bundle in place of this machine's. made has the
// paths of its results, by flag. Files that the command reads become data/NAME, and are added to the
// bundle as data of the run, the test data first.
func (b *bundle) portable(run *bundleRun, o *reopened, made map[string]string) ([]string, error) {
	names := make(map[target]string)
	inputs := slices.Clone(o.targets.inputs)
	slices.SortStableFunc(inputs, func(x, y target) int { return testsFirst(x.flag) - testsFirst(y.flag) })
	for _, in := range inputs {
		flag := strings.TrimPrefix(in.flag, "--")
		if made[flag] != "" || slices.Contains(dropped, flag) {
			continue
		}
		name, err := b.addData(in.path)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(run.Data, name) {
			run.Data = append(run.Data, name)
		}
		names[in] = "data/" + name
	}
	var command []string
	for i := 0; i < len(o.args); i++ {
		flag, value, given := strings.Cut(o.args[i], "=")
		name := strings.TrimPrefix(flag, "--")
		known := o.cmd.Flags().Lookup(name)
		if name == flag || known == nil {
			command = append(command, o.args[i])
			continue
		}
		if !given && known.NoOptDefVal == "" && i+1 < len(o.args) {
			i++
			value, given = o.args[i], true
		}
		switch at := names[target{flag, value}]; {
		case slices.Contains(dropped, name):
		case made[name] != "":
			command = append(command, flag, made[name])
		case at != "":
			command = append(command, flag, at)
		case filepath.IsAbs(value):
			return nil, fmt.Errorf("the command has %s %s, expected no absolute paths but those of data", flag, value)
		case given && known.NoOptDefVal != "":
			command = append(command, flag+"="+value)
		case given:
			command = append(command, flag, value)
		default:
			command = append(command, flag)
		}
	}
	return command, nil
}

// testsFirst orders the flags of data. Tables are named after the first.
func testsFirst(flag string) int {
	if flag == "--test" {
		return 0
	}
	return 1
}

// errBudget is the error for a search with a time limit.
func errBudget(r *runs.Run, dir string) error {
	return fmt.Errorf("found a search of auto with --budget %s, whose result depends on the machine, expected one with --trials alone: the first lines of %s have the command; run it, and bundle its run",
		configText(r.Config["budget"]), filepath.Join(dir, "commands.sh"))
}

var errNoTests = errors.New("found values of the validation data, by which settings were chosen, expected values of test data (--test, or --data with folds)")
