package cli

import (
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/ensemble"
	"github.com/listwise/listwise/measure"
	"github.com/listwise/listwise/model"
)

// scoring are the flags of the commands that read data for models to score.
type scoring struct{ reading }

// ofModel is the value of --missing that leaves missing values to each model.
const ofModel = "model"

func (s *scoring) addTo(cmd *cobra.Command) {
	s.reading.addTo(cmd)
	f := cmd.Flags().Lookup("missing")
	f.DefValue, s.missing = ofModel, ofModel
	f.Usage = "`what` nan and NULL stand for: model (what they were in its training), error, zero, min (the least value within the query), or keep (as they are)"
}

// options are the reader's options that the flags ask for.
func (s *scoring) options() (dataset.Options, error) {
	if s.missing != ofModel {
		return s.reading.options()
	}
	r := s.reading
	r.missing = dataset.MissingError.String()
	opts, err := r.options()
	opts.Missing = dataset.MissingKeep
	return opts, err
}

// check compares the data of a path with the systems that scored it: an option that
// contradicts a model is an error, queries that a model was trained on a warning.
func (s *scoring) check(env *environment, data string, paths []string, divisions []ensemble.Division) error {
	policies := make(map[string]bool)
	for i, path := range paths {
		env.notesOn(path, divisions[0].Systems[i].Notes)
		for k := range divisions {
			if m := divisions[k].Systems[i].Model; m != nil {
				if err := s.checkModel(path, m, policies); err != nil {
					return err
				}
			}
		}
		warnOfSeen(env, data, path, i, divisions)
	}
	missing := 0
	for k := range divisions {
		missing += divisions[k].Test.Missing()
	}
	if missing > 0 && len(policies) > 0 {
		env.note("note: %s: %d missing values (nan or NULL) taken as in training: %s", data, missing, strings.Join(slices.Sorted(maps.Keys(policies)), ", "))
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
		if own := member.Missing.String(); s.missing == ofModel {
			policies[own] = true
		} else if s.missing != own {
			return usageErrorf("--missing %s: the model %s was trained with --missing %s and would score other features than it learned from; leave the option out", s.missing, path, own)
		}
	}
	return nil
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
				env.note("note: %s learned with documents relevant from grade %s on, and is measured with those from %s on (--threshold %s measures as it learned)",
					path, own, dataset.FormatGrade(here), own)
			}
		}
	}
}
