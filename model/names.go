package model

import (
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/listwise/listwise/dataset"
)

// Columns returns, for each of the model's features, the column of d with its name. If the features are
// d's first columns in order, Columns returns nil. It assumes this order if the model or d has no
// names.
//
// Columns returns an error if names differ (see [dataset.MatchNames]) or if d has more features than
// the model. If only d has names, it must have all features of the model. Otherwise a missing column in
// the middle would shift all later features by one.
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
		remedy := ""
		if m.Training.Status == "imported" { // a file for an engine lists only used features
			remedy = "; listwise import --features adds those that the file leaves out"
		}
		return nil, fmt.Errorf("found %d features, expected at most the model's %d%s", d.Features, width, remedy)
	case d.Features < width && d.FeatureNames != nil && m.FeatureNames == nil:
		return nil, fmt.Errorf("found %d named features, expected %d: the model has no feature names, so columns are matched by order", d.Features, width)
	}
	return nil, nil
}

// firstMissing returns the query, document and feature of the first missing value in the given columns,
// each counted from 0. ok is false if no value is missing. If columns is nil, firstMissing searches all
// columns.
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

// arrange sets the fusion's features and the columns that each member uses. If all members name their
// features, the fusion's features are the union, in the order in which names first appear. Otherwise
// they are the features of the member with the most features, and names must agree by position.
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
		return nil // a member without names has more features
	case !all:
		return errors.New("found models whose features have different names or another order, and one without names: which of them are its features?")
	}
	return f.unite()
}

// unite sets the fusion's features to the union of the members' features by name.
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

// Columns returns the indices of the fusion's features that a member uses. nil means the first
// features.
func (f *Fusion) Columns(member int) []int {
	if f.columns == nil {
		return nil
	}
	return f.columns[member]
}

// checkNames returns an error if the feature names are too few or too many, are not UTF-8, or differ
// from a fusion's.
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
