package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/listwise/listwise/app/runs"
	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/learn/method"
	"github.com/listwise/listwise/model"
)

// learning are the flags that train and tune have in common.
type learning struct {
	reading
	judging
	measure   string
	normalize string
	transform []string
	views     string
	scorer    string
	seed      uint64
}

func (l *learning) addTo(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&l.measure, "measure", "", "`measure` to optimise, such as map, ndcg@K, auc or mrr (default: the method's own; some methods have none)")
	f.StringVar(&l.views, "views", "raw", "`forms` in which features are learned from, after --normalize, separated by commas: raw, rank (among the query's documents, from 0 to 1) and zscore (within the query); stored in the model")
	f.StringVar(&l.scorer, "scorer", "", "`kind` of function from features to scores: linear, net (a hidden layer, see hidden and activation among the hyperparameters), trees (boosted; see listwise methods M --scorer trees) or, for boltzrank2, pairnet (default: linear; pairnet for boltzrank2, trees for lambdamart and mart)")
	l.addData(cmd)
}

// addData adds what does not depend on the method: how data are read and what is done to them, what
// counts as relevant, and the seed.
func (l *learning) addData(cmd *cobra.Command) {
	f := cmd.Flags()
	l.judging.addTo(cmd)
	f.StringVar(&l.normalize, "normalize", "none", "`how` to rescale features per query: none, minmax or zscore; stored in the model")
	f.StringArrayVar(&l.transform, "transform", nil, "a `STEP[:FEATURES]` that features go through one by one before --normalize, learned from the training data and stored in the model; may be repeated, in order. Steps: log1p, standard (by mean and standard deviation), clip=LOW:HIGH (numbers, quantiles such as 99%, or nothing); features by name or number, such as price,3..7, all if not given")
	l.reading.addTo(cmd)
	f.Lookup("missing").Usage = "`what` nan and NULL stand for: error, zero, min (the least value within the query), mean or median (of the feature in the training data), or keep (nothing: trees learn where documents go without); stored in the model"
	f.Uint64Var(&l.seed, "seed", 1, "`number` that everything random depends on")
}

// recipe is what these flags say of how to learn.
func (l *learning) recipe() *method.Recipe {
	return &method.Recipe{
		Scorer: l.scorer, Measure: l.measure, Convention: l.convention, Threshold: l.threshold, Normalize: l.normalize,
		Views: l.views, Missing: l.missing, Transform: l.transform, Seed: l.seed,
	}
}

// flagFault makes the error of an option one of the flag of that name.
func flagFault(err error) error {
	if has[*method.OptionError](err) {
		return usageErrorf("--%w", err)
	}
	return err
}

// oneMeasure parses the value of a flag that names a single measure, under the
// convention asked for.
func (l *learning) oneMeasure(flag, name string) (measure.Measure, error) {
	m, err := l.recipe().OneMeasure(flag, name)
	return m, flagFault(err)
}

// trainingMeasure returns what the method is to optimise, nil if it has no
// choice.
func (l *learning) trainingMeasure(m *method.Method) (measure.Measure, error) {
	training, err := l.recipe().TrainingMeasure(m)
	return training, flagFault(err)
}

// lookup returns the method of that name as it trains the scorer asked for.
func (l *learning) lookup(name string) (*method.Method, error) {
	m, err := l.recipe().Lookup(name)
	return m, flagFault(err)
}

// methodFor returns a method as it trains a kind of scorer, empty for its default.
func methodFor(m *method.Method, scorer string) (*method.Method, error) {
	of, err := method.ForScorer(m, scorer)
	return of, flagFault(err)
}

func (l *learning) normalization() (dataset.Normalization, error) {
	n, err := l.recipe().Normalization()
	return n, flagFault(err)
}

// parseViews returns the views asked for, nil for the raw features alone.
func (l *learning) parseViews() (dataset.Views, error) {
	v, err := l.recipe().ParseViews()
	return v, flagFault(err)
}

func conventionNames() []string {
	return mapped(measure.Conventions(), measure.Convention.Name)
}

// settings reads repeated k=v flags.
func settings(flag string, pairs []string) (map[string]string, error) {
	set := make(map[string]string)
	for _, p := range pairs {
		name, value, ok := strings.Cut(p, "=")
		if !ok || name == "" {
			return nil, usageErrorf("--%s %s: expected name=value", flag, p)
		}
		if _, twice := set[name]; twice {
			return nil, usageErrorf("--%s %s: %s is given twice", flag, p, name)
		}
		set[name] = value
	}
	return set, nil
}

type trainFlags struct {
	learning
	recording
	continuing
	stopping
	sampling
	method      string
	set         []string
	train       []string
	minFeatures int
	curve       string
	model       string
	checkpoint  string

	opened dataset.Options  // that the training data were opened with
	whole  *dataset.Dataset // that were opened: with a part that is held out
}

func newTrainCommand(env *environment) *cobra.Command {
	var f trainFlags
	cmd := &cobra.Command{
		Use:   "train --method M --train FILE --model OUT",
		Short: "Learn a ranking function and store it in a file",
		Long: `Learns a ranking function from the judged queries of a file and writes a model,
a JSON file that holds the weights and everything needed to score with them.

--continue adds trees to those of a model, on the same or on other data. It keeps the
model's transforms, normalization, views, rules for missing values, and its monotone,
categorical and interactions settings. With --refit it adds no trees but learns the values
of the model's leaves anew.

The same command gives the same file, byte for byte, on any number of cores.`,
		Example: `  listwise train --method convexloss --measure ndcg@10 --train Fold1/train.txt --model m.json
  listwise train --method mle --set C=0.01 --normalize minmax --train train.txt.gz --model m.json
  listwise train --method mle --transform log1p:2,3 --transform clip=0%:99% --transform standard --train train.txt --model m.json
  listwise train --method lambdamart --train Fold1/train.txt --valid Fold1/vali.txt --model trees.json
  listwise train --method lambdamart --continue trees.json --train new.txt.gz --model longer.json
  listwise train --method lambdarank --scorer net --set hidden=20 --train Fold1/train.txt --valid Fold1/vali.txt --curve c.jsonl --model m.json`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := required(cmd, "method", "train", "model"); err != nil {
				return err
			}
			return f.run(cmd.Context(), env)
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.method, "method", "", "`method` to learn with (see \"listwise methods\")")
	fl.StringArrayVar(&f.set, "set", nil, "a hyperparameter, `name=value`; may be repeated (see \"listwise methods M\")")
	fl.StringArrayVar(&f.train, "train", nil, "judged queries to learn from, a `file`: LETOR text or a table (.txt, .csv, .tsv, .jsonl, also with .gz or .zst), a .lwd cache, or - (standard input); repeated, the queries of all files, in that order")
	addWhole(fl, &f.minFeatures, "min-features", 0, 0, "least `number` of features of data without names: where the highest stand in no line, as may be with sparse data, they are 0")
	fl.StringVar(&f.curve, "curve", "", "`file` for the learning curve: a line of JSON after every epoch, round of boosting or iteration, while training runs")
	fl.StringVar(&f.model, "model", "", "`file` to write the model to")
	fl.StringVar(&f.checkpoint, "checkpoint", "", "`file` that keeps the state of a training that takes long (by descent, L-BFGS or boosted trees); if it exists, training goes on from it")
	f.stopping.addTo(cmd)
	f.sampling.addTo(cmd, "--train")
	f.learning.addTo(cmd)
	f.continuing.addTo(cmd)
	f.recording.addTo(cmd)
	return cmd
}

func (f *trainFlags) run(ctx context.Context, env *environment) error {
	if err := f.targets().check(); err != nil {
		return err
	}
	m, problem, err := f.problem(ctx, env)
	if err != nil {
		return err
	}
	rec := f.begin(env, func() *runs.Run { return f.recorded(m, problem) })
	out, err := f.fit(ctx, env, m, problem, rec)
	return rec.conclude(out, err)
}

// fit trains, stores the model and measures it.
func (f *trainFlags) fit(ctx context.Context, env *environment, m *method.Method, p *method.Problem, rec *recorder) (report, error) {
	trained, err := f.learn(ctx, env, m, p, rec)
	for errors.Is(err, dataset.ErrTooLarge) {
		again, failed := f.reopen(ctx, env, p)
		if failed != nil {
			return report{}, failed
		}
		if !again {
			break
		}
		trained, err = f.learn(ctx, env, m, p, rec)
	}
	if err != nil {
		return report{}, err
	}
	valid, err := f.validation(trained, p.Valid)
	if err != nil {
		return report{}, err
	}
	if err := trained.Save(f.model); err != nil {
		return report{}, err
	}
	env.advise(trained, p)
	rec.wrote(f.model, f.curve, f.checkpoint)
	rec.result(trainResult(m, p, trained, valid))
	return trainReport(f.model, trained, valid), nil
}

// learn trains, showing how it goes and writing the curve.
func (f *trainFlags) learn(ctx context.Context, env *environment, m *method.Method, p *method.Problem, rec *recorder) (*model.Model, error) {
	limitTrainingGarbage(p.Data)
	bar := env.startIterations(m.Title, cmp.Or(p.Scorer, m.Scorers()[0]), p.Values)
	defer bar.finish()
	p.Observe = func(it method.Iteration) {
		bar.observe(it)
		rec.observe(it)
	}
	if f.curve == "" {
		return m.Train(ctx, p)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	c, err := newCurve(f.curve, f.checkpoint, cancel)
	if err != nil {
		return nil, err
	}
	p.Observe = func(it method.Iteration) {
		bar.observe(it)
		rec.observe(it)
		c.observe(it)
	}
	trained, err := m.Train(ctx, p)
	if closed := c.close(err != nil); err == nil {
		err = closed
	}
	return trained, err
}

// validation measures the model on the validation data, nil without.
func (f *trainFlags) validation(m *model.Model, valid *dataset.Dataset) (*measure.Result, error) {
	if valid == nil {
		return nil, nil
	}
	c, err := f.parseConvention()
	if err != nil {
		return nil, err
	}
	measures, err := measure.ParseList("map,ndcg@10", c.WithThreshold(m.Threshold), measure.Options{})
	if err != nil {
		return nil, err
	}
	scores, err := m.Score(valid)
	if err != nil {
		return nil, err
	}
	return measure.Evaluate(valid, scores, measures, measure.TiesInput)
}

// problem puts together what the flags describe, the data last.
func (f *trainFlags) problem(ctx context.Context, env *environment) (*method.Method, *method.Problem, error) {
	m, err := f.lookup(f.method)
	if err != nil {
		return nil, nil, err
	}
	if slices.Contains(f.train, "-") && f.valid == "-" {
		return nil, nil, usageErrorf("--train and --valid cannot both be standard input")
	}
	if err := f.check(); err != nil {
		return nil, nil, err
	}
	set, err := settings("set", f.set)
	if err != nil {
		return nil, nil, err
	}
	p, err := f.recipe().Problem(m, set)
	if err != nil {
		return nil, nil, flagFault(err)
	}
	if p.Select, err = f.measureOf(&f.learning, p); err != nil {
		return nil, nil, err
	}
	p.Checkpoint = f.checkpoint
	if err := f.settle(env, p, &f.reading); err != nil {
		return nil, nil, err
	}
	if p.Measure == nil && f.measure != "" {
		env.note("note: %s has no training measure, --measure %s changes nothing", m.Name, f.measure)
	}
	opts, err := f.options()
	if err != nil {
		return nil, nil, err
	}
	opts.MinFeatures = f.minFeatures
	f.widen(p, &opts)
	p.Missing, p.MaxBytes, opts.Stream = opts.Missing, opts.MaxBytes, true
	p.Note = func(sentence string) { env.note("note: %s", sentence) }
	p.Warn = func(sentence string) { env.note("warning: %s", sentence) }
	trainOpts := opts
	if err := f.sampled(&trainOpts); err != nil {
		return nil, nil, err
	}
	if f.holdOut != "" { // both parts are copies where the data are in memory
		trainOpts.MaxBytes /= 2
	}
	data, err := env.openParts(ctx, "train", f.train, trainOpts)
	if err != nil {
		return nil, nil, err
	}
	f.opened, f.whole = trainOpts, data
	if f.holdOut != "" && !data.Streamed() {
		p.MaxBytes -= featureBytes(data)
	}
	data, valid, err := f.divide(ctx, env, &f.learning, strings.Join(f.train, ", "), data, opts)
	if err != nil {
		return nil, nil, err
	}
	env.noteOfRelevance(p.Settle(data, valid))
	return m, p, nil
}

// trainReport describes a model; valid may be nil.
func trainReport(path string, m *model.Model, valid *measure.Result) report {
	t := m.Training
	gap := any("unknown")
	if t.Gap != nil {
		gap = fmt.Sprintf("%.3g", *t.Gap)
	}
	columns := []string{"model", "method", "queries", "documents", "objective", "above minimum by at most", "iterations", "stopped because"}
	row := []any{path, m.Method, t.Queries, t.Documents, t.Objective, gap, t.Iterations, t.Status}
	j := map[string]any{
		"model": path, "method": m.Method, "measure": m.Measure, "scorer": m.Scorer.Kind(), "hyperparameters": m.Hyperparameters, "training": t,
	}
	if t.BestEpoch > 0 {
		columns, row = append(columns, "epoch kept"), append(row, t.BestEpoch)
	}
	if valid != nil {
		means := make(map[string]any)
		for _, by := range valid.Measures() {
			name, mean := by.Name(), number(valid.Mean(by))
			means[name] = mean
			columns, row = append(columns, "valid "+name), append(row, mean)
		}
		j["validation"] = means
	}
	return report{columns: columns, rows: [][]any{row}, json: j}
}
