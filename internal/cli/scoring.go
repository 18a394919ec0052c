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

// scoringSystems is what scoring or reading the scores of systems is called, counted by
// folds if there are some.
const scoringSystems = "scoring, systems"

// ofModel is the value of --missing that leaves missing values to each model.
const ofModel = "model"

func (s *scoring) addTo(cmd *cobra.Command) {
	s.reading.addTo(cmd)
	f := cmd.Flags().Lookup("missing")
	f.DefValue, s.missing = ofModel, ofModel
	f.Usage = "`what` nan and NULL stand for: model (what they were in its training), error, zero, or min (the least value within the query)"
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

// scored is what a system has scored: one data set with one model or, fold by fold,
// several. Models are nil if there were only scores.
type scored struct {
	path   string
	data   []*dataset.Dataset
	models []*model.Model
}

// ofDivisions returns what each system of the divisions has scored, under the paths.
func ofDivisions(paths []string, divisions []ensemble.Division) []scored {
	all := make([]scored, len(paths))
	for i := range all {
		all[i].path = paths[i]
		for k := range divisions {
			all[i].data = append(all[i].data, divisions[k].Test)
			all[i].models = append(all[i].models, divisions[k].Systems[i].Model)
		}
	}
	return all
}

// check compares the data of a path with the systems that scored it: an option that
// contradicts a model is an error, queries that a model was trained on a warning.
func (s *scoring) check(env *environment, path string, systems ...scored) error {
	policies := make(map[string]bool)
	missing := 0
	for i, by := range systems {
		for k, m := range by.models {
			if i == 0 {
				missing += by.data[k].Missing()
			}
			if m == nil {
				continue
			}
			if err := s.checkModel(by.path, m, policies); err != nil {
				return err
			}
		}
		warnOfSeen(env, path, by)
	}
	if missing > 0 && len(policies) > 0 {
		env.note("note: %s: %d missing values (nan or NULL) taken as in training: %s", path, missing, strings.Join(slices.Sorted(maps.Keys(policies)), ", "))
	}
	return nil
}

// checkModel returns an error if the option contradicts the model, and adds what the
// model makes of missing values to policies.
func (s *scoring) checkModel(path string, m *model.Model, policies map[string]bool) error {
	for _, member := range m.Members() {
		if member.Missing != dataset.MissingZero && member.Missing != dataset.MissingMin {
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
func (j *judging) noteOfThreshold(env *environment, c measure.Convention, systems ...scored) {
	told := make(map[float64]bool)
	for _, by := range systems {
		for k, m := range by.models {
			if m == nil || m.Threshold <= 0 || told[m.Threshold] || j.threshold != autoThreshold {
				continue
			}
			here := c.Threshold()
			if slices.ContainsFunc(by.data[k].Grades(), func(g float64) bool { return (g >= here) != (g >= m.Threshold) }) {
				told[m.Threshold] = true
				own := dataset.FormatGrade(m.Threshold)
				env.note("note: %s learned with documents relevant from grade %s on, and is measured with those from %s on (--threshold %s measures as it learned)",
					by.path, own, dataset.FormatGrade(here), own)
			}
		}
	}
}
