package app

import (
	"fmt"
	"slices"
	"strings"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/model/interchange"
	"github.com/listwise/listwise/model/scorer"
)

// The values of --absent; scoring commands have ofModel, too.
const (
	absentZero    = "zero"
	absentMissing = "missing"
)

// parseAbsent reads --absent: whether absent features are missing.
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

// forModels has data read as the models that are to score them want: columns by the names that
// they know, the categories that they have, features that text leaves out missing if they all
// learned so. Models with different categories of a feature are an error.
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
	if opts.AbsentMissing { // those that no line has are missing, too
		opts.MinFeatures = width
	}
	return nil
}

// addCategories adds the categories of a model's features to the options.
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

// modelsAmong returns the models among the paths, of this module or of other systems. What
// cannot be read will be said when the model is to score.
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

// warnOfForm says what data and a model do not tell each other: features that text leaves out
// are 0, which the model, or the system that it is of, takes as missing; features with names go by
// position; and features seem to be counted from another column.
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
		env.note("warning: no tree of %s uses its first feature, and it has one more than %s: it seems to count columns as svmlight text counts features, from 1 (listwise import %s --first-feature 1 --model OUT makes column 1 feature 1)",
			path, data, path)
	}
}

// ofXGBoost reports whether a model was read from a file of XGBoost without names of features.
func ofXGBoost(m *model.Model) bool {
	return m.Training.Status == imported && (m.Method == "xgboost" || m.Method == "xgboost-dump")
}

// imported is the status of the training of other systems' models.
const imported = "imported"

// countsFromOne reports whether a model of another system, without names of features, has a
// column more than the data and no tree that uses the first.
func countsFromOne(m *model.Model, features int) bool {
	t, trees := m.Scorer.(*scorer.Trees)
	if !trees || m.Training.Status != imported || m.FeatureNames != nil || t.NumFeatures() != features+1 {
		return false
	}
	return !slices.ContainsFunc(t.Trees(), func(nodes []scorer.TreeNode) bool {
		return slices.ContainsFunc(nodes, func(n scorer.TreeNode) bool { return n.Feature == 0 })
	})
}
