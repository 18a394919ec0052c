package app

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/learn/method"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/tune"
	"github.com/listwise/listwise/tune/ensemble"
)

// evaluating has the flags of commands that evaluate systems: eval, compare, report and fuse.
type evaluating struct {
	scoring
	judging
	measuring
	slicer
	conflicts
	reranking
	data          string
	dropSelf      bool
	lowerIsBetter []string
	keepUnjudged  bool // also evaluate queries of runs that have no judgements
}

// addData adds --data with one data set. compare has a --data of its own, with several.
func (e *evaluating) addData(cmd *cobra.Command) {
	cmd.Flags().StringVar(&e.data, "data", "", "judged data: a `file`, or a folder with Fold1 … FoldK")
}

func (e *evaluating) addTo(cmd *cobra.Command, standard, usage string) {
	e.scoring.addTo(cmd)
	e.judging.addTo(cmd)
	e.measuring.addTo(cmd, standard, usage)
	e.slicer.addTo(cmd)
	e.conflicts.addTo(cmd)
	cmd.Flags().BoolVar(&e.dropSelf, "drop-self", false, "drop documents that have the id of their query")
	cmd.Flags().StringSliceVar(&e.lowerIsBetter, "lower-is-better", nil, "score or run `files`, separated by commas, with lower scores better")
}

// systemOptions returns the options for reading the systems' files. The caller must call options
// first.
func (e *evaluating) systemOptions(ctx context.Context) ensemble.Options {
	return ensemble.Options{Context: ctx, MaxBytes: e.left, DropSelf: e.dropSelf, Ascending: e.lowerIsBetter, Unjudged: e.keepUnjudged}
}

func (e *evaluating) options() (dataset.Options, error) {
	opts, err := e.scoring.options()
	if err != nil {
		return opts, err
	}
	e.left = opts.MaxBytes // for systemOptions
	return opts, errors.Join(e.ask(&opts), e.apply(&opts))
}

// forModels is that of scoring, and also reads the feature of --first.
func (e *evaluating) forModels(opts *dataset.Options, models ...*model.Model) error {
	err := e.scoring.forModels(opts, models...)
	e.askFirst(opts, models)
	return err
}

// measuring has the flags for the measures and for ties.
type measuring struct {
	measures, ties string
	maxGrade       float64
	chosenTies     func() bool
}

const usualMeasures = "map,ndcg@1,ndcg@5,ndcg@10"

func (m *measuring) addTo(cmd *cobra.Command, standard, usage string) {
	cmd.Flags().StringVar(&m.measures, "measures", standard, usage)
	cmd.Flags().StringVar(&m.ties, "ties", "input", "`order` of equal scores (average: all orders): "+strings.Join(measure.TiePolicies(), ", "))
	addPositive(cmd.Flags(), &m.maxGrade, "max-grade", 4, 1000, "highest `grade` of the scale, for err")
	m.chosenTies = func() bool { return cmd.Flags().Changed("ties") }
}

// tiesOf returns the rule for ties. For TREC judgements the default is trec_eval's rule.
func (m *measuring) tiesOf(ties measure.TiePolicy, divisions []ensemble.Division) measure.TiePolicy {
	if !m.chosenTies() && divisions[0].Test.Features == 0 {
		return measure.TiesTREC
	}
	return ties
}

func (m *measuring) parseMeasures(c measure.Convention) ([]measure.Measure, measure.TiePolicy, error) {
	list, err := measure.ParseList(m.measures, c, measure.Options{MaxGrade: m.maxGrade})
	if err != nil {
		return nil, 0, usageErrorf("--measures: %w", err)
	}
	ties, err := measure.ParseTies(m.ties)
	if err != nil {
		return nil, 0, usageErrorf("--ties: %w", err)
	}
	return list, ties, nil
}

// parse returns the convention, the measures under it, and the order of documents with equal
// scores.
func (e *evaluating) parse() (c measure.Convention, list []measure.Measure, ties measure.TiePolicy, err error) {
	if c, err = e.parseConvention(); err == nil {
		list, ties, err = e.parseMeasures(c)
	}
	return c, list, ties, err
}

// scoringSystems is the progress label while systems are scored or their scores are read.
const scoringSystems = "scoring, systems"

// read reads the data and the systems' scores of them. The data are a file, or the test parts of a
// folder with folds.
func (e *evaluating) read(ctx context.Context, env *environment, paths []string) ([]ensemble.Division, error) {
	if !isFolder(e.data) {
		return e.readFile(ctx, env, "", paths)
	}
	return e.readFolds(ctx, env, false, false, paths)
}

func (e *evaluating) readFile(ctx context.Context, env *environment, valid string, paths []string) ([]ensemble.Division, error) {
	opts, err := e.options()
	if err != nil {
		return nil, err
	}
	if err := e.forModels(&opts, modelsAmong(paths)...); err != nil {
		return nil, err
	}
	test, err := env.openAndWarn(ctx, "data", e.data, opts)
	if err != nil {
		return nil, err
	}
	var validation *dataset.Dataset
	if valid != "" {
		if validation, err = env.openAndWarn(ctx, "valid", valid, opts); err != nil {
			return nil, err
		}
		warnOfCommon(env, e.data, test, valid, validation)
	}
	bar := env.startProgress(scoringSystems, 0)
	defer bar.finish()
	d, err := ensemble.Read(paths, validation, test, e.systemOptions(ctx), bar.set)
	if err != nil {
		return nil, usageErrorf("%w", hintAtOthers(hintAtFolds(hintAtMemory(err), paths, test.Docs())))
	}
	read := []ensemble.Division{*d}
	env.joinWarnings(read)
	return read, nil
}

// joinWarnings prints the warnings about documents that were dropped when runs were joined with
// data.
func (env *environment) joinWarnings(divisions []ensemble.Division) {
	for i := range divisions {
		for _, s := range divisions[i].Systems {
			for _, w := range s.Warnings {
				env.note("warning: %s", w)
			}
		}
	}
}

// readFolds reads a folder with folds, and the systems' scores of its test data. If whole is set,
// it also reads the training and validation data. If choose is set, it also reads the systems'
// scores of the validation data.
func (e *evaluating) readFolds(ctx context.Context, env *environment, whole, choose bool, paths []string) ([]ensemble.Division, error) {
	opts, err := e.options()
	if err != nil {
		return nil, err
	}
	if err := e.forModels(&opts, modelsAmong(paths)...); err != nil {
		return nil, err
	}
	from := tune.ReadTests
	if whole {
		from = tune.ReadFolds
	}
	folds, err := env.readFolds(from, e.data, opts)
	if err != nil {
		return nil, err
	}
	env.warnings(dataOf(folds)...)
	if whole {
		warnOfFolds(env, folds)
	} else if err := tune.CheckTests(folds); err != nil {
		return nil, usageErrorf("%s: %w", e.data, err)
	}
	bar := env.startProgress(scoringSystems, 0)
	defer bar.finish()
	divisions, err := ensemble.ReadFolds(paths, folds, choose, e.systemOptions(ctx), bar.set)
	if err != nil {
		return nil, usageErrorf("%w", hintAtOthers(hintAtMemory(err)))
	}
	env.joinWarnings(divisions)
	return divisions, nil
}

// settle returns the convention and the measures with the threshold for the data. It warns of
// anything that makes the results of the systems doubtful.
func (e *evaluating) settle(env *environment, c measure.Convention, measures []measure.Measure, paths []string, divisions []ensemble.Division) (measure.Convention, []measure.Measure, error) {
	if err := e.check(env, e.data, paths, divisions); err != nil {
		return c, nil, err
	}
	tests, all := dataOfDivisions(divisions)
	c, measures = e.ofJudgements(c, measures, tests[0])
	c, measures = env.settle(c, all...), measure.ForAll(measures, all...)
	warnOfIrrelevance(env, measures, tests)
	e.noteOfThreshold(env, c, paths, divisions)
	return c, measures, nil
}

// dataOfDivisions returns the test data of divisions, and all data: validation and test data.
func dataOfDivisions(divisions []ensemble.Division) (tests, all []*dataset.Dataset) {
	for i := range divisions {
		tests = append(tests, divisions[i].Test)
		if v := divisions[i].Valid; v != nil {
			all = append(all, v)
		}
	}
	return tests, append(all, tests...)
}

type testFlags struct {
	baseline                string
	permutations, resamples int
	seed                    uint64
}

func (t *testFlags) addTo(cmd *cobra.Command, standard string) {
	f := cmd.Flags()
	f.StringVar(&t.baseline, "baseline", "", "`system` to compare the others with (default: "+standard+")")
	addWhole(f, &t.permutations, "permutations", 100_000, 1, "`number` of sign flips in the randomization test")
	addWhole(f, &t.resamples, "resamples", 10_000, 1, "`number` of bootstrap samples")
	f.Uint64Var(&t.seed, "seed", 1, "random `seed`")
}

// baselineOf returns the index of the system named by --baseline. It returns none without the flag.
func (t *testFlags) baselineOf(systems []*contestant, none int) (int, error) {
	if t.baseline == "" {
		return none, nil
	}
	names := namesOf(systems)
	for i, name := range names {
		if name == t.baseline {
			return i, nil
		}
	}
	return 0, usageErrorf("--baseline: found %q, expected one of %s", t.baseline, strings.Join(names, ", "))
}

// judging has the flags of all commands that evaluate: the convention and the threshold of
// relevance.
type judging struct {
	convention string
	chosen     func() bool // reports whether --convention is given
	relevance
}

func (j *judging) addTo(cmd *cobra.Command) {
	cmd.Flags().StringVar(&j.convention, "convention", measure.Standard.Name(), "`convention` for computing measures, such as letor3 (see \"listwise eval --help\")")
	j.chosen = func() bool { return cmd.Flags().Changed("convention") }
	j.relevance.addTo(cmd)
}

// ofJudgements returns the convention and the measures for a data set. Data without features are
// TREC judgements, whose default convention is trec.
func (j *judging) ofJudgements(c measure.Convention, measures []measure.Measure, test *dataset.Dataset) (measure.Convention, []measure.Measure) {
	if j.chosen() || test.Features > 0 {
		return c, measures
	}
	trec := measure.TREC
	if j.threshold != autoThreshold {
		trec = trec.WithThreshold(c.Threshold())
	}
	return trec, mapped(measures, func(m measure.Measure) measure.Measure { return measure.Under(m, trec) })
}

// parseConvention returns the convention, with the threshold if one is given.
func (j *judging) parseConvention() (measure.Convention, error) {
	return method.ParseConvention(j.convention, j.threshold)
}

type relevance struct{ threshold string }

const autoThreshold = method.AutoThreshold

func (r *relevance) addTo(cmd *cobra.Command) {
	cmd.Flags().StringVar(&r.threshold, "threshold", autoThreshold, "lowest `grade` that counts as relevant; auto: derived from the grades")
}

// parse returns the threshold, or 0 for auto.
func (r *relevance) parse() (float64, error) {
	return method.ParseThreshold(r.threshold)
}

// of returns the threshold for data sets. If auto chose it, it prints a note.
func (r *relevance) of(env *environment, sets ...*dataset.Dataset) (float64, error) {
	v, err := r.parse()
	if err != nil || v > 0 {
		return v, err
	}
	return env.settle(measure.Convention{}, sets...).Threshold(), nil
}

// settle returns the convention with the threshold for all data sets. It prints a note if the data
// changed the threshold.
func (env *environment) settle(c measure.Convention, sets ...*dataset.Dataset) measure.Convention {
	settled, note := method.Relevance(c, sets...)
	env.noteOfRelevance(note)
	return settled
}

func (env *environment) noteOfRelevance(note string) {
	if note != "" {
		env.note("note: %s (--threshold changes this)", note)
	}
}

// warnOfTests calls warnOfIrrelevance for the test data of folds, if there are any.
func warnOfTests(env *environment, c *tune.Config) {
	tests := slices.DeleteFunc(testsOfFolds(c.Folds), func(d *dataset.Dataset) bool { return d == nil })
	if len(tests) > 0 {
		warnOfIrrelevance(env, mapped(c.Measures, func(m measure.Measure) measure.Measure { return measure.Under(m, c.Convention) }), tests)
	}
}

// warnOfIrrelevance warns of measures that have the same value for all rankings, because no grade
// reaches the threshold.
func warnOfIrrelevance(env *environment, measures []measure.Measure, sets []*dataset.Dataset) {
	best, highest := sets[0], sets[0].HighestGrade() // the set whose highest grade the warning names
	for _, d := range sets[1:] {
		if grade := d.HighestGrade(); grade > highest {
			best, highest = d, grade
		}
	}
	var same error
	var others []string
	for _, m := range measures {
		varies := func(d *dataset.Dataset) bool { return measure.CheckVaries(m, d) == nil }
		threshold := measure.ConventionOf(m).Threshold()
		if own, ok := measure.RelevanceOf(m); ok {
			threshold = own
		}
		switch {
		case highest >= threshold || slices.ContainsFunc(sets, varies):
		case same == nil:
			same = measure.CheckVaries(m, best)
		default:
			others = append(others, m.Name())
		}
	}
	switch {
	case len(others) > 0:
		env.note("warning: %v (also for %s)", same, strings.Join(others, ", "))
	case same != nil:
		env.note("warning: %v", same)
	}
}

// conventionText returns the name of a convention, and the threshold if it differs from the
// convention's default.
func conventionText(c measure.Convention) string {
	own, err := measure.ParseConvention(c.Name())
	if err == nil && own.Threshold() == c.Threshold() {
		return c.Name()
	}
	return c.Name() + ", relevant from grade " + dataset.FormatGrade(c.Threshold())
}
