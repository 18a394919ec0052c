package app

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/eval/stats"
	"github.com/listwise/listwise/learn/method"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/tune"
	"github.com/listwise/listwise/tune/auto"
	"github.com/listwise/listwise/tune/ensemble"
	"github.com/listwise/listwise/tune/runs"
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
	without  string // numbers of trials, from 1
	members  int
	target   string
	out      string

	begun time.Time
	cmd   *cobra.Command
}

const defaultBudget = 10 * time.Minute

func newAutoCommand(env *environment) *cobra.Command { return new(autoFlags).command(env) }

// command returns the command, whose flags it adds to f.
func (f *autoFlags) command(env *environment) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "auto (--data DIR|FILE | --train FILE --valid FILE [--test FILE]) --out DIR",
		Short: "Search for the best ranker within a time budget",
		Long: `Searches methods, scorers, forms of the features and hyperparameters by
cross-validation. The search begins with a fixed portfolio: least squares, LambdaMART
and eleven more that differ. Later trials favor what does best on validation data. The
result is the best trial or a fusion of several, whichever is better by nested
validation: a fusion must be better by more than a standard error. Each trial of the
result has a model for every part of the data, trained on the others. All are fused to
one model, which scores like any other.

--data is a file, a folder with Fold1 … FoldK, or a folder with one fold's train.txt,
vali.txt and test.txt. Training and validation queries are taken together and divided
into --folds parts. The default is 5 parts, of which all validate up to 3,000 queries,
and one from 12,500 on. With --folds 1, the given validation data alone validate.

Test data measure the result. With several folds, the search is repeated for each fold
without its test data. The final model then learns from all queries of the folds. It is
never trained on data of --test. Without test data, the results are those of nested
validation: models, and the choice between trials and fusions, have not seen the queries
that they are measured on. The decision what to try has, and a single part also ends
the trainings early. The last lines have the value to expect on other queries, with a
95 % interval.

--for TARGET restricts the search to models that the target can express, and writes the
export beside model.json. Targets are the formats of "listwise export".

--budget makes the result depend on the machine. --trials with the number of trials
that a run reached gives the same bytes anywhere, if --without leaves out the trials
that did not end in time.

The folder --out gets:
  model.json     the model
  report.html    the report
  commands.sh    commands that make every model again, byte for byte
  trials.jsonl   one line a trial
  results.json   all results
  members/       the models that were fused
  curves/        learning curves of the best members
  folds/         for each fold with test data, its models, their scores and values for
                 each query; compare and report read them
A run that was interrupted resumes.`,
		Example: `  listwise auto --data shop.csv --out runs/shop --budget 10m
  listwise auto --data MQ2008 --out runs/mq2008 --trials 60
  listwise auto --data shop.csv --for solr --out runs/solr --budget 10m
  listwise auto --train Fold1/train.txt --valid Fold1/vali.txt --test Fold1/test.txt --out runs/mine --trials 20`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.require(cmd); err != nil {
				return err
			}
			return f.run(cmd.Context(), env)
		},
	}
	f.cmd, f.begun = cmd, time.Now()
	fl := cmd.Flags()
	f.source.addTo(cmd)
	fl.Lookup("folds").Usage, fl.Lookup("folds").DefValue = "`number` of parts for cross-validation (default: by the number of queries)", "0"
	fl.StringVar(&f.selectBy, "select", "ndcg@10", "validation `measure` that decides")
	addWhole(fl, &f.jobs, "jobs", 0, 0, "`number` of parallel trainings (default: number of cores)")
	fl.DurationVar(&f.budget, "budget", defaultBudget, "`time` limit, such as 10m; 0: none")
	addWhole(fl, &f.trials, "trials", 0, 0, "`number` of trials (default: as time allows)")
	fl.StringVar(&f.without, "without", "", "`numbers` of trials to leave out, separated by commas")
	addWhole(fl, &f.members, "members", auto.DefaultMembers, 1, "largest `number` of trials to fuse")
	fl.StringVar(&f.target, "for", "", "export `format` that must express the model, such as solr")
	fl.StringVar(&f.out, "out", "", "`folder` for results")
	f.slicer.addTo(cmd)
	f.measuring.addTo(cmd, usualMeasures, "`measures` to report, separated by commas")
	f.addData(cmd)
	f.missing, fl.Lookup("missing").DefValue = "keep", "keep"
	f.recording.addTo(cmd)
	return cmd
}

// require returns an error if a required flag is missing or two flags contradict each other. It sets
// the defaults that depend on other flags.
func (f *autoFlags) require(cmd *cobra.Command) error {
	if !cmd.Flags().Changed("budget") && f.trials > 0 {
		f.budget = 0
	}
	if !cmd.Flags().Changed("folds") {
		f.folds = 0
	}
	if err := f.source.require(cmd); err != nil {
		return err
	}
	if f.budget < 0 {
		return usageErrorf("--budget %v: expected a time such as 10m, or 0 for no limit", f.budget)
	}
	if f.budget == 0 && f.trials == 0 {
		return usageErrorf("found neither --budget nor --trials, expected one of them: the search has no end of its own")
	}
	return required(cmd, "out")
}

func (f *autoFlags) run(ctx context.Context, env *environment) error {
	if err := f.source.targets(f.by, f.out).check(); err != nil {
		return err
	}
	if err := notTuned(f.out); err != nil {
		return err
	}
	w, err := f.open(ctx, env)
	if err != nil {
		return err
	}
	rec := f.begin(env, func() *runs.Run { return f.recorded(w) })
	out, err := f.produce(ctx, env, w, rec)
	return rec.conclude(out, err)
}

// automatic is the work of auto.
type automatic struct {
	*autoFlags
	config auto.Config // of the final search
	folds  []tune.Fold // as they were given; empty for a file
	target *exportTarget

	result *auto.Result
	tested []testedFold
	out    autoMeasured

	foldFiles []string // of writeFolds
}

// testedFold is the search without the test data of a fold.
type testedFold struct {
	*tune.Fold
	*auto.Result
}

// leftOut returns the trials of --without, from 0 on.
func (f *autoFlags) leftOut() (trials []int, err error) {
	if f.without == "" {
		return nil, nil
	}
	for word := range strings.SplitSeq(f.without, ",") {
		number, err := strconv.Atoi(strings.TrimSpace(word))
		if err != nil || number < 1 {
			return nil, usageErrorf("--without %s: found %q, expected numbers of trials from 1 on, separated by commas", f.without, word)
		}
		trials = append(trials, number-1)
	}
	return trials, nil
}

// open reads the data and completes the configuration.
func (f *autoFlags) open(ctx context.Context, env *environment) (*automatic, error) {
	w := &automatic{autoFlags: f}
	c := &w.config
	*c = auto.Config{Trials: f.trials, Budget: f.budget, Begun: f.begun, Members: f.members, Parts: f.folds}
	var err error
	if c.Without, err = f.leftOut(); err != nil {
		return nil, err
	}
	if f.target != "" {
		if w.target, err = targetOf(f.target); err != nil {
			return nil, err
		}
		c.Target = w.target
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
	const more = 6 // the parts' training data, and the data whole
	if w.folds, c.Data, t.MaxBytes, err = f.read(ctx, env, opts, more); err != nil {
		return nil, err
	}
	sets := []*dataset.Dataset{c.Data}
	if w.folds != nil {
		warnOfFolds(env, w.folds)
		sets = dataOf(w.folds)
	}
	if err := w.keepMissing(env, sets); err != nil {
		return nil, err
	}
	t.Convention = env.settle(t.Convention, sets...)
	if w.several() {
		if c.Data, err = tune.Whole(w.folds); err != nil {
			return nil, err
		}
	} else if w.folds != nil {
		c.Data, c.Valid = w.folds[0].Train, w.folds[0].Valid
	}
	if queries := len(c.Data.Queries); f.folds > queries || queries < 2 {
		return nil, usageErrorf("found %s, expected at least %d, one a part", counted(queries, "query", "queries"), max(2, f.folds))
	}
	warnOfIndifference(env, c.Data, catalogueMeasures(t.Convention))
	w.warnOfTests(env)
	return w, f.divisible(w.measuredOn(), t.Convention.Threshold())
}

// keepMissing completes the default rule for missing values. The flag then counts as given, so that the commands of the
// trainings have it. Data without missing values have no rule, and models refuse missing values as those of train do.
func (w *automatic) keepMissing(env *environment, sets []*dataset.Dataset) error {
	flags := w.cmd.Flags()
	if flags.Changed("missing") {
		return nil
	}
	n := 0
	for _, d := range sets {
		n += d.Missing()
	}
	if n == 0 {
		w.missing, w.config.Tune.Missing = "error", dataset.MissingError
		return nil
	}
	env.note("%d values are missing: trees learn a direction for them, other scorers use the feature's mean (--missing has other rules)", n)
	return flags.Set("missing", w.missing)
}

// several reports whether the search is repeated for folds with test data.
func (w *automatic) several() bool { return len(w.folds) > 1 }

// warnOfTests warns of test data of which a measure says little.
func (w *automatic) warnOfTests(env *environment) {
	if w.hasTests() {
		t := w.config.Tune
		t.Folds = w.folds
		warnOfTests(env, &t)
	}
}

func (w *automatic) hasTests() bool { return len(w.folds) > 0 && w.folds[0].Tested() }

// measuredOn returns the data that systems are measured on.
func (w *automatic) measuredOn() []*dataset.Dataset {
	if w.hasTests() {
		return testsOfFolds(w.folds)
	}
	return []*dataset.Dataset{w.config.Data}
}

// catalogueMeasures returns the default training measures of the methods in the catalogue.
func catalogueMeasures(c measure.Convention) []measure.Measure {
	var measures []measure.Measure
	for _, m := range method.List() {
		if m.UsesMeasure {
			measures = append(measures, measure.MustParse(m.DefaultMeasure, c))
		}
	}
	return measures
}

// search does the final search, then those of the folds with as many trials.
func (w *automatic) search(ctx context.Context, env *environment) (err error) {
	bar := env.startProgress("trials", 0)
	defer bar.finish()
	observe := func(of string) func(p auto.Progress) {
		return func(p auto.Progress) {
			text := bar.show(of+p.Stage, p.Done, p.Total, bestSoFar(w.config.Tune.Select.Name(), p.Name, p.Best))
			if env.tell != nil {
				told := SearchProgress{Stage: of + p.Stage, Number: p.Done, Total: p.Total, Name: p.Name, Text: text}
				if p.Name != "" {
					told.Best = &p.Best
				}
				env.tell(told)
			}
		}
	}
	c := w.config
	c.Observe = observe("")
	if w.several() { // the searches of the folds take time in proportion to their documents
		docs := 0
		for i := range w.folds {
			docs += w.folds[i].Train.Docs() + w.folds[i].Valid.Docs()
		}
		c.Budget = time.Duration(float64(c.Budget) / (1 + float64(docs)/float64(c.Data.Docs())))
	}
	if w.result, err = auto.Run(ctx, c); err != nil || !w.several() {
		return err
	}
	for k := range w.folds {
		f := &w.folds[k]
		own := w.config
		own.Data, own.Valid, own.Budget, own.Trials, own.Without = f.Train, f.Valid, 0, len(w.result.Trials), w.result.Without()
		own.Tune.Dir = filepath.Join(own.Tune.Dir, f.Name)
		own.Observe = observe(f.Name + ", ")
		r, err := auto.Run(ctx, own)
		if err != nil {
			return fmt.Errorf("%s: %w", f.Name, err)
		}
		w.tested = append(w.tested, testedFold{f, r})
	}
	return nil
}

func (f *autoFlags) produce(ctx context.Context, env *environment, w *automatic, rec *recorder) (report, error) {
	if f.target == "" {
		env.note("the model will run in listwise: serve, score and Python; --for solr and others search for a model that can be exported")
	}
	if err := w.search(ctx, env); err != nil {
		return report{}, err
	}
	for _, n := range w.config.Without {
		if n >= len(w.result.Trials) {
			env.note("warning: --without %d leaves out nothing: the search had %s", n+1, counted(len(w.result.Trials), "trial", "trials"))
		}
	}
	if err := w.measure(); err != nil {
		return report{}, err
	}
	if err := w.write(ctx, env); err != nil {
		return report{}, err
	}
	w.record(rec)
	if env.details != nil {
		w.detail(env.details)
	}
	return w.report(), w.noteTime(env)
}

// detail adds the values of the systems on each query and their comparison.
func (w *automatic) detail(d *details) {
	folds := mapped(w.out.divisions, func(d ensemble.Division) string { return d.Name })
	oneRun := mapped(w.out.results, func(folds []*measure.Result) [][]*measure.Result { return [][]*measure.Result{folds} })
	d.ofFolds(w.out.names, folds, oneRun, w.out.compared)
}

// noteTime reports the time to score 100 documents, with the model and with the best trial alone. Only standard error has it:
// what the command writes does not depend on the machine.
func (w *automatic) noteTime(env *environment) error {
	if env.quiet {
		return nil
	}
	r := w.result
	whole, err := scoringTime(r.Model, r.Data)
	if err != nil {
		return err
	}
	text := fmt.Sprintf("the model scores 100 documents in %v", whole)
	if len(r.Members) > 1 {
		_, single, err := r.Fused(&r.Candidates[0])
		if err != nil {
			return err
		}
		alone, err := scoringTime(single, r.Data)
		if err != nil {
			return err
		}
		text += fmt.Sprintf(", the best trial alone in %v", alone)
	}
	env.note("%s", text)
	return nil
}

// scoringTime returns the least of several times of scoring 100 documents.
func scoringTime(m *model.Model, d *dataset.Dataset) (least time.Duration, err error) {
	const wanted, repeats = 100, 10
	docs, some := 0, []int(nil)
	for q := 0; q < len(d.Queries) && docs < wanted; q++ {
		docs, some = docs+d.Queries[q].Len(), append(some, q)
	}
	part := d.Subset(some)
	for i := range repeats {
		begun := time.Now()
		if _, err := m.Score(part); err != nil {
			return 0, err
		}
		if took := time.Since(begun) * wanted / time.Duration(docs); i == 0 || took < least {
			least = took
		}
	}
	return least.Round(10 * time.Microsecond), nil
}

// The systems that auto measures.
const (
	autoSystem   = "auto"        // the model
	singleSystem = "best-single" // the best trial alone
)

// autoMeasured has the systems' results on the folds' test data, or by nested validation.
type autoMeasured struct {
	divisions []ensemble.Division
	names     []string
	results   [][]*measure.Result // of each system on each division
	rows      [][]tune.Summary    // of each system
	slices    *slicedMeans
	compared  []*stats.Comparison // by each measure, auto and best-single; nil if fewer than two queries count
}

// measure measures the systems.
func (w *automatic) measure() error {
	m, t := &w.out, &w.result.Tune
	m.names = []string{autoSystem, singleSystem}
	var err error
	if m.divisions, err = w.divisions(); err != nil {
		return err
	}
	var pooled []*measure.Result
	for s := range m.names {
		var own []*measure.Result
		for k := range m.divisions {
			test, err := m.divisions[k].Evaluate(s, t.Measures, t.Ties)
			if err != nil {
				return err
			}
			own = append(own, test)
		}
		m.results, m.rows, pooled = append(m.results, own), append(m.rows, tune.Summarise(own...)), append(pooled, measure.Pool(own...))
	}
	if m.slices, err = w.of(testsOf(m.divisions), t.Convention, m.names, m.results); err != nil {
		return err
	}
	for _, by := range t.Measures {
		c, err := comparedBy(by, pooled, w.seed)
		if err != nil {
			return err
		}
		m.compared = append(m.compared, c)
	}
	return nil
}

// divisions returns the data that systems are measured on, with their scores: the test data, or without any all
// validation queries with their nested scores.
func (w *automatic) divisions() ([]ensemble.Division, error) {
	if !w.hasTests() {
		var all []ensemble.Division
		single := &w.result.Candidates[0]
		for k := range w.result.Tune.Folds {
			f := &w.result.Tune.Folds[k]
			all = append(all, ensemble.Division{Name: f.Name, Test: f.Valid, Systems: []ensemble.System{
				{Name: autoSystem, Test: w.result.Nested.Scores[k]}, {Name: singleSystem, Test: single.Scores[k]},
			}})
		}
		return all, nil
	}
	tested := w.tested
	if !w.several() {
		tested = []testedFold{{&w.folds[0], w.result}}
	}
	var all []ensemble.Division
	for _, f := range tested {
		d := ensemble.Division{Name: f.Name, Test: f.Test}
		_, single, err := f.Fused(&f.Candidates[0])
		if err != nil {
			return nil, err
		}
		for _, s := range []ensemble.System{{Name: autoSystem, Model: f.Model}, {Name: singleSystem, Model: single}} {
			if s.Test, err = s.Model.Score(f.Test); err != nil {
				return nil, fmt.Errorf("%s, %s: %w", s.Name, f.Name, err)
			}
			d.Systems = append(d.Systems, s)
		}
		all = append(all, d)
	}
	return all, nil
}

// comparedBy tests the differences by a measure between the first system and each other. It returns
// nil if fewer than two queries count.
func comparedBy(by measure.Measure, pooled []*measure.Result, seed uint64) (*stats.Comparison, error) {
	values := make([][]float64, len(pooled))
	var weights []float64
	for i, r := range pooled {
		w := r.Weights()
		for q, v := range r.PerQuery(by) {
			if v != v {
				continue
			}
			values[i] = append(values[i], v)
			if i == 0 && w != nil {
				weights = append(weights, w[q])
			}
		}
	}
	if len(values[0]) < 2 || len(values) < 2 {
		return nil, nil
	}
	return stats.Compare(values, stats.Config{Range: measure.RangeOf(by), Weights: weights, Permutations: summaryPermutations, Resamples: summaryResamples, Seed: seed})
}

// recorded describes a run of auto before it trains. The run's method is auto; trials.jsonl lists the methods that were
// trained.
func (f *autoFlags) recorded(w *automatic) *runs.Run {
	c := &w.config
	settings := f.recordedSettings(c.Tune.Convention)
	settings["select"], settings["ties"], settings["measures"] = c.Tune.Select.Name(), c.Tune.Ties.String(), namesOfMeasures(c.Tune.Measures)
	settings["members"] = c.Members
	if f.trials > 0 {
		settings["trials"] = f.trials
	}
	if f.budget > 0 {
		settings["budget"] = f.budget.String()
	}
	if c.Without != nil {
		settings["without"] = mapped(c.Without, func(n int) any { return n + 1 })
	}
	if f.target != "" {
		settings["for"] = f.target
	}
	r := &runs.Run{Kind: runs.Auto, Methods: []string{autoSystem}, Config: settings, Seed: &c.Tune.Seed}
	if w.folds == nil {
		r.Data = []runs.Data{runs.DataOf("train", f.data, c.Data)}
	} else {
		r.Data = f.recordedFolds(w.folds)
	}
	return r
}

// record adds the results to the record of the run: for each system the mean over the folds and the results of each
// fold.
func (w *automatic) record(rec *recorder) {
	rec.wrote(filepath.Join(w.autoFlags.out, modelName), filepath.Join(w.autoFlags.out, "report.html"), filepath.Join(w.autoFlags.out, "commands.sh"),
		filepath.Join(w.autoFlags.out, "trials.jsonl"), filepath.Join(w.autoFlags.out, resultsName))
	rec.wrote(w.foldFiles...)
	for s, name := range w.out.names {
		means := runs.RankerResult{Ranker: name, Validation: runs.NaN(), Measures: runs.MeansOf(w.out.rows[s], w.out.results[s])}
		if name == autoSystem {
			means.Settings = map[string]any{"members": mapped(w.result.Members, func(m auto.Member) any { return m.Entry.Name })}
			means.Training = map[string]any{"trials": len(w.result.Trials)}
		}
		rec.result(means)
		for k := range w.out.divisions {
			d := &w.out.divisions[k]
			rec.result(runs.RankerResult{Ranker: name, Fold: d.Name, Validation: runs.NaN(), Measures: runs.MeasuresOf(w.out.results[s][k])})
		}
	}
}

func (s *source) recordedFolds(folds []tune.Fold) []runs.Data {
	var all []runs.Data
	for i := range folds {
		fold := &folds[i]
		dir := filepath.Join(s.data, fold.Name)
		if !isFolder(dir) { // one fold's own folder, or a file
			dir = s.data
		}
		all = append(all,
			runs.DataOf(fold.Name+" train", cmp.Or(s.files.Train, dir), fold.Train),
			runs.DataOf(fold.Name+" valid", cmp.Or(s.files.Valid, dir), fold.Valid))
		if fold.Tested() {
			all = append(all, runs.DataOf(fold.Name+" test", cmp.Or(s.files.Test, dir), fold.Test))
		}
	}
	return all
}

// autoJSON is the result of auto that scripts rely on.
type autoJSON struct {
	Convention string              `json:"convention"`
	Threshold  float64             `json:"threshold"`
	Select     string              `json:"select"`
	Seed       uint64              `json:"seed"`
	Trials     int                 `json:"trials"`
	Without    []int               `json:"without,omitempty"`        // trials that did not end in time, from 1
	Parts      int                 `json:"parts"`                    // that validated
	Sampled    int                 `json:"sample_queries,omitempty"` // of the sample that the first trials had
	For        string              `json:"for,omitempty"`
	MeasuredOn string              `json:"measured_on"` // test, or nested validation
	Nested     autoCandidateJSON   `json:"nested"`      // the choice between the candidates as a whole
	Chosen     string              `json:"chosen"`      // one of candidates
	Candidates []autoCandidateJSON `json:"candidates"`  // the simplest first
	Exportable *autoCandidateJSON  `json:"exportable,omitempty"`
	Members    []autoMemberJSON    `json:"members"` // of the model, the largest weight first
	Folds      []autoFoldJSON      `json:"folds,omitempty"`
	Systems    []autoSystemJSON    `json:"systems"`
}

// autoCandidateJSON has values of nested validation by the measure of --select.
type autoCandidateJSON struct {
	Name    string `json:"name"`
	Members int    `json:"members"`
	Value   any    `json:"value"`
	CI      [2]any `json:"ci"`
	Gain    any    `json:"gain_over_single"`
	GainCI  [2]any `json:"gain_ci"`
}

type autoMemberJSON struct {
	Name       string         `json:"name"`
	Trial      int            `json:"trial"` // from 1
	Weight     float64        `json:"weight"`
	Validation float64        `json:"validation"`
	Settings   map[string]any `json:"settings"`
	Models     int            `json:"models"` // one a part
}

type autoFoldJSON struct {
	Fold    string           `json:"fold"`
	Chosen  string           `json:"chosen"`
	Members []autoMemberJSON `json:"members"`
}

type autoSystemJSON struct {
	System     string                     `json:"system"`
	Measures   map[string]tuneMeasureJSON `json:"measures"`
	Difference map[string]autoTestJSON    `json:"first_system_minus_this,omitempty"` // by measure
	Slices     []slicedJSON               `json:"slices,omitempty"`
}

// autoTestJSON is a paired comparison over the queries.
type autoTestJSON struct {
	Difference    float64 `json:"difference"`
	CI            [2]any  `json:"ci"`
	T             float64 `json:"p_t"`
	Randomization float64 `json:"p_randomization"`
}

func (w *automatic) summary() autoJSON {
	r, m := w.result, &w.out
	j := autoJSON{
		Convention: r.Tune.Convention.Name(), Threshold: r.Tune.Convention.Threshold(), Select: r.Tune.Select.Name(), Seed: r.Tune.Seed,
		Trials: len(r.Trials), Parts: len(r.Tune.Folds), Sampled: r.Sampled, For: w.autoFlags.target, MeasuredOn: "nested validation",
		Nested: candidateJSON(*r.Nested), Chosen: r.Chosen.Name, Candidates: mapped(r.Candidates, candidateJSON), Members: membersJSON(r.Members),
	}
	for _, n := range r.Without() {
		j.Without = append(j.Without, n+1)
	}
	if r.Exportable != nil {
		e := candidateJSON(*r.Exportable)
		j.Exportable = &e
	}
	if w.hasTests() {
		j.MeasuredOn = "test"
	}
	for _, f := range w.tested {
		j.Folds = append(j.Folds, autoFoldJSON{f.Name, f.Chosen.Name, membersJSON(f.Members)})
	}
	for s, name := range m.names {
		system := autoSystemJSON{System: name, Measures: measuresJSON(m.rows[s]), Slices: m.slices.json(s)}
		if s > 0 {
			system.Difference = make(map[string]autoTestJSON)
			for i, by := range r.Tune.Measures {
				if m.compared[i] != nil {
					system.Difference[by.Name()] = m.pair(i, s)
				}
			}
		}
		j.Systems = append(j.Systems, system)
	}
	return j
}

func candidateJSON(c auto.Candidate) autoCandidateJSON {
	return autoCandidateJSON{c.Name, c.Members, finite(c.Mean), ends(c.Interval), finite(c.Gain.Mean), ends(c.Gain.Interval)}
}

func finite(v float64) any {
	if v != v {
		return nil
	}
	return v
}

func membersJSON(members []auto.Member) []autoMemberJSON {
	return mapped(members, func(m auto.Member) autoMemberJSON {
		return autoMemberJSON{m.Entry.Name, m.Number + 1, m.Weight, m.Mean, m.Setting.Typed(), len(m.Models)}
	})
}

// pair returns the comparison of the first system with another by a measure, both by number.
func (m *autoMeasured) pair(by, system int) autoTestJSON {
	for _, p := range m.compared[by].Pairs {
		if p.A+p.B == system { // one of them is 0
			sign := 1.0
			if p.B == 0 {
				sign = -1
			}
			low, high := float64(sign*p.Interval.Low)+0, float64(sign*p.Interval.High)+0 // no -0
			return autoTestJSON{float64(sign*p.Difference) + 0, ends(stats.Interval{Low: min(low, high), High: max(low, high)}), p.T.P, p.Randomization.P}
		}
	}
	return autoTestJSON{}
}

func (w *automatic) report() report {
	r, m := w.result, &w.out
	several := len(m.divisions) > 1
	out := report{columns: []string{"system", "measure"}, keys: 2, json: w.summary()}
	if w.hasTests() || !several {
		for k := range m.divisions {
			out.columns = append(out.columns, m.divisions[k].Name)
		}
	}
	if several {
		out.columns = append(out.columns, "mean", "pooled")
	}
	out.slices, out.sliceIn = m.slices, foldRow(len(out.columns))
	for s, name := range m.names {
		out.addMeans(name, m.rows[s], several)
	}
	if several && !w.hasTests() { // parts are of no interest of their own
		for i, row := range out.rows {
			out.rows[i] = slices.Delete(row, 2, 2+len(m.divisions))
		}
	}
	what := "results on test data"
	switch {
	case !w.hasTests():
		what = fmt.Sprintf("nested validation on %d parts", len(m.divisions))
		if !several {
			what = "nested validation on one part, which also ended trainings early"
		}
	case several:
		what = fmt.Sprintf("results on test data of %d folds", len(m.divisions))
	}
	out.title = fmt.Sprintf("%s; convention %s, ties %v", what, conventionText(r.Tune.Convention), r.Tune.Ties)
	// The measure that decides is the one to test, if the table has it.
	tested := max(0, slices.IndexFunc(r.Tune.Measures, func(by measure.Measure) bool { return by.Name() == r.Tune.Select.Name() }))
	if len(r.Tune.Measures) > 0 && m.compared[tested] != nil && !r.Candidates[0].Chosen {
		p := m.pair(tested, 1)
		within := ""
		if p.CI[0] != nil {
			within = fmt.Sprintf(" (95 %% interval %+.4f to %+.4f)", p.CI[0], p.CI[1])
		}
		out.notes = append(out.notes, fmt.Sprintf("%s minus %s, %s: %+.4f%s, p = %.3g randomization test", m.names[0], m.names[1], r.Tune.Measures[tested].Name(), p.Difference, within, p.Randomization))
	}
	out.notes = append(out.notes, fmt.Sprintf("nested validation by %s, and the gain over the best single with its 95 %% interval:", r.Tune.Select.Name()))
	for _, c := range r.Candidates {
		out.notes = append(out.notes, candidateNote(&c))
	}
	expected := fmt.Sprintf("expected on other queries: %s %.4f", r.Tune.Select.Name(), r.Nested.Mean)
	if i := r.Nested.Interval; i.High-i.Low < math.Inf(1) { // unknown for a single query, and for a few equal values
		expected += fmt.Sprintf(" (95 %% interval %.4f to %.4f)", i.Low, i.High)
	}
	out.notes = append(out.notes, expected)
	if e := r.Exportable; e != nil {
		out.notes = append(out.notes, fmt.Sprintf("for other systems (--for), %s: %.4f, %s relative to the model", e.Name, e.Mean, gain(e)))
	}
	refused := 0
	for _, t := range r.Trials {
		if t.Refused != "" {
			refused++
		}
	}
	done := fmt.Sprintf("%s on %s", counted(len(r.Trials), "trial", "trials"), counted(len(r.Tune.Folds), "part", "parts"))
	if r.Sampled > 0 {
		done += fmt.Sprintf(", the first of them on a sample of %d of %d queries", r.Sampled, len(r.Data.Queries))
	}
	if n := len(r.Without()); n > 0 {
		done += fmt.Sprintf(", except %d left out or unfinished", n)
	}
	if refused > 0 {
		done += fmt.Sprintf(", %d of them not applicable to the data", refused)
	}
	best := r.Ranked[0]
	out.notes = append(out.notes,
		fmt.Sprintf("%s; the best is %s with %s %.4f on validation, the highest value of all trials", done, best.Entry.Name, r.Tune.Select.Name(), best.Mean),
		fmt.Sprintf("wrote %s; commands.sh in it trains it again", filepath.Join(w.autoFlags.out, modelName)))
	return out
}

// candidateNote describes a candidate in a line.
func candidateNote(c *auto.Candidate) string {
	text := fmt.Sprintf("  %-26s  %.4f", c.Name, c.Mean)
	if c.Members > 1 {
		text += fmt.Sprintf("  %s, %d members", gain(c), c.Members)
	}
	if c.Chosen {
		text += "  chosen"
	}
	return text
}

// gain describes the gain of a candidate, with its interval. Adding 0 makes −0 positive.
func gain(c *auto.Candidate) string {
	g := &c.Gain
	return fmt.Sprintf("%+.4f (%+.4f to %+.4f)", g.Mean+0, g.Interval.Low+0, g.Interval.High+0)
}
