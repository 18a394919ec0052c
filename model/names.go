package model

import (
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/listwise/listwise/dataset"
)

// Columns returns the column of d for each of the model's features, matched by name. It is nil if
// they are d's first columns in order, which is assumed if the model or the data have no names. It
// is an error if names differ (see [dataset.MatchNames]) or d has more features than the model. Data
// with names must have all features of a model without them: if a column in the middle were
// missing, each later one would be taken for the feature before it.
func (m *Model) Columns(d *dataset.Dataset) ([]int, error) {
	if err := m.checkNames(); err != nil {
		return nil, err
	}
	columns, err := dataset.MatchNames(m.FeatureNames, d.FeatureNames, d.IgnoreOthers)
	if err != nil || columns != nil {
		return columns, err
	}
	switch width := m.NumFeatures(); {
	case d.Features > width:
		return nil, fmt.Errorf("found %d features, expected at most the model's %d", d.Features, width)
	case d.Features < width && d.FeatureNames != nil && m.FeatureNames == nil:
		return nil, fmt.Errorf("found %d named features, expected %d: the model has no feature names, so columns are matched by order", d.Features, width)
	}
	return nil, nil
}

// firstMissing returns the query, the document and the feature, all from 0, of the first
// missing value in the given columns; nil are all.
func firstMissing(d *dataset.Dataset, columns []int) (query, doc, feature int, ok bool) {
	if columns == nil || d.Missing() == 0 {
		return d.FirstMissing()
	}
	rows := d.Reader()
	for i := range d.Queries {
		q := rows.Query(i)
		for doc := range q.Len() {
			row := q.Row(doc)
			for _, c := range columns {
				if row[c] != row[c] {
					return i, doc, c, true
				}
			}
		}
	}
	return 0, 0, 0, false
}

// arrange sets the fusion's features and each member's columns among them. If all members have
// names, the features are the union, in order of appearance. Otherwise they are the widest member's
// features, and names must agree by position.
func (f *Fusion) arrange() error {
	var longest *Model
	all, aligned := true, true
	for s, m := range f.Members {
		if err := m.checkNames(); err != nil {
			return fmt.Errorf("member %d: %w", s+1, err)
		}
		f.features = max(f.features, m.NumFeatures())
		if m.FeatureNames == nil {
			all = false
		} else if longest == nil || len(m.FeatureNames) > len(longest.FeatureNames) {
			longest = m
		}
	}
	if longest == nil {
		return nil
	}
	for _, m := range f.Members {
		aligned = aligned && slices.Equal(m.FeatureNames, longest.FeatureNames[:len(m.FeatureNames)])
	}
	switch {
	case aligned && f.features == len(longest.FeatureNames):
		f.names = longest.FeatureNames
		return nil
	case aligned:
		return nil // one without names is wider
	case !all:
		return errors.New("found models whose features have different names or another order, and one without names: which of them are its features?")
	}
	return f.unite()
}

// unite makes the fusion's features the union of the members' features by name.
func (f *Fusion) unite() error {
	at := make(map[string]int)
	f.names, f.columns = nil, make([][]int, len(f.Members))
	for s, m := range f.Members {
		own := make(map[string]bool, len(m.FeatureNames))
		for _, name := range m.FeatureNames {
			if own[name] {
				return fmt.Errorf("member %d: found two features named %q, expected different names, since the members' orders differ", s+1, name)
			}
			own[name] = true
			column, ok := at[name]
			if !ok {
				column = len(f.names)
				at[name], f.names = column, append(f.names, name)
			}
			f.columns[s] = append(f.columns[s], column)
		}
	}
	f.features = len(f.names)
	return nil
}

// Columns returns the fusion's features that member i uses; nil means the first ones.
func (f *Fusion) Columns(member int) []int {
	if f.columns == nil {
		return nil
	}
	return f.columns[member]
}

// checkNames returns an error for names that do not belong to the features.
func (m *Model) checkNames() error {
	if n := len(m.FeatureNames); m.FeatureNames != nil && n != m.NumFeatures() {
		return fmt.Errorf("found %d feature names, expected %d", n, m.NumFeatures())
	}
	for j, name := range m.FeatureNames {
		if !utf8.ValidString(name) {
			return fmt.Errorf("found the name %q of feature %d, which is not UTF-8, expected text in UTF-8", name, j+1)
		}
	}
	if f, ok := m.Scorer.(*Fusion); ok && f.columns != nil && !slices.Equal(m.FeatureNames, f.names) {
		return errors.New("found other feature names than those of the fusion's members, in the order in which these have them")
	}
	return nil
}
