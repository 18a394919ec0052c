package method

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/listwise/listwise/learn/train"
)

// columnForms describe the values of the kinds that name features.
var columnForms = map[Kind]string{
	Columns: "none or features, as 2:7:10..14",
	Signed:  "none or features, as 2:-7:10..14",
	Groups:  "none or groups, as 2:7/7:10..14",
}

// noColumns is the value of these kinds that names none.
const noColumns = "none"

// largestColumn bounds the number of a feature, and how many a range may have.
const largestColumn = 1_000_000

// canonicalColumns returns the one spelling of a list of features, or groups of them: numbers in
// ascending order, separated by colons, so that a list may be one of several values that are
// separated by commas; groups, in their order, by slashes.
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

// columnsText spells a list of features.
func columnsText(features []int) string {
	texts := make([]string, len(features))
	for k, f := range features {
		texts[k] = strconv.Itoa(f)
	}
	return strings.Join(texts, ":")
}

// parseColumns returns the features of a list in ascending order; those with a minus are
// negative.
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

// columnsOf returns the features that a hyperparameter names, a list a group, from 0, and their
// signs; nil for none. One that the data have not is a *ProblemError.
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
