package dataset

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/listwise/listwise/internal/suggest"
)

// NamesError is the error about features whose names are not the expected ones.
type NamesError struct {
	Missing    []string // expected names that were not found
	Unexpected []string // names that were found but not expected
}

// mostNames is the number of names that an error lists.
const mostNames = 5

// Error names the features, and suggests similar names for missing ones.
func (e *NamesError) Error() string {
	var parts []string
	if len(e.Missing) > 0 {
		parts = append(parts, "without "+listed(e.Missing, func(name string) string {
			return strconv.Quote(name) + suggest.Or(name, e.Unexpected, "")
		}))
	}
	if len(e.Unexpected) > 0 {
		parts = append(parts, "with "+listed(e.Unexpected, strconv.Quote)+", which it does not know")
	}
	return "found features other than the model's: " + strings.Join(parts, "; ")
}

// listed joins the first names, formatted by as, and the number of further names.
func listed(names []string, as func(string) string) string {
	texts := make([]string, 0, mostNames)
	for _, name := range names[:min(len(names), mostNames)] {
		texts = append(texts, as(name))
	}
	text := strings.Join(texts, ", ")
	if more := len(names) - mostNames; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// MatchNames returns, for each name in want, the column in have with this name. want are the feature names of
// a model or of other data. It returns nil if the names and their order are the same. It also returns nil if
// one side has no names; features are then matched by position.
//
// A missing name is a *NamesError. So is an additional name, unless others is set. If the order differs, a
// name that occurs twice is an error. If want is nil, numbers as names are an error, because they contradict
// the positions.
func MatchNames(want, have []string, others bool) ([]int, error) {
	if want == nil && slices.ContainsFunc(have, isNumber) {
		return nil, fmt.Errorf("found the names of features %s, expected 1, 2, … without a gap, or no numbers: the model knows its features by position", listed(have, strconv.Quote))
	}
	if want == nil || have == nil || slices.Equal(want, have) {
		return nil, nil
	}
	at := make(map[string]int, len(have))
	for j, name := range have {
		if _, twice := at[name]; twice {
			return nil, fmt.Errorf("found two features of the data named %q, expected different names, since their order is not the model's", name)
		}
		at[name] = j
	}
	columns := make([]int, len(want))
	wanted := make(map[string]bool, len(want))
	var e NamesError
	for j, name := range want {
		if wanted[name] {
			return nil, fmt.Errorf("found two features of the model named %q, expected different names, since their order is not the data's", name)
		}
		wanted[name] = true
		column, ok := at[name]
		if !ok {
			e.Missing = append(e.Missing, name)
		}
		columns[j] = column
	}
	for _, name := range have {
		if !wanted[name] {
			e.Unexpected = append(e.Unexpected, name)
		}
	}
	if len(e.Missing) > 0 || len(e.Unexpected) > 0 && !others {
		return nil, &e
	}
	return columns, nil
}

// Column returns the column of the feature with a name or, if features have no names, with a number from 1. It
// returns -1 if there is none.
func (d *Dataset) Column(feature string) int {
	if d.FeatureNames != nil {
		return slices.Index(d.FeatureNames, feature)
	}
	if n, err := strconv.Atoi(feature); err == nil && n >= 1 && n <= d.Features {
		return n - 1
	}
	return -1
}

// Reordering returns, for each name in want, the column in have with this name. want and have are the feature
// names of two data sets. It returns nil if features are matched by position, because the names and their order
// are the same or have is nil. Different names are an error.
func Reordering(want, have []string) ([]int, error) {
	err := sameNames(want, have)
	if err == nil || len(want) != len(have) {
		return nil, err
	}
	columns, differ := MatchNames(want, have, false)
	if differ != nil {
		return nil, err
	}
	return columns, nil
}

// sameNames returns an error if a name in have differs from that in want. have may be nil.
func sameNames(want, have []string) error {
	for j, name := range have {
		if name != want[j] {
			return fmt.Errorf("feature %d is named %q, expected %q", j+1, name, want[j])
		}
	}
	return nil
}

// isNumber reports whether a name is a whole number.
func isNumber(name string) bool {
	_, err := strconv.Atoi(name)
	return err == nil
}

// FeatureText returns the number of a feature, from 1, and its name if it has one, for messages. feature is
// counted from 0.
func (d *Dataset) FeatureText(feature int) string {
	if feature < len(d.FeatureNames) {
		return fmt.Sprintf("%d (%s)", feature+1, d.FeatureNames[feature])
	}
	return strconv.Itoa(feature + 1)
}
