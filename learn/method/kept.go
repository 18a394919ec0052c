package method

import (
	"cmp"
	"slices"
	"strings"

	"github.com/listwise/listwise/learn/train"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/model/scorer"
)

// keeping returns the values for a training that continues a model. By default it keeps the
// model's monotone, categorical and interactions. Given values may add to them. A value that
// contradicts the model's is a *ProblemError.
func (v Values) keeping(m *model.Model) (Values, error) {
	for _, h := range v.method.Hyperparameters {
		if m == nil || h.Kind != Columns && h.Kind != Signed && h.Kind != Groups {
			continue
		}
		was, err := toldOf(m, &h)
		if err != nil {
			return v, train.BadProblem("model to continue: %w", err)
		}
		switch {
		case was == noColumns:
		case !v.given[h.Name]:
			v = v.withText(h.Name, was)
		case !keepsColumns(h.Kind, was, v.Text(h.Name)):
			return v, train.BadProblem("model to continue: found one of %s=%s, expected %[1]s=%[3]s not to contradict it: %[4]s", h.Name, was, v.Text(h.Name), columnsKept[h.Kind])
		}
	}
	return v, nil
}

// columnsKept says what keepsColumns asks for.
var columnsKept = map[Kind]string{
	Columns: "it may have more features, and all of the model's",
	Signed:  "it may have more features, and all of the model's with their signs",
	Groups:  "each of its groups must be part of one of the model's",
}

// toldOf returns the value of a hyperparameter that a model was learned with. A model of
// another system has none; its trees say which features are categorical.
func toldOf(m *model.Model, h *Hyperparameter) (string, error) {
	if was, ok := m.Hyperparameters[h.Name].(string); ok {
		return h.canonical(was)
	}
	trees, ok := m.Scorer.(*scorer.Trees)
	if !ok || h.Kind != Columns {
		return noColumns, nil
	}
	var features []int
	for _, nodes := range trees.Trees() {
		for i := range nodes {
			if nodes[i].Categories != nil {
				features = append(features, nodes[i].Feature+1)
			}
		}
	}
	slices.Sort(features)
	return cmp.Or(columnsText(slices.Compact(features)), noColumns), nil
}

// keepsColumns reports whether the features of a new value keep what those of an old one, not
// none, ask for. Both are canonical.
func keepsColumns(kind Kind, was, now string) bool {
	if now == noColumns {
		return false
	}
	if kind != Groups {
		return within(was, now)
	}
	for group := range strings.SplitSeq(now, "/") {
		if !slices.ContainsFunc(strings.Split(was, "/"), func(of string) bool { return within(group, of) }) {
			return false
		}
	}
	return true
}

// within reports whether all features of a list, with their signs, are in another one.
func within(list, other string) bool {
	few, err := parseColumns(list, true)
	all, errAll := parseColumns(other, true)
	return err == nil && errAll == nil && !slices.ContainsFunc(few, func(f int) bool { return !slices.Contains(all, f) })
}
