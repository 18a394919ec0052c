package app

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/memory"
	"github.com/listwise/listwise/dataset/scored"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/internal/atomicfile"
	"github.com/listwise/listwise/internal/suggest"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/model/interchange"
	"github.com/listwise/listwise/model/scorer"
	"github.com/listwise/listwise/tune/ensemble"
)

type scoreFlags struct {
	scoring
	oneShard
	model   string
	data    string
	out     string
	ranking scored.Options
}

func newScoreCommand(env *environment) *cobra.Command {
	var f scoreFlags
	cmd := &cobra.Command{
		Use:   "score --model M --data FILE [--out FILE]",
		Short: "Score documents with a model",
		Long: `Scores documents. A higher score means more relevant. The model's preprocessing is
applied first.

Output formats (--format):
` + scored.About() + `
Scores are printed with all their digits. A document without an id is identified by
its number within its query. Documents with equal scores get different ranks, in the
order of the input. A TREC run orders them by descending id (as bytes), as trec_eval
does. In a run, a document that occurs twice in a query is an error. Ids are printed
unchanged, even if a spreadsheet would read them as formulas.

Grades are read but ignored. Text without grades needs grade 0 on every line; a table
may lack the column. Features are matched by name if both the model and the data have
names; the data then need all of the model's. Otherwise they are matched by position,
and features above the highest index of the data count as 0.

By default, --missing and --absent use the rules of the training (model).`,
		Example: `  listwise score --model m.json --data test.txt --out test.scores
  zcat new.txt.gz | listwise score --model m.json --data -
  listwise score --model m.json --data test.txt --format tsv --best-first --top 10
  listwise score --model m.json --data test-shards --shard 3 --out scores/part-00003
  listwise score --model m.json --data test.txt --format run --tag m --out m.run`,
		Args: noArgs,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			return env.checkFormat(cmd, scored.Formats(), suggest.OneOf(scored.Formats()))
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := required(cmd, "model", "data"); err != nil {
				return err
			}
			return f.run(cmd.Context(), env)
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.model, "model", "", "model `file`")
	fl.StringVar(&f.data, "data", "", "data `file` to score; - is standard input")
	fl.StringVar(&f.out, "out", "", "output `file` (default: standard output)")
	fl.StringVar(&env.format, "format", "text", "output `format`: text, "+suggest.OneOf(scored.Formats()[1:]))
	fl.BoolVar(&f.ranking.BestFirst, "best-first", false, "sort the documents of a query by descending score")
	addWhole(fl, &f.ranking.Top, "top", 0, 0, "`number` of best documents per query; 0: all")
	fl.StringVar(&f.ranking.Tag, "tag", "", "system `name` in a run (default: "+scored.DefaultTag+")")
	f.oneShard.addTo(cmd, "`number` of the shard to score, from 0 (default: all)")
	f.scoring.addTo(cmd)
	return cmd
}

func (f *scoreFlags) run(ctx context.Context, env *environment) error {
	if err := f.targets().check(); err != nil {
		return err
	}
	var err error
	if f.data, err = f.fileOf(f.data); err != nil {
		return err
	}
	f.ranking.Format = env.format
	if err := f.ranking.Check(); err != nil {
		return usageErrorf("--format %s: %w", env.format, err)
	}
	opts, err := f.options()
	if err != nil {
		return err
	}
	m, err := env.loadModel("model", f.model)
	if err != nil {
		return err
	}
	opts.Table.Ungraded = true
	if err := f.forModels(&opts, m); err != nil {
		return err
	}
	f.widen(&opts)
	opts.Stream = true
	if opts.Negative == dataset.NegativeError { // scoring ignores grades
		opts.Negative = dataset.NegativeZero
	}
	d, err := env.openAndWarn(ctx, "data", f.data, opts)
	if err != nil {
		return err
	}
	if d, err = f.withRoom(ctx, env, f.data, d, opts); err != nil {
		return err
	}
	if d, err = f.arranged(d, opts.FeatureNames); err != nil {
		return usageErrorf("%s: %w", inputName(f.data), err)
	}
	var rows []float64
	err = env.during("scoring "+f.data, func() (err error) {
		rows, err = scoreWith(m, f.model, f.data, d)
		return err
	})
	if err != nil {
		return err
	}
	if err := f.checkModel(f.model, m, make(map[string]bool)); err != nil {
		return err
	}
	if d.Filled() > 0 && hasNoRule(m) {
		f.warnOfNoRule(env, f.model)
	}
	f.warnOfForm(env, f.model, f.data, m, d)
	return env.writeRanking(f.out, d, rows, f.ranking)
}

// writeRanking writes scores, one for each row of d, to a file, or to standard output if out is
// empty or -.
func (env *environment) writeRanking(out string, d *dataset.Dataset, rows []float64, o scored.Options) error {
	write := func(w io.Writer) error {
		b := bufio.NewWriterSize(w, 1<<16)
		err := scored.Write(b, d, rows, o)
		if _, failed := b.Write(nil); err != nil && failed == nil {
			return usageErrorf("--format %s: %w", o.Format, err) // the error is about the format, not about writing
		}
		if err != nil {
			return err
		}
		return b.Flush()
	}
	if out == "" || out == "-" {
		return write(env.stdout)
	}
	return env.during("writing "+out, func() error { return atomicfile.Write(out, write) })
}

// scoreWith returns the model's scores of d in the order of its rows. path and data name the model
// and the data in errors.
func scoreWith(m *model.Model, path, data string, d *dataset.Dataset) ([]float64, error) {
	scores, err := m.Score(d)
	if err != nil {
		return nil, usageErrorf("%s: %w (model %s)", inputName(data), hintAtOthers(err), path)
	}
	return scores, nil
}

// scoring has the flags of commands that read data for models to score.
type scoring struct {
	reading
	otherFeatures string
}

// The values of --other-features.
const (
	refuseOthers = "refuse"
	ignoreOthers = "ignore"
)

// ofModel is the value of --missing and --absent that applies each model's own rule.
const ofModel = "model"

func (s *scoring) addTo(cmd *cobra.Command) {
	s.reading.addTo(cmd)
	f := cmd.Flags().Lookup("missing")
	f.DefValue, s.missing = ofModel, ofModel
	f.Usage = "`how` to treat missing values: model, error, zero, min or keep"
	f = cmd.Flags().Lookup("absent")
	f.DefValue, s.absent = ofModel, ofModel
	f.Usage = "`value` of features a line omits: model, zero or missing"
	cmd.Flags().StringVar(&s.otherFeatures, "other-features", refuseOthers, "`how` to treat features unknown to the model: refuse or ignore")
}

// hintAtOthers appends a hint at --other-features to an error about features unknown to the model.
func hintAtOthers(err error) error {
	if names, ok := errors.AsType[*dataset.NamesError](err); ok && len(names.Missing) == 0 {
		return fmt.Errorf("%w (--other-features ignore drops them)", err)
	}
	return err
}

func (s *scoring) options() (dataset.Options, error) {
	if s.otherFeatures != refuseOthers && s.otherFeatures != ignoreOthers {
		return dataset.Options{}, usageErrorf("--other-features: found %q, expected refuse or ignore", s.otherFeatures)
	}
	r := s.reading
	if s.missing == ofModel {
		r.missing = dataset.MissingKeep.String()
	}
	if _, err := parseAbsent(s.absent, ofModel); err != nil {
		return dataset.Options{}, err
	}
	if s.absent == ofModel {
		r.absent = absentZero // forModels sets the rule once the models are known
	}
	opts, err := r.options()
	opts.IgnoreOthers = s.otherFeatures == ignoreOthers
	return opts, err
}

// withRoom returns d if its features and scores fit into memory. Otherwise it opens the file again
// to read it query by query. It returns an error if d still does not fit.
func (s *scoring) withRoom(ctx context.Context, env *environment, path string, d *dataset.Dataset, opts dataset.Options) (*dataset.Dataset, error) {
	const scoreBytes = 8 + 8 // a score and its copy in input order
	const few = 2 << 20      // bytes of scores that are not counted
	need := func() int64 {
		scores := max(0, int64(d.Docs())*scoreBytes-few)
		return d.FeatureBytes() + int64(d.Docs())*memory.DocumentBytes + int64(len(d.Queries))*memory.QueryBytes + scores
	}
	if need() > opts.MaxBytes && !d.Streamed() && !opts.GradesOnly && opensAgain(path) {
		err := d.Close()
		if err != nil {
			return nil, err
		}
		opts.Unheld = true
		if d, err = env.open(ctx, "data", path, opts); err != nil {
			return nil, err
		}
	}
	if need() <= opts.MaxBytes {
		return d, nil
	}
	return nil, hintAtMemory(&dataset.SyntaxError{
		File: path, Found: fmt.Sprintf("%d documents, which with their scores take %s of memory", d.Docs(), memory.Bytes(float64(need()))),
		Expected: "at most " + memory.Bytes(float64(opts.MaxBytes)) + ", or raise the limit", Err: dataset.ErrTooLarge,
	})
}

// check compares the data with the systems that scored them. It returns an error if an option
// contradicts a model, and warns if a model was trained on the queries, or on the folds of other data.
func (s *scoring) check(env *environment, data string, paths []string, divisions []ensemble.Division) error {
	missing, filled := 0, 0
	for k := range divisions {
		missing, filled = missing+divisions[k].Test.Missing(), filled+divisions[k].Test.Filled()
	}
	policies := make(map[string]bool)
	for i, path := range paths {
		env.notesOn(path, divisions[0].Systems[i].Notes)
		unruled := false
		for k := range divisions {
			if m := divisions[k].Systems[i].Model; m != nil {
				if err := s.checkModel(path, m, policies); err != nil {
					return err
				}
				unruled = unruled || hasNoRule(m)
				if k == 0 {
					s.warnOfForm(env, path, data, m, divisions[k].Test)
				}
			}
		}
		if unruled && filled > 0 {
			s.warnOfNoRule(env, path)
		}
		warnOfSeen(env, data, path, i, divisions)
		warnOfOtherData(env, data, path, i, divisions)
	}
	if missing > 0 && len(policies) > 0 {
		env.note("note: %s: %d missing values (nan or NULL) treated as in training: %s", data, missing, strings.Join(slices.Sorted(maps.Keys(policies)), ", "))
	}
	return nil
}

// checkModel returns an error if --missing contradicts the model's rule for missing values. It adds
// the rule to policies.
func (s *scoring) checkModel(path string, m *model.Model, policies map[string]bool) error {
	for _, member := range m.Members() {
		if member.Missing == dataset.MissingError {
			continue
		}
		own, rule := member.Missing.String(), "--missing "+member.Missing.String()
		if member.FillsKept() {
			own, rule = "the number learned for each feature", "--missing mean or median"
		}
		if s.missing == ofModel {
			policies[own] = true
		} else if s.missing != member.Missing.String() {
			return usageErrorf("--missing %s: the model %s was trained with %s and would score different features than in training; omit the option", s.missing, path, rule)
		}
	}
	return nil
}

// hasNoRule reports whether a model, or a member of a fusion, has no rule for missing values.
func hasNoRule(m *model.Model) bool {
	return slices.ContainsFunc(m.Members(), func(member *model.Model) bool { return member.Missing == dataset.MissingError })
}

// warnOfNoRule warns that the option, not the model, determined the treatment of missing values.
func (s *scoring) warnOfNoRule(env *environment, path string) {
	env.note("warning: the model %s was trained on data without missing values and has no rule for them; --missing %s applies", path, s.missing)
}

// noteOfThreshold prints a note for each model that was trained with another threshold of
// relevance. It prints nothing if --threshold is given.
func (j *judging) noteOfThreshold(env *environment, c measure.Convention, paths []string, divisions []ensemble.Division) {
	if j.threshold != autoThreshold {
		return
	}
	noted := make(map[float64]bool)
	here := c.Threshold()
	for i, path := range paths {
		for k := range divisions {
			m := divisions[k].Systems[i].Model
			if m == nil || m.Threshold <= 0 || noted[m.Threshold] {
				continue
			}
			if slices.ContainsFunc(divisions[k].Test.Grades(), func(g float64) bool { return (g >= here) != (g >= m.Threshold) }) {
				noted[m.Threshold] = true
				own := dataset.FormatGrade(m.Threshold)
				env.note("note: %s was trained with lowest relevant grade %s, and is evaluated with %s (--threshold %s evaluates as trained)",
					path, own, dataset.FormatGrade(here), own)
			}
		}
	}
}

// The values of --absent. Scoring commands also accept ofModel.
const (
	absentZero    = "zero"
	absentMissing = "missing"
)

// parseAbsent parses --absent and reports whether omitted features are missing. others are further
// valid values.
func parseAbsent(text string, others ...string) (bool, error) {
	known := append([]string{absentZero, absentMissing}, others...)
	if !slices.Contains(known, text) {
		if len(others) > 0 {
			return false, usageErrorf("--absent: found %q, expected model, zero or missing", text)
		}
		return false, usageErrorf("--absent: found %q, expected zero or missing", text)
	}
	return text == absentMissing, nil
}

// forModels sets the feature names, the categories and the treatment of omitted features in the
// reader's options. Omitted features are missing if they were missing in the training of every
// model. It returns an error if two models have different categories for a feature.
func (s *scoring) forModels(opts *dataset.Options, models ...*model.Model) error {
	width, missing := 0, len(models) > 0
	for _, m := range models {
		for _, name := range m.FeatureNames {
			if !slices.Contains(opts.FeatureNames, name) {
				opts.FeatureNames = append(opts.FeatureNames, name)
			}
		}
		if err := addCategories(opts, m); err != nil {
			return err
		}
		for _, member := range m.Members() {
			missing = missing && member.AbsentMissing
		}
		if n := m.NumFeatures(); width == 0 || n < width {
			width = n
		}
	}
	if s.absent == ofModel {
		opts.AbsentMissing = missing
	}
	if opts.AbsentMissing { // features that no line has are missing, too
		opts.MinFeatures = width
	}
	return nil
}

func addCategories(opts *dataset.Options, m *model.Model) error {
	for j, c := range m.InputCategories() {
		if c == nil || m.FeatureNames == nil {
			continue
		}
		if opts.Categories == nil {
			opts.Categories = make(map[string]*dataset.Categories)
		}
		name := m.FeatureNames[j]
		switch have := opts.Categories[name]; {
		case have == nil || have.Unused():
			opts.Categories[name] = c
		case !c.Unused() && !c.Equal(have):
			return usageErrorf("found models with different categories of the feature %s, expected the same in the same order: %s, and %s; score them one at a time", name, have, c)
		}
	}
	return nil
}

// modelsAmong loads the models among the paths, of listwise or of other systems. It skips a model
// that cannot be loaded, because scoring reports the error later.
func modelsAmong(paths []string) []*model.Model {
	var models []*model.Model
	for _, path := range paths {
		if contentOf(path) != aModel {
			continue
		}
		if m, _, err := interchange.Load(path, interchange.ReadOptions{}); err == nil {
			models = append(models, m)
		}
	}
	return models
}

// warnOfForm warns if data and model differ in form. It checks three cases: omitted features count
// as 0 although the model treats them as missing; features are matched by position; the model
// counts columns from another number.
func (s *scoring) warnOfForm(env *environment, path, data string, m *model.Model, d *dataset.Dataset) {
	members := m.Members()
	if d.Absent() > 0 && s.absent == ofModel {
		switch {
		case slices.ContainsFunc(members, func(m *model.Model) bool { return m.AbsentMissing }):
			env.note("warning: %s: %d omitted features count as 0: not every model was trained on text in which they are missing, as %s did (--absent missing)", data, d.Absent(), path)
		case slices.ContainsFunc(members, ofXGBoost):
			env.note("warning: %s: %d omitted features count as 0; XGBoost, which wrote %s, treats them as missing in such text (--absent missing; --absent zero confirms 0)", data, d.Absent(), path)
		}
	}
	if names := d.FeatureNames; names != nil && slices.ContainsFunc(members, func(m *model.Model) bool { return m.FeatureNames == nil }) {
		const most = 5
		list := strings.Join(names[:min(len(names), most)], ", ")
		if more := len(names) - most; more > 0 {
			list += fmt.Sprintf(" and %d more", more)
		}
		env.note("note: %s: the model has no feature names, so the features of %s are matched by order: %s", path, data, list)
	}
	if d.FeatureNames == nil && slices.ContainsFunc(members, func(m *model.Model) bool { return countsFromOne(m, d.Features) }) {
		env.note("warning: no tree of %s uses its first feature, and the model has one feature more than %s: it seems to count columns from 1, as svmlight text does (listwise import %s --first-feature 1 --model OUT makes column 1 feature 1)",
			path, data, path)
	}
}

// ofXGBoost reports whether a model was imported from a file of XGBoost.
func ofXGBoost(m *model.Model) bool {
	return m.Training.Status == imported && (m.Method == "xgboost" || m.Method == "xgboost-dump")
}

// imported is the training status of other systems' models.
const imported = "imported"

// countsFromOne reports whether an imported model of trees seems to number columns from 1. Such a
// model has one column more than the data, no split on its first column, and no feature names.
func countsFromOne(m *model.Model, features int) bool {
	t, trees := m.Scorer.(*scorer.Trees)
	if !trees || m.Training.Status != imported || m.FeatureNames != nil || t.NumFeatures() != features+1 {
		return false
	}
	return !slices.ContainsFunc(t.Trees(), func(nodes []scorer.TreeNode) bool {
		return slices.ContainsFunc(nodes, func(n scorer.TreeNode) bool { return n.Feature == 0 })
	})
}
