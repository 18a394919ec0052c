package app

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/listwise/listwise/app/runs"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/learn/method"
	"github.com/listwise/listwise/tune/auto"
)

type autoFlags struct {
	learning
	recording
	measuring
	slicer
	source
	selectBy string
	jobs     int
	budget   time.Duration
	trials   int
	without  []int // trials, from 1
	members  int
	refit    string
	out      string

	begun time.Time
	cmd   *cobra.Command
}

// defaultBudget is the time that auto takes unless told otherwise.
const defaultBudget = 10 * time.Minute

func newAutoCommand(env *environment) *cobra.Command {
	var f autoFlags
	cmd := &cobra.Command{
		Use:   "auto (--data DIR|FILE | --train FILE --valid FILE [--test FILE]) --out DIR",
		Short: "Make the best ranker that honest validation finds, in one model file",
		Long: `Trains the methods of the catalogue, each on the raw features and on these with
their ranks and z-scores within the query, least squares and LambdaMART first, then
linear functions, trees and networks and their further settings, until the time is over; fuses those that are best on validation
data, at most 20 and at most half of all, by the mean of their scores standardised
within the query; has these learn from the validation data, too; and writes one
model, which scores like any other.

DIR holds Fold1 … FoldK, or train.txt, vali.txt and test.txt of one fold. FILE is
divided into folds by whole queries. Of folds with test data, every fold gets a
fusion of its own, chosen by its validation data and measured on its test data
beside the best single method and the fusion of all methods; the last model learns
from all queries of the folds. Test data that --test names are never learned from.

The output folder gets model.json; report.html; commands.sh, whose commands make
every model anew, byte for byte; trials.jsonl, a line a trial; results.json; the
models that were fused, in members/; for every fold, in curves/, the learning curves
of the best of them that have any; and for every fold the fusions, in folds/,
which compare and report take as systems. A run that was killed goes on where it was.`,
		Example: `  listwise auto --data shop.csv --out runs/shop --budget 10m
  listwise auto --data MQ2008 --out runs/mq2008 --trials 300
  listwise auto --train Fold1/train.txt --valid Fold1/vali.txt --test Fold1/test.txt --out runs/mine --trials 20`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.require(cmd); err != nil {
				return err
			}
			if !cmd.Flags().Changed("budget") && f.trials > 0 {
				f.budget = 0
			}
			return f.run(cmd.Context(), env)
		},
	}
	f.cmd, f.begun = cmd, time.Now()
	fl := cmd.Flags()
	f.source.addTo(cmd)
	fl.StringVar(&f.selectBy, "select", "map", "`measure` on the validation queries that members are chosen by")
	addWhole(fl, &f.jobs, "jobs", 0, 0, "`number` of trainings side by side (default: one a core)")
	fl.DurationVar(&f.budget, "budget", defaultBudget, "`time` that all of it takes, such as 10m; 0: any; which trials are done then depends on the machine, and --trials with their number gives the same bytes anywhere")
	addWhole(fl, &f.trials, "trials", 0, 0, "`number` of trials, each a setting of a method on all folds (default: as many as the time allows)")
	fl.IntSliceVar(&f.without, "without", nil, "`numbers` of trials, separated by commas, that are left out: those that were under way when the time of another run was over")
	addWhole(fl, &f.members, "members", auto.DefaultMembers, 1, "`number` of methods, each with a scorer, that are fused with all that was tried of them, at most")
	fl.StringVar(&f.refit, "refit", string(auto.Refits()[0]), "`how` the members learn from the validation data: turns (beside the model of its trial, each has one of all data but a part that decides when to stop; the parts take turns), committee (each has one for every part) or once (from all data, as long as was best)")
	fl.StringVar(&f.out, "out", "", "`folder` for results")
	f.slicer.addTo(cmd)
	f.measuring.addTo(cmd, usualMeasures, "`measures` to report")
	f.addData(cmd)
	f.recording.addTo(cmd)
	return cmd
}

// require returns an error if a flag that is necessary is missing, or contradicts another.
func (f *autoFlags) require(cmd *cobra.Command) error {
	if err := f.source.require(cmd); err != nil {
		return err
	}
	if f.budget < 0 {
		return usageErrorf("--budget %v: expected a time such as 10m, or 0 for any", f.budget)
	}
	return required(cmd, "out")
}

func (f *autoFlags) run(ctx context.Context, env *environment) error {
	if err := f.targets().check(); err != nil {
		return err
	}
	if err := notTuned(f.out); err != nil {
		return err
	}
	config, err := f.config(ctx, env)
	if err != nil {
		return err
	}
	rec := f.begin(env, func() *runs.Run { return f.recorded(config) })
	out, err := f.produce(ctx, env, config, rec)
	return rec.conclude(out, err)
}

// produce makes the model, and leaves the results in the folder.
func (f *autoFlags) produce(ctx context.Context, env *environment, config *auto.Config, rec *recorder) (report, error) {
	bar := env.startProgress("trials", 0)
	config.Observe = func(p auto.Progress) { bar.observeTrials(config.Tune.Select.Name(), p) }
	result, err := auto.Run(ctx, *config)
	bar.finish()
	if err != nil {
		return report{}, err
	}
	m, err := f.measureFusions(result)
	if err != nil {
		return report{}, err
	}
	if err := f.write(ctx, env, result, m); err != nil {
		return report{}, err
	}
	f.record(rec, result, m)
	return f.report(result, m), nil
}

// observeTrials shows how many trainings are done and the best so far.
func (p *progress) observeTrials(measure string, t auto.Progress) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.label, p.done, p.total = t.Stage, int64(t.Done), int64(t.Total)
	p.detail = p.steps(true)
	if t.Name != "" {
		p.detail += fmt.Sprintf(", best %s on validation %.4f by %s", measure, t.Best, t.Name)
	}
}

// config puts together what the flags describe, and reads the data.
func (f *autoFlags) config(ctx context.Context, env *environment) (*auto.Config, error) {
	refit, err := auto.ParseRefit(f.refit)
	if err != nil {
		return nil, usageErrorf("--refit: %w", err)
	}
	c := &auto.Config{Refit: refit, Trials: f.trials, Budget: f.budget, Begun: f.begun, Members: f.members}
	for _, number := range f.without {
		if number < 1 {
			return nil, usageErrorf("--without %d: expected numbers of trials, from 1 on", number)
		}
		c.Without = append(c.Without, number-1)
	}
	t := &c.Tune
	t.Seed, t.Jobs, t.Dir = f.seed, f.jobs, filepath.Join(f.out, "journal")
	opts, err := f.tuning(t, &f.measuring, f.selectBy)
	if err == nil {
		err = f.ask(&opts)
	}
	if err != nil {
		return nil, err
	}
	const more = 12 // the data whole, and divided into up to ten parts to learn from all but one
	if t.Folds, c.Whole, t.MaxBytes, err = f.read(ctx, env, opts, f.seed, more); err != nil {
		return nil, err
	}
	warnOfFolds(env, t.Folds)
	t.Convention = env.settle(t.Convention, dataOf(t.Folds)...)
	warnOfTests(env, t)
	warnOfIndifference(env, t.Folds[0].Train, catalogueMeasures(t.Convention))
	return c, f.divisible(testsOfFolds(t.Folds), t.Convention.Threshold())
}

// catalogueMeasures returns what the methods of the catalogue optimise by default.
func catalogueMeasures(c measure.Convention) []measure.Measure {
	var measures []measure.Measure
	for _, m := range method.List() {
		if m.UsesMeasure {
			measures = append(measures, measure.MustParse(m.DefaultMeasure, c))
		}
	}
	return measures
}
