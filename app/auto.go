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
		Short: "Select, combine and refit models within a time budget",
		Long: `Trains the methods of the catalogue on the raw features, and on these with their ranks
and z-scores within the query. Least squares and LambdaMART come first. Linear
functions, trees, networks and their other settings follow until the time is over. The
methods that are best on validation data are fused: at most --members and at most half
of all. The fusion is the mean of their scores, standardized within the query. It is
one model, which scores like any other.

--data is a folder with Fold1 … FoldK, a folder with one fold's train.txt, vali.txt
and test.txt, or a file, which is divided by queries. For folds with test data, each
fold gets its own fusion, chosen on its validation data. The report compares it on the
test data with the best single method and with the fusion of all methods. The final
model is trained on all queries of the folds. It is never trained on data of --test.

--refit says how members use the validation data:
  turns      beside the model of its trial, each member has one trained on all data but
             one part, which decides when to stop; the parts take turns
  committee  each member has one model for every part
  once       each member has one model trained on all data, as long as was best

--budget makes the result depend on the machine. --trials with the number of trials
that a run reached gives the same bytes anywhere, if --without leaves out the trials
that were running when its time ended.

The folder --out gets:
  model.json     the model
  report.html    the report
  commands.sh    commands that make every model again, byte for byte
  trials.jsonl   one line a trial
  results.json   all results
  members/       the models that were fused
  curves/        for each fold, learning curves of the best of them
  folds/         for each fold, the fusions, as compare and report take them
A run that was interrupted resumes.`,
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
	fl.StringVar(&f.selectBy, "select", "map", "validation `measure` that selects the members")
	addWhole(fl, &f.jobs, "jobs", 0, 0, "`number` of parallel trainings (default: number of cores)")
	fl.DurationVar(&f.budget, "budget", defaultBudget, "`time` limit, such as 10m; 0: none")
	addWhole(fl, &f.trials, "trials", 0, 0, "`number` of trials (default: as time allows)")
	fl.IntSliceVar(&f.without, "without", nil, "`numbers` of trials to leave out, separated by commas")
	addWhole(fl, &f.members, "members", auto.DefaultMembers, 1, "largest `number` of methods to combine")
	fl.StringVar(&f.refit, "refit", string(auto.Refits()[0]), "`how` members use the validation data: turns, committee or once")
	fl.StringVar(&f.out, "out", "", "`folder` for results")
	f.slicer.addTo(cmd)
	f.measuring.addTo(cmd, usualMeasures, "`measures` to report, separated by commas")
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
		return usageErrorf("--budget %v: expected a time such as 10m, or 0 for no limit", f.budget)
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
