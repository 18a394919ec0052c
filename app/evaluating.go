package app

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/tune"
	"github.com/listwise/listwise/tune/ensemble"
)

// evaluating are the flags of the commands that measure systems, of eval, compare, report
// and fuse, and what these do alike.
type evaluating struct {
	scoring
	judging
	measuring
	slicer
	data          string
	dropSelf      bool
	lowerIsBetter []string
	keepUnjudged  bool // queries of runs that the judgements lack
}

func (e *evaluating) addTo(cmd *cobra.Command, standard, usage string) {
	cmd.Flags().StringVar(&e.data, "data", "", "judged data: a `file`, or a folder with Fold1 … FoldK")
	e.scoring.addTo(cmd)
	e.judging.addTo(cmd)
	e.measuring.addTo(cmd, standard, usage)
	e.slicer.addTo(cmd)
	cmd.Flags().BoolVar(&e.dropSelf, "drop-self", false, "drop documents that have the id of their query")
	cmd.Flags().StringSliceVar(&e.lowerIsBetter, "lower-is-better", nil, "score or run `files` in which lower scores are better")
}

// systemOptions say how the files of systems are read, after options.
func (e *evaluating) systemOptions(ctx context.Context) ensemble.Options {
	return ensemble.Options{Context: ctx, MaxBytes: e.left, DropSelf: e.dropSelf, Ascending: e.lowerIsBetter, Unjudged: e.keepUnjudged}
}

// options are the reader's options that the flags ask for.
func (e *evaluating) options() (dataset.Options, error) {
	opts, err := e.scoring.options()
	if err != nil {
		return opts, err
	}
	e.left = opts.MaxBytes // for systemOptions
	return opts, e.ask(&opts)
}

// measuring are the flags that say which measures are taken, and how of tied documents.
type measuring struct {
	measures, ties string
	maxGrade       float64
	chosenTies     func() bool
}

// usualMeasures are those that are taken if none are asked for.
const usualMeasures = "map,ndcg@1,ndcg@5,ndcg@10"

func (m *measuring) addTo(cmd *cobra.Command, standard, usage string) {
	cmd.Flags().StringVar(&m.measures, "measures", standard, usage)
	cmd.Flags().StringVar(&m.ties, "ties", "input", "`order` of documents with equal scores: "+strings.Join(measure.TiePolicies(), ", "))
	addPositive(cmd.Flags(), &m.maxGrade, "max-grade", 4, 1000, "highest `grade` of the scale, for err")
	m.chosenTies = func() bool { return cmd.Flags().Changed("ties") }
}

// tiesOf returns the policy for the divisions, trec_eval's for judgements of TREC unless
// another was chosen.
func (m *measuring) tiesOf(ties measure.TiePolicy, divisions []ensemble.Division) measure.TiePolicy {
	if !m.chosenTies() && divisions[0].Test.Features == 0 {
		return measure.TiesTREC
	}
	return ties
}

// parseMeasures returns the measures under a convention.
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

// scoringSystems is what scoring or reading the scores of systems is called, counted by
// folds if there are some.
const scoringSystems = "scoring, systems"

// read reads the data, a file or the test parts of folds, and what the systems of the
// paths say about them.
func (e *evaluating) read(ctx context.Context, env *environment, paths []string) ([]ensemble.Division, error) {
	if !isFolder(e.data) {
		return e.readFile(ctx, env, "", paths)
	}
	return e.readFolds(ctx, env, false, false, paths)
}

// readFile is read for a file, and for validation data if there is a file of such.
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

// joinWarnings passes on what was left out when runs were joined with data.
func (env *environment) joinWarnings(divisions []ensemble.Division) {
	for i := range divisions {
		for _, s := range divisions[i].Systems {
			for _, w := range s.Warnings {
				env.note("warning: %s", w)
			}
		}
	}
}

// readFolds is read for a folder, all of it if whole is set; choose is set if weights are
// to be chosen on the folds' validation data.
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
	} else if err := eachOnce(e.data, folds); err != nil {
		return nil, err
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

// settle returns the convention and the measures with the threshold for the data, and
// warns of what makes the result of the paths' systems doubtful.
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

// dataOfDivisions returns the test data of divisions, and these with the validation data.
func dataOfDivisions(divisions []ensemble.Division) (tests, all []*dataset.Dataset) {
	for i := range divisions {
		tests = append(tests, divisions[i].Test)
		if v := divisions[i].Valid; v != nil {
			all = append(all, v)
		}
	}
	return tests, append(all, tests...)
}

// testFlags are the flags of the commands that test differences between systems.
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

// baselineOf returns the index of the baseline, that of none if none is named.
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
