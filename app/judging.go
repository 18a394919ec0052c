package app

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/learn/method"
	"github.com/listwise/listwise/tune"
)

// judging are the flags of all commands that measure: the convention and the threshold of
// relevance.
type judging struct {
	convention string
	chosen     func() bool // the convention
	relevance
}

func (j *judging) addTo(cmd *cobra.Command) {
	cmd.Flags().StringVar(&j.convention, "convention", measure.Standard.Name(), "`convention` for computing measures, such as letor3 (see \"listwise eval --help\")")
	j.chosen = func() bool { return cmd.Flags().Changed("convention") }
	j.relevance.addTo(cmd)
}

// ofJudgements returns the convention and the measures for a data set: trec_eval's for
// judgements of TREC, which have no features, unless another was chosen.
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

// relevance is the flag that says which documents are relevant.
type relevance struct{ threshold string }

const autoThreshold = method.AutoThreshold

func (r *relevance) addTo(cmd *cobra.Command) {
	cmd.Flags().StringVar(&r.threshold, "threshold", autoThreshold, "lowest `grade` that counts as relevant; auto: derived from the grades")
}

// parse returns the threshold, 0 for auto.
func (r *relevance) parse() (float64, error) {
	return method.ParseThreshold(r.threshold)
}

// of returns the threshold for data sets, and prints what auto chose for them.
func (r *relevance) of(env *environment, sets ...*dataset.Dataset) (float64, error) {
	v, err := r.parse()
	if err != nil || v > 0 {
		return v, err
	}
	return env.settle(measure.Convention{}, sets...).Threshold(), nil
}

// settle returns the convention with the threshold for the data sets, taken together, and
// notes it on standard error if the data have changed it.
func (env *environment) settle(c measure.Convention, sets ...*dataset.Dataset) measure.Convention {
	settled, note := method.Relevance(c, sets...)
	env.noteOfRelevance(note)
	return settled
}

// noteOfRelevance notes what the data have made relevant, if there is something to note.
func (env *environment) noteOfRelevance(note string) {
	if note != "" {
		env.note("note: %s (--threshold says otherwise)", note)
	}
}

// warnOfTests is warnOfIrrelevance for the test data of folds, if there are any.
func warnOfTests(env *environment, c *tune.Config) {
	tests := slices.DeleteFunc(testsOfFolds(c.Folds), func(d *dataset.Dataset) bool { return d == nil })
	if len(tests) > 0 {
		warnOfIrrelevance(env, mapped(c.Measures, func(m measure.Measure) measure.Measure { return measure.Under(m, c.Convention) }), tests)
	}
}

// warnOfIrrelevance warns of measures that are the same for all rankings of the data sets
// because no document's grade reaches the threshold.
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

// conventionText names a convention, with its threshold if that is none of its own.
func conventionText(c measure.Convention) string {
	own, err := measure.ParseConvention(c.Name())
	if err == nil && own.Threshold() == c.Threshold() {
		return c.Name()
	}
	return c.Name() + ", relevant from grade " + dataset.FormatGrade(c.Threshold())
}
