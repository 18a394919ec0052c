package app

import (
	"fmt"
	"slices"
	"strings"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/transform"
	"github.com/listwise/listwise/learn/method"
	"github.com/listwise/listwise/model"
)

// notableScales is the ratio of feature scales above which a failed training suggests
// normalization.
const notableScales = 1e4

// scaleHint suggests normalization if the scales of raw features differ much. Otherwise it returns
// "". It reads all features, so it is called only after a problem.
func scaleHint(d *dataset.Dataset, n dataset.Normalization, transforms []transform.Spec, views dataset.Views) string {
	if n != dataset.NoNormalization || len(transforms) > 0 || !slices.Contains(views, dataset.RawView) && len(views) > 0 {
		return ""
	}
	ratio := d.ScaleRatio()
	if ratio <= notableScales {
		return ""
	}
	return fmt.Sprintf("; the features differ in scale by a factor of %.2g, so --normalize zscore or minmax may help", ratio)
}

// ranksNothing reports whether all documents of every query of d have equal scores. The first query
// usually decides. Each scored part is as large as all previous parts, so that the cost is
// proportional to the number of queries needed.
func ranksNothing(m *model.Model, d *dataset.Dataset) bool {
	for from, to := 0, 1; from < len(d.Queries); from, to = to, 2*to {
		of := make([]int, min(to, len(d.Queries))-from)
		for i := range of {
			of[i] = from + i
		}
		part := d.Subset(of)
		scores, err := m.Score(part)
		if err != nil {
			return false
		}
		for _, q := range part.Queries {
			if s := scores[q.Start : q.Start+q.Len()]; slices.Max(s) != slices.Min(s) {
				return false
			}
		}
	}
	return len(d.Queries) > 0
}

// advise warns if the training did not converge, or if the model gives all documents of a query the
// same score. It prints a note if loss and measures have different thresholds of relevance, and a
// note with the settings that give the same weights without validation data.
func (env *environment) advise(m *model.Model, p *method.Problem) {
	t := &m.Training
	constant := m.Constant()
	unconverged := t.Converged != nil && !*t.Converged && t.Iterations > 0 // without an iteration, training has already warned
	useless := !constant && ranksNothing(m, p.Data)
	hint := ""
	if constant || useless || unconverged {
		hint = scaleHint(p.Data, p.Normalization, p.Transforms, p.Views)
	}
	if constant {
		env.note("warning: all weights are 0, so all documents get the same score; a larger C or another form may help%s", hint)
	}
	if useless {
		env.note("warning: the model gives all documents of a training query the same score; features that vary within a query, or other hyperparameters, may help%s", hint)
	}
	if unconverged {
		above := ""
		if t.Gap != nil {
			above = fmt.Sprintf(", with the objective up to %.3g above its minimum", *t.Gap)
		}
		env.note("warning: training did not converge: %s after %d iterations%s%s", t.Status, t.Iterations, above, hint)
	}
	if own, ok := m.Hyperparameters["threshold"].(float64); ok && own != m.Threshold {
		env.note("note: the lowest relevant grade is %g in the loss and %g in the measures; --threshold sets both", own, m.Threshold)
	}
	if t.Refit != "" {
		env.note("note: training without validation data gives the same weights with --set %s", strings.Join(strings.Fields(t.Refit), " --set "))
	}
}
