package interchange

import (
	"errors"
	"slices"

	"github.com/listwise/listwise/model/scorer"
)

// number settles which feature stands in column 0 of a file that counts columns from 0: by the
// options or, if these say nothing and columns have no names of their own, feature 1 unless
// column 0 was never used. A note says what was assumed.
func (e *ensemble) number(o ReadOptions, unnamed, unused bool) (notes []string, err error) {
	fromOne := o.FirstFeature == ColumnsFromOne
	if o.FirstFeature == AutoNumbering && unnamed {
		switch fromOne = unused; {
		case fromOne:
			notes = append(notes, "column 0 was never used, so column 1 is taken as feature 1, as in svmlight text (listwise import --first-feature 0: column 0 is feature 1)")
		case e.features > 1 && !e.uses(0):
			notes = append(notes, "column 0, which no tree uses, is taken as feature 1; if the model learned from svmlight text, column 1 is feature 1 (listwise import --first-feature 1)")
		default:
			notes = append(notes, "column 0 is taken as feature 1 (listwise import --first-feature 1: column 1 is feature 1)")
		}
	}
	if !fromOne {
		return notes, nil
	}
	if e.uses(0) || e.features < 2 {
		return nil, errors.New("found column 0 in use, expected that feature 1 is column 1")
	}
	e.dropFirst()
	return notes, nil
}

// uses reports whether a tree divides by a feature.
func (e *ensemble) uses(feature int) bool {
	for _, t := range e.trees {
		if slices.ContainsFunc(t.nodes, func(n scorer.TreeNode) bool { return n.Feature == feature }) {
			return true
		}
	}
	return false
}

// dropFirst takes away the first feature, which no tree uses.
func (e *ensemble) dropFirst() {
	e.features--
	if e.names != nil {
		e.names = e.names[1:]
	}
	if e.categories != nil {
		e.categories = e.categories[1:]
	}
	for _, t := range e.trees {
		for i := range t.nodes {
			t.nodes[i].Feature--
		}
	}
}
