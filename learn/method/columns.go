package method

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/listwise/listwise/learn/train"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/model/scorer"
)

// columnForms describes the values of each kind of hyperparameter that names features.
var columnForms = map[Kind]string{
	Columns: "none or features, as 2:7:10..14",
	Signed:  "none or features, as 2:-7:10..14",
	Groups:  "none or groups, as 2:7/7:10..14",
}

// noColumns is the value that names no features.
const noColumns = "none"

// largestColumn is the largest number of a feature.
const largestColumn = 1_000_000

// canonicalColumns returns the canonical text of a list of features, or of groups of them. Numbers ascend and are
// separated by colons, because commas separate the values of a grid. Groups keep their order and are separated by
// slashes.
func canonicalColumns(kind Kind, value string) (string, error) {
	if value == noColumns {
		return value, nil
	}
	groups := []string{value}
	if kind == Groups {
		groups = strings.Split(value, "/")
	}
	for i, group := range groups {
		features, err := parseColumns(group, kind == Signed)
		if err != nil {
			return "", err
		}
		groups[i] = columnsText(features)
	}
	return strings.Join(groups, "/"), nil
}

// columnsText formats a list of features.
func columnsText(features []int) string {
	texts := make([]string, len(features))
	for k, f := range features {
		texts[k] = strconv.Itoa(f)
	}
	return strings.Join(texts, ":")
}

// parseColumns returns the features of a list in ascending order. Features with a minus sign are negative. Only a
// signed list may have them.
func parseColumns(list string, signed bool) ([]int, error) {
	var features []int
	for _, item := range strings.FieldsFunc(list+":", func(r rune) bool { return r == ':' || r == ',' || r == ' ' }) {
		sign, text := 1, item
		if rest, minus := strings.CutPrefix(item, "-"); minus && signed {
			sign, text = -1, rest
		}
		low, high, isRange := strings.Cut(text, "..")
		if !isRange {
			high = low
		}
		from, err := strconv.ParseUint(low, 10, 32)
		to, errTo := strconv.ParseUint(high, 10, 32)
		if err != nil || errTo != nil || from < 1 || to < from || to > largestColumn {
			return nil, fmt.Errorf("found %q", item)
		}
		for f := from; f <= to; f++ {
			features = append(features, sign*int(f))
		}
	}
	if len(features) == 0 {
		return nil, fmt.Errorf("found %q", list)
	}
	slices.SortFunc(features, func(a, b int) int { return cmp.Compare(max(a, -a), max(b, -b)) })
	for i, f := range features[1:] {
		if last := features[i]; f == last || f == -last {
			return nil, fmt.Errorf("found feature %d twice", max(f, -f))
		}
	}
	return features, nil
}

// columnsOf returns the features that the value of a hyperparameter lists, counted from 0, and their signs, with one
// slice per group. It returns nil if the value is noColumns. It returns a *ProblemError for a malformed value, and for
// a feature that the data do not have.
func (p *Problem) columnsOf(name string) (groups [][]int, signs [][]int8, err error) {
	value := p.Values.Text(name)
	if value == noColumns {
		return nil, nil, nil
	}
	for group := range strings.SplitSeq(value, "/") {
		features, err := parseColumns(group, true)
		if err != nil {
			return nil, nil, train.BadProblem("%s=%s: %w", name, value, err)
		}
		of := make([]int8, len(features))
		for i, f := range features {
			of[i] = 1
			if f < 0 {
				f, of[i] = -f, -1
			}
			if f > p.Data.Features {
				return nil, nil, train.BadProblem("%s=%s: found feature %d, expected one from 1 to %d: the data have no more", name, value, f, p.Data.Features)
			}
			features[i] = f - 1
		}
		groups, signs = append(groups, features), append(signs, of)
	}
	return groups, signs, nil
}

// keeping returns the values for a training that continues the model m, which may be nil. The hyperparameters
// monotone, categorical and interactions keep the model's values, to which given values may add features. A given
// value that contradicts the model's is a *ProblemError.
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

// columnsKept describes the condition of keepsColumns for error messages.
var columnsKept = map[Kind]string{
	Columns: "it may have more features, and all of the model's",
	Signed:  "it may have more features, and all of the model's with their signs",
	Groups:  "each of its groups must be part of one of the model's",
}

// toldOf returns the value of a hyperparameter that m was trained with. For a model of another system, it finds the
// categorical features in the trees, and returns none for other hyperparameters.
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

// keepsColumns reports whether the new value now keeps the constraints of the old value was. Both must be canonical,
// and was must not be none.
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

// within reports whether other contains all features of list, with the same signs.
func within(list, other string) bool {
	few, err := parseColumns(list, true)
	all, errAll := parseColumns(other, true)
	return err == nil && errAll == nil && !slices.ContainsFunc(few, func(f int) bool { return !slices.Contains(all, f) })
}
