package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/learn/method"
	"github.com/listwise/listwise/learn/train"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/tune"
	"github.com/listwise/listwise/tune/runs"
)

// learning has the flags that train and tune share.
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
	f.StringVar(&l.measure, "measure", "", "`measure` to optimize, such as ndcg@10 (default: the method's own)")
	f.StringVar(&l.views, "views", "raw", "feature `views`: raw, rank or zscore, separated by commas")
	f.StringVar(&l.scorer, "scorer", "", "`kind` of scorer: linear, fm, net, trees or pairnet (default: the method's)")
	l.addData(cmd)
}

// addData adds the flags that do not depend on the method: the flags for reading and preparing
// data, the flags for relevance, and --seed.
func (l *learning) addData(cmd *cobra.Command) {
	f := cmd.Flags()
	l.judging.addTo(cmd)
	f.StringVar(&l.normalize, "normalize", "none", "`how` to rescale features within queries: none, minmax or zscore")
	f.StringArrayVar(&l.transform, "transform", nil, "`STEP[:FEATURES]`: log1p, standard, clip=LOW:HIGH or fill=mean; repeatable")
	l.reading.addTo(cmd)
	f.Lookup("missing").Usage = "`how` to treat missing values: error, zero, min, mean, median or keep"
	f.Uint64Var(&l.seed, "seed", 1, "random `seed`")
}

// recipe returns the training that the flags describe.
func (l *learning) recipe() *method.Recipe {
	return &method.Recipe{
		Scorer: l.scorer, Measure: l.measure, Convention: l.convention, Threshold: l.threshold, Normalize: l.normalize,
		Views: l.views, Missing: l.missing, Transform: l.transform, Seed: l.seed,
	}
}

// options returns the reader's options that the flags describe. If training learns a replacement
// for missing values, such as the mean, the reader keeps these values as NaN.
func (l *learning) options() (dataset.Options, error) {
	missing, err := l.recipe().ReadMissing()
	if err != nil {
		return dataset.Options{}, err
	}
	r := l.reading
	r.missing = missing.String()
	return r.options()
}

// settings parses the values name=value of a repeatable flag. A name that is given twice is an
// error.
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
	fromClicks  fromClicks
	method      string
	set         []string
	train       []string
	minFeatures int
	curve       string
	model       string
	checkpoint  string
}

func newTrainCommand(env *environment) *cobra.Command { return new(trainFlags).command(env) }

// command returns the command, whose flags it adds to f.
func (f *trainFlags) command(env *environment) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "train [--method M | --clicks PAGES] --train FILE --model OUT",
		Short: "Train a ranking function and write a model file",
		Long: `Trains a ranking function on judged queries and writes a model. A model is a JSON file
with the parameters and all preprocessing, so that it scores raw data. The same
command writes the same bytes, on any number of cores.

Data: --train may be repeated; the files' queries are concatenated. --sample reads a
share of the queries, chosen by a hash of their ids. The same ids give the same
sample, and a smaller share is a subset of a larger one. --min-features is for sparse
data: features above the highest index of the file are 0.

Scorers: linear, fm (factorization machine, which also learns weights for products of
two features; see factors, and set C to about 2), net (one hidden layer; see hidden and
activation), trees (boosted trees; see "listwise methods M --scorer trees") and
pairnet (only for boltzrank2).

Preprocessing happens in this order and is stored in the model:
  --missing     zero, min (least value within the query), mean or median (of the
                feature in the training data), keep (trees learn a branch for missing
                values), or error
  --transform   log1p, standard (zero mean, unit variance) or clip=LOW:HIGH, where the
                limits are numbers, quantiles such as 99%, or empty. Features follow a
                colon, by name or number, such as log1p:price,3..7 (default: all)
  --normalize   minmax or zscore, per feature within each query
  --views       raw (the feature), rank (its rank within the query, scaled to 0 … 1) and
                zscore (its z-score within the query)

Validation: with --valid or --hold-out, training keeps the epoch or boosting round
that is best on the validation data by --select. --hold-out 2/5 divides the training
queries at random into five parts and validates on the second.

--continue adds trees to a model of trees, on the same or on other data. It keeps the
model's preprocessing and its monotone, categorical and interactions settings. With
--refit it adds no trees but relearns the leaf values. --refit 0.9 keeps nine tenths
of each old value.

Clicks: --clicks reads logs of pages (see "listwise clicks --help"), and --train then has
the features of documents. Grades are of the clicks (see "listwise clicks weigh --help").
--debias position and pairs train on single pages instead, and learn a factor for each
slot: additive, or those of Unbiased LambdaMART. Without --method, training is by mart
with --debias examinations, or by lambdamart for position and pairs. An uncorrected twin
is trained beside the model, both without a part of the queries (--twin-share), and the
clicks on these compare the two.

--checkpoint saves the state of a long training (gradient descent, L-BFGS or boosted
trees). If the file exists, training resumes from it. --curve writes one line of JSON
after every epoch, boosting round or iteration.`,
		Example: `  listwise train --method convexloss --measure ndcg@10 --train Fold1/train.txt --model m.json
  listwise train --method mle --set C=0.01 --normalize minmax --train train.txt.gz --model m.json
  listwise train --method mle --transform log1p:2,3 --transform clip=0%:99% --transform standard --train train.txt --model m.json
  listwise train --method lambdamart --train Fold1/train.txt --valid Fold1/vali.txt --model trees.json
  listwise train --method lambdamart --continue trees.json --train new.txt.gz --model longer.json
  listwise train --clicks pages.jsonl.gz --train products.csv --propensities theta.json --model m.json
  listwise train --method lambdarank --scorer net --set hidden=20 --train Fold1/train.txt --valid Fold1/vali.txt --curve c.jsonl --model m.json`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			needed := []string{"method", "train", "model"}
			if f.fromClicks.given() {
				needed = needed[1:]
			}
			if err := required(cmd, needed...); err != nil {
				return err
			}
			return f.run(cmd.Context(), env)
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.method, "method", "", "`method` to train (see \"listwise methods\")")
	addList(fl, &f.set, "set", "name=value", "value of a hyperparameter; repeatable (see \"listwise methods M\")")
	fl.StringArrayVar(&f.train, "train", nil, "training data `file`; repeatable; - is standard input")
	addWhole(fl, &f.minFeatures, "min-features", 0, 0, "minimum `number` of features, for sparse data")
	fl.StringVar(&f.curve, "curve", "", "`file` for the learning curve (JSON lines)")
	fl.StringVar(&f.model, "model", "", "output model `file`")
	fl.StringVar(&f.checkpoint, "checkpoint", "", "checkpoint `file`; training resumes from it")
	f.stopping.addTo(cmd)
	f.sampling.addTo(cmd)
	f.learning.addTo(cmd)
	f.continuing.addTo(cmd)
	f.fromClicks.addTo(cmd)
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

// fit trains a model, writes it to --model, and evaluates it on the validation data.
func (f *trainFlags) fit(ctx context.Context, env *environment, m *method.Method, p *method.Problem, rec *recorder) (report, error) {
	trained, err := f.learn(ctx, env, m, p, rec)
	if err != nil {
		return report{}, hintAtMemory(err)
	}
	var twin *twins
	if f.fromClicks.given() {
		trained.Training.Pages = trained.Training.Pages.Union(f.fromClicks.seen.Set())
		if twin, err = f.fromClicks.compare(ctx, env, f, m, p); err != nil {
			return report{}, hintAtMemory(err)
		}
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
	r := trainReport(f.model, trained, valid)
	if twin != nil {
		twin.addTo(&r, f.fromClicks.debias)
	}
	return r, nil
}

// hintAtDisk appends to an ErrTooLarge the learners that read data from disk. It returns other
// errors unchanged.
func hintAtDisk(err error, opts dataset.Options) error {
	if errors.Is(err, dataset.ErrTooLarge) && !opts.Stream {
		return fmt.Errorf("%w; or use a learner that reads from disk: %s", err, train.FromDisk)
	}
	return err
}

// areCaches reports whether all files are caches. Caches are opened as streams, so data that are
// too large for a learner are refused before their features are read.
func areCaches(paths []string) bool {
	return !slices.ContainsFunc(paths, func(path string) bool { return !strings.HasSuffix(path, ".lwd") })
}

// learn trains the model. It shows progress, records each iteration, and writes the learning curve
// if --curve is given.
func (f *trainFlags) learn(ctx context.Context, env *environment, m *method.Method, p *method.Problem, rec *recorder) (*model.Model, error) {
	limitTrainingGarbage(p.Data)
	bar := env.startIterations(m.Title, cmp.Or(p.Scorer, m.Scorers()[0]), p.Values)
	defer bar.finish()
	observe := func(it method.Iteration) {
		bar.observe(it)
		rec.observe(it)
	}
	if p.Observe = observe; f.curve == "" {
		return m.Train(ctx, p)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	c, err := newCurve(f.curve, f.checkpoint, cancel)
	if err != nil {
		return nil, err
	}
	p.Observe = func(it method.Iteration) {
		observe(it)
		c.observe(it)
	}
	trained, err := m.Train(ctx, p)
	if closed := c.close(err != nil); err == nil {
		err = closed
	}
	return trained, err
}

// validation returns the model's result on the validation data. It returns nil if valid is nil.
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

// problem returns the method and the problem that the flags describe. It checks the flags before it
// reads data.
func (f *trainFlags) problem(ctx context.Context, env *environment) (*method.Method, *method.Problem, error) {
	if slices.Contains(f.train, "-") && f.valid == "-" {
		return nil, nil, usageErrorf("--train and --valid cannot both be standard input")
	}
	if err := f.check(); err != nil {
		return nil, nil, err
	}
	if err := f.fromClicks.choose(f); err != nil {
		return nil, nil, err
	}
	set, err := settings("set", f.set)
	if err != nil {
		return nil, nil, err
	}
	m, p, err := f.recipe().Problem(f.method, set)
	if err != nil {
		return nil, nil, err
	}
	if f.fromClicks.grades() && p.Measure == nil {
		p.Select = measure.MustParse(clicksMeasure, measure.ConventionOf(p.Select))
	}
	if p.Select, err = f.measureOf(&f.learning, p); err != nil {
		return nil, nil, err
	}
	if f.fromClicks.grades() {
		if err := f.fromClicks.checkMeasure(f, p); err != nil {
			return nil, nil, err
		}
	}
	p.Checkpoint = f.checkpoint
	if err := f.settle(env, p, &f.reading); err != nil {
		return nil, nil, err
	}
	if p.Measure == nil && f.measure != "" {
		env.note("note: %s has no training measure, so --measure %s has no effect", m.Name, f.measure)
	}
	opts, err := f.options()
	if err != nil {
		return nil, nil, err
	}
	opts.MinFeatures = f.minFeatures
	f.widen(p, &opts)
	p.Missing, p.MaxBytes, opts.Stream = opts.Missing, opts.MaxBytes, m.Streams(p.Values) || areCaches(f.train)
	p.Warn = func(sentence string) { env.note("warning: %s", sentence) }
	trainOpts := opts
	if m.Streams(p.Values) { // leave half of the limit to the learner; larger data are streamed
		trainOpts.MaxBytes /= 2
	}
	if err := f.sampled(&trainOpts); err != nil {
		return nil, nil, err
	}
	if f.holdOut != "" { // the two parts are copies if the data are in memory
		trainOpts.MaxBytes /= 2
	}
	if f.fromClicks.given() { // training data are a copy
		trainOpts.Table.Ungraded, trainOpts.MaxBytes = true, trainOpts.MaxBytes/2
	}
	data, err := env.openParts(ctx, "train", f.train, trainOpts)
	if err != nil {
		return nil, nil, hintAtDisk(err, opts)
	}
	if f.fromClicks.given() {
		if data, err = f.fromClicks.read(ctx, env, f, m, p, data); err != nil {
			return nil, nil, err
		}
	}
	if f.holdOut != "" && !data.Streamed() {
		p.MaxBytes -= featureBytes(data)
	}
	if m.Streams(p.Values) {
		opts.MaxBytes = opts.MaxBytes / 4 * 3
	}
	data, valid, err := f.divide(ctx, env, &f.learning, strings.Join(f.train, ", "), data, opts)
	if err != nil {
		return nil, nil, hintAtDisk(err, opts)
	}
	if note := p.Settle(data, valid); !f.fromClicks.given() {
		env.noteOfRelevance(note)
	}
	return m, p, nil
}

// trainReport returns the table and the JSON form of a trained model. valid is the result on
// validation data and may be nil.
func trainReport(path string, m *model.Model, valid *measure.Result) report {
	t := m.Training
	gap := any("unknown")
	if t.Gap != nil {
		gap = fmt.Sprintf("%.3g", *t.Gap)
	}
	columns := []string{"model", "method", "queries", "documents", "objective", "optimality gap", "iterations", "stopped because"}
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

// continuing has the flags of a training that starts from an existing model.
type continuing struct {
	from  string
	decay float64
	given func(flag string) bool
}

func (c *continuing) addTo(cmd *cobra.Command) {
	c.given = cmd.Flags().Changed
	cmd.Flags().StringVar(&c.from, "continue", "", "model `file` of trees to continue training")
	cmd.Flags().Float64Var(&c.decay, "refit", 0, "relearn leaf values of --continue; `share` (0 to 1) weighs old ones")
}

// settle reads the model of --continue into p.Initial. The normalization, the views, and the rules
// for missing and omitted values are copied from the model unless their flags are given.
func (c *continuing) settle(env *environment, p *method.Problem, r *reading) error {
	if c.given("refit") {
		if c.from == "" {
			return usageErrorf("--refit: expected --continue with the model to refit")
		}
		if !(c.decay >= 0 && c.decay <= 1) {
			return usageErrorf("--refit %v: expected a number from 0 to 1", c.decay)
		}
		p.Refit, p.Decay = true, c.decay
	}
	if c.from == "" {
		return nil
	}
	m, err := env.loadModel("continue", c.from)
	if err != nil {
		return err
	}
	p.Initial = m
	if !c.given("normalize") {
		p.Normalization = m.Normalization
	}
	if !c.given("views") {
		p.Views = m.Views
	}
	if !c.given("missing") {
		r.missing = m.Missing.String()
	}
	if !c.given("absent") && m.AbsentMissing {
		r.absent = absentMissing
	}
	return nil
}

// widen raises the reader's minimum number of features to the initial model's number.
func (c *continuing) widen(p *method.Problem, opts *dataset.Options) {
	if p.Initial != nil {
		opts.MinFeatures = max(opts.MinFeatures, p.Initial.NumFeatures())
	}
}

// stopping has the flags for validation data: a file, or a part of the training queries.
type stopping struct {
	valid    string
	holdOut  string
	drawn    uint64 // random seed of the division by holdOut
	selectBy string

	cmd *cobra.Command
}

func (s *stopping) addTo(cmd *cobra.Command) {
	s.cmd = cmd
	fl := cmd.Flags()
	fl.StringVar(&s.valid, "valid", "", "validation data `file` for early stopping")
	fl.StringVar(&s.holdOut, "hold-out", "", "validate on `part/parts` of the training queries, such as 2/5")
	fl.Uint64Var(&s.drawn, "hold-out-seed", 0, "random `seed` of --hold-out (default: --seed)")
	fl.StringVar(&s.selectBy, "select", "", "validation `measure` for early stopping, or none (default: training measure)")
}

// check returns an error if the flags contradict one another.
func (s *stopping) check() error {
	switch changed := s.cmd.Flags().Changed; {
	case s.valid != "" && s.holdOut != "":
		return usageErrorf("--hold-out %s: expected either it or --valid %s", s.holdOut, s.valid)
	case changed("hold-out-seed") && s.holdOut == "":
		return usageErrorf("--hold-out-seed %d: expected it with --hold-out", s.drawn)
	case s.selectBy != "" && s.valid == "" && s.holdOut == "":
		return usageErrorf("--select %s: expected it with --valid or --hold-out", s.selectBy)
	}
	if s.selectBy == noSelection && s.holdOut == "" {
		return usageErrorf("--select none: expected --hold-out, whose part training then omits")
	}
	_, _, err := s.part()
	return err
}

// noSelection is the value of --select for a held-out part that selects nothing.
const noSelection = "none"

// part parses --hold-out. It returns the number of the held-out part, from 1, and the number of
// parts. Both are 0 without --hold-out.
func (s *stopping) part() (part, parts int, err error) {
	if s.holdOut == "" {
		return 0, 0, nil
	}
	first, second, ok := strings.Cut(s.holdOut, "/")
	part, err = strconv.Atoi(first)
	if err == nil {
		parts, err = strconv.Atoi(second)
	}
	if !ok || err != nil || part < 1 || parts < 2 || part > parts {
		return 0, 0, usageErrorf("--hold-out %s: expected PART/PARTS, such as 2/5", s.holdOut)
	}
	return part, parts, nil
}

// measureOf returns the measure on validation data that selects the epoch.
func (s *stopping) measureOf(l *learning, p *method.Problem) (measure.Measure, error) {
	if s.selectBy == "" || s.selectBy == noSelection {
		return p.Select, nil
	}
	return l.recipe().OneMeasure("select", s.selectBy)
}

// divide returns the training data and the validation data. valid is nil if there are no validation
// data.
func (s *stopping) divide(ctx context.Context, env *environment, l *learning, from string, data *dataset.Dataset, opts dataset.Options) (train, valid *dataset.Dataset, err error) {
	if s.valid != "" {
		opts.FeatureNames, opts.MaxBytes = data.FeatureNames, leftBeside(data, opts.MaxBytes)
		if valid, err = env.openAndWarn(ctx, "valid", s.valid, opts); err == nil {
			warnOfCommon(env, s.valid, valid, from, data)
		}
		return data, valid, err
	}
	part, parts, err := s.part()
	if err != nil || parts == 0 {
		return data, nil, err
	}
	return s.heldOut(l, data, part, parts)
}

// heldOut holds out a part of the training data. valid is nil if the part selects nothing.
func (s *stopping) heldOut(l *learning, data *dataset.Dataset, part, parts int) (train, valid *dataset.Dataset, err error) {
	seed := l.seed
	if s.cmd.Flags().Changed("hold-out-seed") {
		seed = s.drawn
	}
	if train, valid, err = tune.HoldOut(data, part, parts, seed); err != nil {
		return nil, nil, usageErrorf("--hold-out %s: %w", s.holdOut, err)
	}
	if s.selectBy == noSelection {
		valid = nil
	}
	return train, valid, nil
}

// recordedAs returns the name of the validation data in the record of a run. from names the
// training data.
func (s *stopping) recordedAs(from string) string {
	if s.holdOut != "" {
		return fmt.Sprintf("%s, part %s", from, s.holdOut)
	}
	return s.valid
}
