package app

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/listwise/listwise/app/runs"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/eval/stats"
	"github.com/listwise/listwise/learn/method"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/tune"
	"github.com/listwise/listwise/tune/auto"
	"github.com/listwise/listwise/tune/ensemble"
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

// require returns an error if a required flag is missing or two flags contradict each other.
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
	if err := f.source.targets(f.by, f.out).check(); err != nil {
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

func (f *autoFlags) produce(ctx context.Context, env *environment, config *auto.Config, rec *recorder) (report, error) {
	bar := env.startProgress("trials", 0)
	config.Observe = func(p auto.Progress) {
		bar.show(p.Stage, p.Done, p.Total, bestSoFar(config.Tune.Select.Name(), p.Name, p.Best))
	}
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

// The systems that auto measures on every fold.
const (
	autoSystem   = "auto"         // the fusion of the members, trained anew
	triedSystem  = "not-refitted" // the same before these were trained anew
	singleSystem = "best-single"  // the first member alone, trained anew
	plainSystem  = "plain-fusion" // of every method on the raw features, as they were tried
)

// autoMeasured has the systems' results on the folds' test data, or on the validation data if there
// are no test data.
type autoMeasured struct {
	tested    bool
	divisions []ensemble.Division
	names     []string
	results   [][]*measure.Result // of each system on each fold
	rows      [][]tune.Summary    // of each system
	slices    *slicedMeans
	compared  []*stats.Comparison // by each measure, every system with the first; nil where there is but one query
}

// measureFusions measures the fusions of every fold and the systems that they are compared with.
func (f *autoFlags) measureFusions(r *auto.Result) (*autoMeasured, error) {
	m := &autoMeasured{tested: r.Tune.Folds[0].Tested()}
	results := make(map[string][]*measure.Result)
	for k := range r.Tune.Folds {
		fold := &r.Tune.Folds[k]
		systems, err := m.systems(r, k)
		if err != nil {
			return nil, err
		}
		d := ensemble.Division{Name: fold.Name, Test: fold.Test}
		m.names = nil
		for _, s := range systems {
			if s.Test, err = s.Model.Score(fold.Test); err != nil {
				return nil, fmt.Errorf("%s, %s: %w", s.Name, fold.Name, err)
			}
			test, err := measure.Evaluate(fold.Test, s.Test, r.Tune.Measures, r.Tune.Ties)
			if err != nil {
				return nil, err
			}
			results[s.Name] = append(results[s.Name], test)
			d.Systems, m.names = append(d.Systems, s), append(m.names, s.Name)
		}
		m.divisions = append(m.divisions, d)
	}
	var pooled []*measure.Result
	for _, name := range m.names {
		m.results = append(m.results, results[name])
		m.rows = append(m.rows, tune.Summarise(results[name]...))
		pooled = append(pooled, measure.Pool(results[name]...))
	}
	var err error
	if m.slices, err = f.of(testsOf(m.divisions), r.Tune.Convention, m.names, m.results); err != nil {
		return nil, err
	}
	for _, by := range r.Tune.Measures {
		c, err := comparedBy(by, pooled, f.seed)
		if err != nil {
			return nil, err
		}
		m.compared = append(m.compared, c)
	}
	return m, nil
}

func (m *autoMeasured) systems(r *auto.Result, k int) ([]ensemble.System, error) {
	f := &r.Folds[k]
	if m.tested && len(r.Folds) == 1 {
		f = &auto.Fused{Name: f.Name, Members: r.Final.Members, Model: r.Final.Model, Candidates: f.Candidates}
	}
	tried, err := auto.Untrained(r.Folds[k].Members)
	if err != nil {
		return nil, err
	}
	var raw []auto.Member
	for _, c := range f.Candidates {
		if c.Entry.Own.Views.Raw() {
			raw = append(raw, c)
		}
	}
	if raw == nil {
		raw = f.Candidates
	}
	plain, err := auto.Untrained(raw)
	if err != nil {
		return nil, err
	}
	all := []ensemble.System{{Name: triedSystem, Model: tried}, {Name: plainSystem, Model: plain}}
	if !m.tested { // what was trained anew has seen the validation data
		return append(all, ensemble.System{Name: singleSystem, Model: f.Members[0].Tried}), nil
	}
	single, err := f.Members[0].Model()
	if err != nil {
		return nil, err
	}
	return append([]ensemble.System{{Name: autoSystem, Model: f.Model}}, append(all, ensemble.System{Name: singleSystem, Model: single})...), nil
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
	const permutations, resamples = 10_000, 2_000
	return stats.Compare(values, stats.Config{Weights: weights, Permutations: permutations, Resamples: resamples, Seed: seed})
}

func (m *autoMeasured) modelsOf(system int) []*model.Model {
	var all []*model.Model
	for k := range m.divisions {
		all = append(all, m.divisions[k].Systems[system].Model)
	}
	return all
}

// recorded describes a run of auto before it trains. The run's method is auto; trials.jsonl lists
// the methods that were trained.
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

// record adds the results to the record of the run: for every system the means over the folds and
// the results of each fold, and for fusions their members.
func (f *autoFlags) record(rec *recorder, r *auto.Result, m *autoMeasured) {
	rec.wrote(filepath.Join(f.out, modelName), filepath.Join(f.out, "report.html"), filepath.Join(f.out, "commands.sh"),
		filepath.Join(f.out, "trials.jsonl"), filepath.Join(f.out, "results.json"))
	for s, name := range m.names {
		means := runs.RankerResult{Ranker: name, Validation: runs.NaN(), Measures: meansOf(m.rows[s], m.results[s])}
		if name == autoSystem || name == triedSystem {
			means.Settings = memberNames(&r.Final)
			means.Training = map[string]any{"trials": r.Trials, "trials_in_all": r.Of}
		}
		rec.result(means)
		for k := range r.Folds {
			fold := runs.RankerResult{Ranker: name, Fold: r.Folds[k].Name, Validation: runs.NaN(), Measures: recordedMeasures(m.results[s][k])}
			if name == autoSystem || name == triedSystem {
				fold.Settings = memberNames(&r.Folds[k])
			}
			rec.result(fold)
			rec.wrote(f.foldModel(name, r.Folds[k].Name))
		}
	}
}

func memberNames(f *auto.Fused) map[string]any {
	return map[string]any{"members": mapped(f.Members, func(m auto.Member) any { return m.Entry.Name })}
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
			recordedData(fold.Name+" train", cmp.Or(s.files.Train, dir), fold.Train),
			recordedData(fold.Name+" valid", cmp.Or(s.files.Valid, dir), fold.Valid))
		if fold.Tested() {
			all = append(all, recordedData(fold.Name+" test", cmp.Or(s.files.Test, dir), fold.Test))
		}
	}
	return all
}

// autoJSON is the result of auto that scripts rely on.
type autoJSON struct {
	Convention string           `json:"convention"`
	Threshold  float64          `json:"threshold"`
	Select     string           `json:"select"`
	Seed       uint64           `json:"seed"`
	Trials     int              `json:"trials"`
	Of         int              `json:"trials_in_all"`
	MeasuredOn string           `json:"measured_on"` // test or validation
	Members    []autoMemberJSON `json:"members"`     // of the model, best first
	Folds      []autoFoldJSON   `json:"folds"`
	Systems    []autoSystemJSON `json:"systems"`
}

type autoMemberJSON struct {
	Name       string         `json:"name"`
	Validation float64        `json:"validation"`
	Settings   map[string]any `json:"settings"`           // that trained it on all data
	HeldOut    []string       `json:"held_out,omitempty"` // the parts of them that decided when to stop
}

type autoFoldJSON struct {
	Fold    string           `json:"fold"`
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

func autoSummary(r *auto.Result, m *autoMeasured) autoJSON {
	j := autoJSON{
		Convention: r.Tune.Convention.Name(), Threshold: r.Tune.Convention.Threshold(), Select: r.Tune.Select.Name(), Seed: r.Tune.Seed,
		Trials: r.Trials, Of: r.Of, MeasuredOn: "validation", Members: membersJSON(r.Final.Members),
	}
	if m.tested {
		j.MeasuredOn = "test"
	}
	for k := range r.Folds {
		j.Folds = append(j.Folds, autoFoldJSON{r.Folds[k].Name, membersJSON(r.Folds[k].Members)})
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

func membersJSON(members []auto.Member) []autoMemberJSON {
	return mapped(members, func(m auto.Member) autoMemberJSON {
		j := autoMemberJSON{Name: m.Entry.Name, Validation: m.Validation, Settings: m.Trial.Typed()}
		for _, l := range m.Learned {
			if j.Settings = l.Setting.Typed(); l.Part > 0 {
				j.HeldOut = append(j.HeldOut, fmt.Sprintf("%d/%d", l.Part, l.Parts))
			}
		}
		return j
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

func (f *autoFlags) report(r *auto.Result, m *autoMeasured) report {
	j := autoSummary(r, m)
	out := report{columns: []string{"system", "measure"}, keys: 2, json: j}
	for k := range r.Folds {
		out.columns = append(out.columns, r.Folds[k].Name)
	}
	several := len(r.Folds) > 1
	if several {
		out.columns = append(out.columns, "mean", "pooled")
	}
	out.slices, out.sliceIn = m.slices, foldRow(len(out.columns))
	for s, name := range m.names {
		out.addMeans(name, m.rows[s], several)
	}
	what := fmt.Sprintf("test results of %d folds", len(r.Folds))
	switch {
	case !m.tested:
		what = "results on the validation queries, by which members were chosen: too good for other queries"
	case !several:
		what = "test results"
	}
	out.title = fmt.Sprintf("%s; convention %s, ties %v", what, conventionText(r.Tune.Convention), r.Tune.Ties)
	for s := 1; s < len(m.names); s++ {
		for i, by := range r.Tune.Measures[:min(1, len(r.Tune.Measures))] {
			if m.compared[i] != nil {
				p := m.pair(i, s)
				within := ""
				if p.CI[0] != nil {
					within = fmt.Sprintf(" (95 %% interval %+.4f to %+.4f)", p.CI[0], p.CI[1])
				}
				out.notes = append(out.notes, fmt.Sprintf("%s minus %s, %s: %+.4f%s, p = %.3g randomization test", m.names[0], m.names[s], by.Name(), p.Difference, within, p.Randomization))
			}
		}
	}
	refused := 0
	for i := range r.Outcomes {
		if r.Outcomes[i].Refused != "" {
			refused++
		}
	}
	done := fmt.Sprintf("%d of %d trials", r.Trials, r.Of)
	if n := len(r.Without); n > 0 {
		done += fmt.Sprintf(", except %d left out or unfinished", n)
	}
	if refused > 0 {
		done += fmt.Sprintf(", %d of them not applicable to the data", refused)
	}
	best := r.Final.Members[0]
	out.notes = append(out.notes,
		fmt.Sprintf("%s; the model fuses %d of the %d candidates (members: %d), the first %s with %s %.4f on validation", done, r.Final.Chosen, len(r.Final.Candidates), len(r.Final.Members), best.Entry.Name, r.Tune.Select.Name(), best.Validation),
		fmt.Sprintf("wrote %s; commands.sh in it trains it again", filepath.Join(f.out, modelName)))
	return out
}
