package app

import (
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/transform"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/eval/stats"
	"github.com/listwise/listwise/internal/atomicfile"
	"github.com/listwise/listwise/internal/random"
	"github.com/listwise/listwise/internal/rows"
	"github.com/listwise/listwise/learn/method"
	"github.com/listwise/listwise/tune"
	"github.com/listwise/listwise/tune/runs"
)

type ablateFlags struct {
	learning
	recording
	measuring
	source
	cmd      *cobra.Command
	method   string
	set      []string
	vary     string
	leaveOut []string
	seedList string
	selectBy string
	baseline string
	jobs     int
	out      string
}

func newAblateCommand(env *environment) *cobra.Command {
	var f ablateFlags
	cmd := &cobra.Command{
		Use:   "ablate --method M (--vary NAME=V1,V2,… | --leave-out [NAME=]FEATURES…) (--data DIR|FILE | --train FILE --valid FILE --test FILE) --out DIR",
		Short: "Measure the effect of a hyperparameter, training size or features",
		Long: `Trains a method at several points, with several random seeds, and evaluates every
model on test data. The points are

  --vary leaves=4,8,16,32          values of a hyperparameter
  --vary queries=10%,25%,50%,100%  samples of the training queries, one for each seed
  --leave-out title=1..5           all features, and all but those of each --leave-out

The table has the mean over seeds and test queries with its 95 % interval, the standard
deviation over seeds, and the difference from the baseline with interval and p value
(randomization test over queries and seeds, Holm correction over the points). The
baseline is the default value, all queries or all features; --baseline names another.

Validation data serve early stopping alone. --data is a folder of folds, or a file,
which is divided as by "data fold": each of its --folds parts is test data once.
A feature that is left out has the value 0 in all documents.

The folder --out gets ablation.csv (the table), ablation.svg and ablation.pdf (the
figure, as wide as a column of a paper), results.json, commands.sh (a training and an
evaluation of every point, seed and fold), and for each point and seed a folder of
models, scores, per-query values and learning curves, as tune writes them. A run that
was interrupted resumes. Use tune to choose a setting: here, test data are compared.`,
		Example: `  listwise ablate --method lambdamart --vary leaves=4,8,16,32 --data MQ2008 --out leaves
  listwise ablate --method ranknet --scorer net --vary hidden=5,10,20,40 --seeds 1-10 --data MQ2008 --out hidden
  listwise ablate --method mle --leave-out title=1..3 --leave-out body=4..5 --data MQ2008 --out groups
  listwise ablate --method lambdamart --vary queries=10%,25%,50%,100% --data MQ2008 --out sizes`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := required(cmd, "method", "out"); err != nil {
				return err
			}
			if err := f.require(cmd); err != nil {
				return err
			}
			f.cmd = cmd
			return f.run(cmd.Context(), env)
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.method, "method", "", "`method` to train (see \"listwise methods\")")
	f.source.addTo(cmd)
	addList(fl, &f.set, "set", "name=value", "value of another hyperparameter; repeatable")
	fl.StringVar(&f.vary, "vary", "", "`NAME=V1,V2,…`: a hyperparameter, or queries, and its values")
	addList(fl, &f.leaveOut, "leave-out", "[NAME=]FEATURES", "group of features to leave out, such as title=1..5; repeatable")
	fl.StringVar(&f.seedList, "seeds", "1-5", "random `seeds` of the trainings, such as 1-5 or 1,2,7")
	fl.StringVar(&f.baseline, "baseline", "", "`point` to compare with (default: default value, all queries or features)")
	fl.StringVar(&f.selectBy, "select", "", "validation `measure` for early stopping (default: first of --measures)")
	addWhole(fl, &f.jobs, "jobs", 0, 0, "`number` of parallel trainings (default: number of cores)")
	fl.StringVar(&f.out, "out", "", "`folder` for results")
	f.measuring.addTo(cmd, "ndcg@10", "`measures` on the test data, separated by commas")
	f.learning.addTo(cmd)
	fl.Lookup("seed").Usage = "random `seed` of the folds of a file and of tests"
	f.recording.addTo(cmd)
	return cmd
}

// Values of [ablation].varies that are no hyperparameters.
const (
	varyQueries  = "queries"
	varyFeatures = "features"
)

// short returns the point's label in a row of a figure: for features, the name of the group.
func (p *ablated) short() string { return strings.TrimPrefix(p.label, leftOutPrefix) }

// leftOutPrefix begins the label of a point whose features are left out.
const leftOutPrefix = "without "

// ablation is a list of points, and their results.
type ablation struct {
	varies   string // name of a hyperparameter, varyQueries or varyFeatures
	method   *method.Method
	seeds    []uint64
	points   []ablated
	baseline int // index of the point that the others are compared with
	queries  int // number of test queries
	config   *tune.Config
	measured []measured // in the order of config.Measures; the systems are the points
}

// ablated is a point: what differs from the other points.
type ablated struct {
	label   string
	at      float64 // position on a numeric axis; NaN if there is none
	values  method.Values
	share   float64          // of the training queries
	without string           // the features that are left out
	zeroed  []transform.Spec // the steps that do so

	rows []*tune.Row // for each seed
}

func (f *ablateFlags) run(ctx context.Context, env *environment) error {
	if err := f.source.targets("", f.out).check(); err != nil {
		return err
	}
	if err := notTuned(f.out); err != nil {
		return err
	}
	a := &ablation{config: &tune.Config{Seed: f.seed, Jobs: f.jobs, Dir: f.out}}
	if err := f.settle(a); err != nil {
		return err
	}
	c := a.config
	opts, err := f.tuning(c, &f.measuring, f.selects())
	if err != nil {
		return err
	}
	if c.Views, err = f.recipe().ParseViews(); err != nil {
		return err
	}
	if c.Entries, err = f.entries(a); err != nil {
		return err
	}
	if err := f.checkFolders(c.Entries); err != nil {
		return err
	}
	if err := f.readFolds(ctx, env, a, opts); err != nil {
		return err
	}
	rec := f.begin(env, func() *runs.Run { return f.recorded(a) })
	out, err := f.measureAll(ctx, env, a, rec)
	return rec.conclude(out, err)
}

// selects returns the validation measure: that of --select, or the first of --measures.
func (f *ablateFlags) selects() string {
	if f.selectBy != "" {
		return f.selectBy
	}
	first, _, _ := strings.Cut(f.measures, ",")
	return first
}

// settle sets the method, the seeds, the points and the baseline of a.
func (f *ablateFlags) settle(a *ablation) (err error) {
	if a.method, err = f.recipe().Lookup(f.method); err != nil {
		return err
	}
	if a.seeds, err = seedsFlag(f.seedList); err != nil {
		return err
	}
	set, err := settings("set", f.set)
	if err != nil {
		return err
	}
	values, err := a.method.Values(set)
	if err != nil {
		return err
	}
	switch {
	case (f.vary == "") == (f.leaveOut == nil):
		return usageErrorf("listwise ablate: expected either --vary or --leave-out")
	case f.leaveOut != nil:
		err = a.withoutGroups(f.leaveOut, values)
	default:
		name, list, ok := strings.Cut(f.vary, "=")
		if !ok || name == "" || list == "" {
			return usageErrorf("--vary %s: expected NAME=V1,V2,…", f.vary)
		}
		if _, twice := set[name]; twice {
			return usageErrorf("--set %s=%s: expected it without --vary %[1]s", name, set[name])
		}
		a.varies = name
		if words := strings.Split(list, ","); name == varyQueries {
			err = a.withShares(words, values)
		} else {
			err = a.withValues(words, set)
		}
		if err != nil {
			return usageErrorf("--vary %s: %w", f.vary, err)
		}
	}
	if err != nil {
		return err
	}
	if len(a.points) < 2 { //nolint:mnd // a comparison needs two
		return usageErrorf("--vary %s: found one value, expected at least two", f.vary)
	}
	for i := range a.points {
		if j := slices.IndexFunc(a.points, func(p ablated) bool { return p.label == a.points[i].label }); j < i {
			return usageErrorf("--%s: found %s twice", flagOfVaried(a.varies), a.points[i].label)
		}
		if err := a.points[i].values.Idle(); err != nil {
			return err
		}
	}
	if f.baseline == "" {
		return nil
	}
	labels := mapped(a.points, func(p ablated) string { return p.label })
	if a.baseline = slices.Index(labels, f.baseline); a.baseline < 0 {
		return usageErrorf("--baseline %s: expected one of the points %s", f.baseline, strings.Join(labels, ", "))
	}
	return nil
}

func flagOfVaried(varies string) string {
	if varies == varyFeatures {
		return "leave-out"
	}
	return "vary"
}

// withValues adds a point for each value of a hyperparameter. The baseline is the default value, if
// there is a point for it, and otherwise the first point.
func (a *ablation) withValues(words []string, set map[string]string) error {
	numeric := a.method.IsNumber(a.varies)
	for _, word := range words {
		own := map[string]string{a.varies: strings.TrimSpace(word)}
		for name, value := range set {
			own[name] = value
		}
		v, err := a.method.Values(own)
		if err != nil {
			return err
		}
		p := ablated{label: v.Text(a.varies), at: math.NaN(), values: v, share: 1}
		if at, err := strconv.ParseFloat(p.label, 64); err == nil && numeric { // a number may also be auto
			p.at = at
		}
		if v.IsDefault(a.varies) {
			a.baseline = len(a.points)
		}
		a.points = append(a.points, p)
	}
	return nil
}

// withShares adds a point for each share of the training queries. The baseline is the largest share.
func (a *ablation) withShares(words []string, v method.Values) error {
	const percent = 100
	for i, word := range words {
		number, isPercent := strings.CutSuffix(strings.TrimSpace(word), "%")
		share, err := strconv.ParseFloat(number, 64)
		if isPercent {
			share /= percent
		}
		if err != nil || !(share > 0 && share <= 1) {
			return fmt.Errorf("found %q, expected shares of the training queries above 0, up to 100%%", word)
		}
		if share > a.shareOfBaseline() {
			a.baseline = i
		}
		label := strconv.FormatFloat(share*percent, 'g', 6, 64) + "%"
		a.points = append(a.points, ablated{label: label, at: share * percent, values: v, share: share})
	}
	return nil
}

func (a *ablation) shareOfBaseline() float64 {
	if len(a.points) == 0 {
		return 0
	}
	return a.points[a.baseline].share
}

// withoutGroups adds a point for all features, which is the baseline, and one without each group.
func (a *ablation) withoutGroups(groups []string, v method.Values) error {
	a.varies = varyFeatures
	a.points = []ablated{{label: "all", at: math.NaN(), values: v, share: 1}}
	for _, group := range groups {
		name, features, named := strings.Cut(group, "=")
		if !named {
			features = name
		}
		p := ablated{label: leftOutPrefix + name, at: math.NaN(), values: v, share: 1, without: features}
		if name == "" || strings.ContainsAny(name, `/\`) || strings.ContainsFunc(name, func(r rune) bool { return r < ' ' }) {
			return usageErrorf("--leave-out %s: found the name %q, expected one for a folder", group, name)
		}
		for _, step := range []string{"fill=0:", "clip=0:0:"} {
			spec, err := transform.ParseSpec(step + features)
			if err != nil {
				return usageErrorf("--leave-out %s: found %q, expected names, numbers or ranges of features, such as 1..5,9", group, features)
			}
			p.zeroed = append(p.zeroed, spec)
		}
		a.points = append(a.points, p)
	}
	return nil
}

// folderOf returns the name of a point's folder for a seed, in the folder --out.
func (a *ablation) folderOf(p *ablated, seed uint64) string {
	name := p.label
	if a.varies != varyFeatures {
		name = a.varies + "=" + name
	}
	return fmt.Sprintf("%s.seed%d", name, seed)
}

// entries returns an entry for each point and seed.
func (f *ablateFlags) entries(a *ablation) ([]tune.Entry, error) {
	training, err := f.recipe().TrainingMeasure(a.method)
	if err != nil {
		return nil, err
	}
	var all []tune.Entry
	for i := range a.points {
		p := &a.points[i]
		for _, seed := range a.seeds {
			own := &tune.Variant{Scorer: f.scorer, Views: a.config.Views, Transforms: slices.Concat(a.config.Transforms, p.zeroed), Seed: seed, Share: p.share}
			all = append(all, tune.Entry{Name: a.folderOf(p, seed), Settings: []tune.Setting{p.values}, Method: a.method, Measure: training, Own: own})
		}
	}
	return all, nil
}

// pointFolders are the names of folders of points.
var pointFolders = regexp.MustCompile(`\.seed[0-9]+$`)

// checkFolders returns an error if the output folder has results of other points or seeds than this
// call. A pattern such as leaves=8.seed* would mix them.
func (f *ablateFlags) checkFolders(entries []tune.Entry) error {
	list, _ := os.ReadDir(f.out) // there may be none yet
	for _, e := range list {
		if pointFolders.MatchString(e.Name()) && len(foldsIn(filepath.Join(f.out, e.Name()))) > 0 && !slices.ContainsFunc(entries, func(own tune.Entry) bool { return own.Name == e.Name() }) {
			return usageErrorf("--out %s: found %s, which is no point and seed of this call; add it to the call, or name another folder", f.out, e.Name())
		}
	}
	return nil
}

// readFolds reads the data, or divides a file as "data fold" does.
func (f *ablateFlags) readFolds(ctx context.Context, env *environment, a *ablation, opts dataset.Options) error {
	c := a.config
	var whole *dataset.Dataset
	var err error
	if c.Folds, whole, c.MaxBytes, err = f.read(ctx, env, opts, 1); err != nil {
		return err
	}
	if whole != nil {
		divided, err := dataset.Folds(whole, f.folds, random.Stream(f.seed, "fold", ""))
		if err != nil {
			return usageErrorf("--data %s: %w", f.data, err)
		}
		for k, d := range divided {
			c.Folds = append(c.Folds, tune.Fold{Name: fmt.Sprintf("Fold%d", k+1), Train: whole.Subset(d.Train), Valid: whole.Subset(d.Vali), Test: whole.Subset(d.Test)})
		}
	}
	for _, fold := range c.Folds {
		if !fold.Tested() {
			return usageErrorf("%s: found no test data, expected them: a point is measured on data that early stopping does not use", fold.Name)
		}
		for _, seed := range a.seeds {
			if a.varies == varyQueries && fold.Train.Sampled(seed) {
				return usageErrorf("--seeds %s: the training queries are already a sample drawn with seed %d, expected other seeds", f.seedList, seed)
			}
		}
		a.queries += len(fold.Test.Queries)
	}
	warnOfFolds(env, c.Folds)
	c.Convention = env.settle(c.Convention, dataOf(c.Folds)...)
	warnOfTests(env, c)
	warnOfIndifference(env, c.Folds[0].Train, measuresOf(c.Entries[:1], c.Convention))
	return nil
}

// measureAll trains all points, compares them, and writes the folder of --out.
func (f *ablateFlags) measureAll(ctx context.Context, env *environment, a *ablation, rec *recorder) (report, error) {
	c := a.config
	bar := env.startProgress("training", 0)
	defer bar.finish()
	c.Tell = func(p tune.Progress) { bar.show("training", p.Done, p.Total, "") }
	result, err := tune.Run(ctx, *c)
	if err != nil {
		return report{}, err
	}
	for i := range result.Rows {
		p := &a.points[i/len(a.seeds)]
		p.rows = append(p.rows, &result.Rows[i])
	}
	for _, m := range c.Measures {
		if err := a.compare(m); err != nil {
			return report{}, usageErrorf("measure %s: %w", m.Name(), err)
		}
	}
	bar.finish()
	out := a.report(env.format)
	if err := f.write(a, out, rec); err != nil {
		return report{}, err
	}
	recordTuning(rec, []tune.Config{*c}, []*tune.Result{result})
	out.notes = append(out.notes, "figures, values and commands: "+f.out)
	return out, nil
}

// compare compares the points by a measure. It uses the queries for which the measure is defined.
func (a *ablation) compare(m measure.Measure) error {
	values := make([][][]float64, len(a.points)) // of each point, seed and query
	var weights []float64
	for i, p := range a.points {
		for _, row := range p.rows {
			pooled := measure.Pool(mapped(row.Folds, func(f tune.FoldResult) *measure.Result { return f.Test })...)
			values[i] = append(values[i], pooled.PerQuery(m))
			weights = pooled.Weights()
		}
	}
	var kept []int
	for q := range values[0][0] {
		undefined := func(runs [][]float64) bool {
			return slices.ContainsFunc(runs, func(run []float64) bool { return math.IsNaN(run[q]) })
		}
		if !slices.ContainsFunc(values, undefined) && (weights == nil || weights[q] > 0) {
			kept = append(kept, q)
		}
	}
	of := func(list []float64) []float64 { return mapped(kept, func(q int) float64 { return list[q] }) }
	for i := range values {
		values[i] = mapped(values[i], of)
	}
	if weights != nil {
		weights = of(weights)
	}
	r, err := stats.CompareRuns(values, stats.Config{Range: measure.RangeOf(m), Baseline: a.baseline, Weights: weights, Seed: a.config.Seed, Workers: a.config.Jobs})
	if err != nil {
		return err
	}
	one := measured{name: m.Name(), weighted: weights != nil, Comparison: r}
	for i := range values {
		one.deviations = append(one.deviations, deviationOf(mapped(values[i], func(run []float64) float64 { return measure.WeightedMean(run, weights) })))
	}
	a.measured = append(a.measured, one)
	return nil
}

// ablationJSON is the JSON form of an ablation. Scripts rely on its names.
type ablationJSON struct {
	Method     string        `json:"method"`
	Varies     string        `json:"varies"` // the name of a hyperparameter, "queries" or "features"
	Baseline   string        `json:"baseline"`
	Convention string        `json:"convention"`
	Threshold  float64       `json:"threshold"`
	Select     string        `json:"select"`
	Ties       string        `json:"ties"`
	Seed       uint64        `json:"seed"`
	Seeds      []uint64      `json:"seeds"`
	Queries    int           `json:"queries"`
	Data       string        `json:"data"` // fingerprint of all folds
	Points     []ablatedJSON `json:"points"`
}

type ablatedJSON struct {
	Point       string                        `json:"point"`
	Settings    map[string]any                `json:"settings"`
	Share       float64                       `json:"share_of_queries"`
	LeftOut     string                        `json:"features_left_out,omitempty"`
	Measures    map[string]ablatedMeasureJSON `json:"measures"`
	Unconverged int                           `json:"trainings_not_converged,omitempty"`
}

type ablatedMeasureJSON struct {
	Mean       any     `json:"mean"` // over seeds and test queries
	CI         [2]any  `json:"ci"`
	SD         any     `json:"sd"`         // over seeds; null for one seed
	Difference any     `json:"difference"` // to the baseline; null for the baseline itself
	OfCI       *[2]any `json:"difference_ci"`
	P          any     `json:"p"`
	Holm       any     `json:"p_holm"` // corrected over the points
}

// difference returns the difference of point i from the baseline. ok is false for the baseline.
func (a *ablation) difference(m *measured, i int) (d float64, ci stats.Interval, p stats.Test, ok bool) {
	for _, pair := range m.Pairs {
		switch {
		case pair.A == i && pair.B == a.baseline:
			return pair.Difference, pair.Interval, pair.Randomization, true
		case pair.B == i && pair.A == a.baseline:
			return -pair.Difference, stats.Interval{Low: -pair.Interval.High, High: -pair.Interval.Low}, pair.Randomization, true
		}
	}
	return 0, stats.Interval{}, stats.Test{}, false
}

func (a *ablation) summary() ablationJSON {
	c, head := a.config, tuneHead(a.config, a.seeds)
	s := ablationJSON{
		Method: a.method.Name, Varies: a.varies, Baseline: a.points[a.baseline].label, Convention: head.Convention, Threshold: head.Threshold, Select: head.Select,
		Ties: c.Ties.String(), Seed: c.Seed, Seeds: a.seeds, Queries: head.Queries, Data: head.Data,
	}
	for i := range a.points {
		p := &a.points[i]
		j := ablatedJSON{Point: p.label, Settings: p.values.Typed(), Share: p.share, Measures: make(map[string]ablatedMeasureJSON), Unconverged: p.unconverged()}
		j.LeftOut = p.without
		for k := range a.measured {
			m := &a.measured[k]
			one := ablatedMeasureJSON{Mean: number(m.Systems[i].Mean), CI: ends(m.Systems[i].Interval), SD: number(m.deviations[i])}
			if d, ci, p, ok := a.difference(m, i); ok {
				of := ends(ci)
				one.Difference, one.OfCI, one.P, one.Holm = number(d), &of, number(p.P), number(p.Holm)
			}
			j.Measures[m.name] = one
		}
		s.Points = append(s.Points, j)
	}
	return s
}

func (p *ablated) unconverged() (n int) {
	for _, row := range p.rows {
		_, more := row.Trainings()
		n += more
	}
	return n
}

// columns returns the names of the table's columns, which are unique for programs that read CSV.
func (a *ablation) columns(format string) []string {
	if format == "csv" {
		return []string{a.varies, "measure", "mean", "mean_low", "mean_high", "sd", "difference", "difference_low", "difference_high", "p_holm"}
	}
	return []string{a.varies, "measure", "mean", "low", "high", "sd", "difference", "low", "high", "p"}
}

func (a *ablation) report(format string) report {
	c := a.config
	out := report{
		title: fmt.Sprintf("%s on %d test queries of %s, %s; convention %s", a.method.Name, a.queries,
			counted(len(c.Folds), "fold", "folds"), counted(len(a.seeds), "seed", "seeds"), conventionText(c.Convention)),
		columns: a.columns(format), keys: 2,
		json: a.summary(),
	}
	for i := range a.points {
		for k := range a.measured {
			m := &a.measured[k]
			ci := ends(m.Systems[i].Interval)
			row := []any{a.points[i].label, m.name, m.Systems[i].Mean, ci[0], ci[1], number(m.deviations[i]), nil, nil, nil, nil}
			if d, ci, p, ok := a.difference(m, i); ok {
				of := ends(ci)
				row[6], row[7], row[8], row[9] = d, of[0], of[1], pValue(p.Holm)
			}
			out.rows = append(out.rows, row)
		}
	}
	out.notes = append(out.notes, "", fmt.Sprintf("The baseline is %s. Means are over seeds and test queries, with 95 %% intervals; sd is over seeds.", a.points[a.baseline].label))
	for k := range a.measured {
		m := &a.measured[k]
		if m.Queries < a.queries {
			out.notes = append(out.notes, fmt.Sprintf("%s is defined, with a weight above 0, on %d of the queries.", m.name, m.Queries))
		}
		if !slices.ContainsFunc(m.Pairs, func(p stats.Pair) bool { return p.Wins+p.Losses > 0 }) {
			out.notes = append(out.notes, fmt.Sprintf("warning: %s is the same on every query at all points: %s has no effect with these settings", m.name, a.varies))
		} else if len(a.seeds) > 1 && !slices.ContainsFunc(m.deviations, func(d float64) bool { return d > stats.Same }) {
			out.notes = append(out.notes, fmt.Sprintf("note: all seeds give the same %s, so its intervals are over queries alone; --seeds 1 is enough", m.name))
		}
	}
	for i := range a.points {
		p := &a.points[i]
		if n := p.unconverged(); n > 0 {
			out.notes = append(out.notes, fmt.Sprintf("warning: %d of %d trainings of %s did not converge", n, len(p.rows)*len(c.Folds), p.label))
		}
	}
	return out
}

// The files of an ablation in the folder --out.
const (
	ablationTable    = "ablation.csv"
	ablationResults  = "results.json"
	ablationCommands = "commands.sh"
)

func (f *ablateFlags) write(a *ablation, out report, rec *recorder) error {
	in := func(name string) string { return filepath.Join(f.out, name) }
	err := atomicfile.Write(in(ablationTable), func(w io.Writer) error { return rows.WriteCSV(w, a.columns("csv"), out.rows) })
	if err != nil {
		return err
	}
	figures := []string{in("ablation.svg"), in("ablation.pdf")}
	for _, path := range figures {
		if err := writeFigure("out", path, a.plot()); err != nil {
			return err
		}
	}
	commands, err := f.commands(a)
	if err != nil {
		return err
	}
	if err := atomicfile.Write(in(ablationCommands), func(w io.Writer) error { _, err := io.WriteString(w, commands); return err }); err != nil {
		return err
	}
	rec.wrote(append(figures, in(ablationTable), in(ablationResults), in(ablationCommands))...)
	return atomicfile.Write(in(ablationResults), atomicfile.JSON(out.json))
}

// recorded describes the run before the trainings start.
func (f *ablateFlags) recorded(a *ablation) *runs.Run {
	c := f.recordedSettings(a.config.Convention)
	c["select"], c["ties"], c["measures"] = a.config.Select.Name(), a.config.Ties.String(), namesOfMeasures(a.config.Measures)
	c["method"], c["scorer"], c["varies"], c["baseline"] = a.method.Name, f.scorer, a.varies, a.points[a.baseline].label
	c["points"] = mapped(a.points, func(p ablated) any { return p.label })
	c["seeds"] = mapped(a.seeds, func(s uint64) any { return float64(s) })
	return &runs.Run{
		Kind: runs.Ablate, Config: c, Seed: &a.config.Seed, Data: f.recordedFolds(a.config.Folds),
		Methods: []string{a.method.Name},
	}
}
