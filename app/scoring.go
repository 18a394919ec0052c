package app

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/memory"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/tune/ensemble"
)

// scoring are the flags of the commands that read data for models to score.
type scoring struct {
	reading
	otherFeatures string
}

// The values of --other-features.
const (
	refuseOthers = "refuse"
	ignoreOthers = "ignore"
)

// ofModel is the value of --missing that leaves missing values to each model.
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

// hintAtOthers adds to an error about features that a model does not know which flag lets it
// leave them out.
func hintAtOthers(err error) error {
	if names, ok := errors.AsType[*dataset.NamesError](err); ok && len(names.Missing) == 0 {
		return fmt.Errorf("%w (--other-features ignore drops them)", err)
	}
	return err
}

// options are the reader's options that the flags ask for.
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
		r.absent = absentZero // until the models are known
	}
	opts, err := r.options()
	opts.IgnoreOthers = s.otherFeatures == ignoreOthers
	return opts, err
}

// withRoom returns the data of a flag's path, read query by query if the scores of the
// documents do not fit beside the features. It is an error if they still do not fit.
func (s *scoring) withRoom(ctx context.Context, env *environment, path string, d *dataset.Dataset, opts dataset.Options) (*dataset.Dataset, error) {
	const scoreBytes = 8 + 8 // also in the order of the input
	const few = 2 << 20      // bytes of scores, which are not counted
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

// check compares the data of a path with the systems that scored it: an option that
// contradicts a model is an error, queries that a model was trained on a warning.
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
	}
	if missing > 0 && len(policies) > 0 {
		env.note("note: %s: %d missing values (nan or NULL) treated as in training: %s", data, missing, strings.Join(slices.Sorted(maps.Keys(policies)), ", "))
	}
	return nil
}

// checkModel returns an error if the option contradicts the model, and adds what the
// model makes of missing values to policies.
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

// warnOfNoRule warns that missing values were replaced by the option, and not by the model.
func (s *scoring) warnOfNoRule(env *environment, path string) {
	env.note("warning: the model %s was trained on data without missing values and has no rule for them; --missing %s applies", path, s.missing)
}

// noteOfThreshold notes models that learned with other documents relevant than are measured
// by, unless that was asked for.
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
