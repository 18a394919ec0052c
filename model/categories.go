package model

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/internal/strictjson"
)

// categoriesFile contains the categories of one feature in a model file. Feature is counted from 1.
// Values are all texts or all numbers, in the order of their codes. A feature that the model does not
// use has no values.
type categoriesFile struct {
	Feature int              `json:"feature"`
	Values  strictjson.Value `json:"values"`
}

// InputCategories returns the categories of every feature, with nil for a numeric feature. The list may
// be shorter than the features. A fusion returns the categories of its members.
func (m *Model) InputCategories() []*dataset.Categories {
	if f, ok := m.Scorer.(*Fusion); ok {
		return f.categories
	}
	return m.Categories
}

// encodeCategories returns the elements of "categories" in a model file, nil if there are none.
func (m *Model) encodeCategories() ([]json.RawMessage, error) {
	var list []json.RawMessage
	for j, c := range m.Categories {
		if c == nil {
			continue
		}
		text := fmt.Appendf(nil, `{"feature":%d}`, j+1)
		switch {
		case c.Texts != nil:
			values, err := strictjson.Marshal(c.Texts)
			if err != nil {
				return nil, err
			}
			text = strictjson.AppendMember(text, "values", values)
		case c.Numbers != nil:
			text = strictjson.AppendNumbers(text, "values", c.Numbers)
		}
		list = append(list, text)
	}
	return list, nil
}

// categories reads the categories of a model file, nil if there are none.
func (f *featuresFile) categories() ([]*dataset.Categories, error) {
	var all []*dataset.Categories
	for _, raw := range f.Categories {
		var c categoriesFile
		o, err := strictjson.Members(strictjson.Whole(raw))
		if err == nil {
			err = o.Decode(&c)
		}
		switch {
		case err != nil:
			return nil, err
		case c.Feature < 1 || c.Feature > f.Count:
			return nil, fmt.Errorf("found feature %d, expected one from 1 to %d", c.Feature, f.Count)
		case c.Feature <= len(all):
			return nil, fmt.Errorf("found feature %d after feature %d, expected ascending ones", c.Feature, len(all))
		}
		all = append(all, make([]*dataset.Categories, c.Feature-len(all))...)
		if all[c.Feature-1], err = c.read(); err != nil {
			return nil, fmt.Errorf("feature %d: %w", c.Feature, err)
		}
	}
	return all, nil
}

// read returns the categories with the values of c. Without values, the feature is unused.
func (c *categoriesFile) read() (*dataset.Categories, error) {
	if c.Values.Text == nil {
		return dataset.NewUnusedCategories(), nil
	}
	if c.Values.Text[0] != '[' {
		return nil, fmt.Errorf("found %.60s as the categories' values, expected a list", c.Values.Text)
	}
	elements, err := strictjson.Elements(c.Values)
	if err != nil {
		return nil, err
	}
	texts, numbers := make([]string, len(elements)), make([]float64, len(elements))
	for i, e := range elements {
		text := elements[0].Text[0] == '"'
		if e.Text[0] == '"' != text || string(e.Text) == "null" {
			return nil, fmt.Errorf("found %.60s as a category, expected texts alone or numbers alone", e.Text)
		}
		if text {
			err = json.Unmarshal(e.Text, &texts[i])
		} else {
			err = json.Unmarshal(e.Text, &numbers[i])
		}
		if err != nil {
			return nil, err
		}
	}
	if len(elements) > 0 && elements[0].Text[0] == '"' {
		return dataset.NewTextCategories(texts)
	}
	return dataset.NewNumberCategories(numbers)
}

// checkCategories returns an error if the model has categories and also changes features before
// scoring. Such changes suit numbers, not codes.
func (m *Model) checkCategories() error {
	if m.Categories == nil {
		return nil
	}
	_, fusion := m.Scorer.(*Fusion)
	switch {
	case fusion:
		return errors.New("found categories of a fusion, expected them of its members")
	case len(m.Categories) > m.NumFeatures():
		return fmt.Errorf("found the categories of %d features, expected at most %d", len(m.Categories), m.NumFeatures())
	case m.Missing != dataset.MissingKeep || m.Transforms != nil || m.Normalization != dataset.NoNormalization || !m.Views.Raw():
		return errors.New(`found categories of features that are changed before scoring, expected "missing": "keep", no transforms, no normalization and raw views`)
	}
	return nil
}

// encodeRows replaces categories in the rows of x by their codes. Each row has the given number of
// features. The caller has checked the values by checkCodes.
func (m *Model) encodeRows(x []float32, features int) {
	for j, c := range m.Categories[:min(features, len(m.Categories))] {
		if c == nil {
			continue
		}
		for at := j; at < len(x); at += features {
			x[at], _ = c.Code(x[at])
		}
	}
}

// checkCodes returns an error if a row of x has a value outside the categories of its feature. Each row
// has the given number of features. columns[j] is the column of feature j, or −1; nil means that
// feature j is column j. The function of returns the name of a row's document for the error.
func (m *Model) checkCodes(x []float32, features int, columns []int, of func(row int) string) error {
	for j, c := range m.InputCategories() {
		if c == nil || c.Unused() {
			continue
		}
		column := j
		if columns != nil {
			column = columns[j]
		}
		for at, row := column, 0; row*features < len(x); at, row = at+features, row+1 {
			v := float32(0) // the value of an absent feature
			if column >= 0 && column < features {
				v = x[at]
			}
			if _, ok := c.Code(v); !ok {
				return fmt.Errorf("found the value %v of feature %s for %s, expected %s", v, m.featureText(j), of(row), c.Expected())
			}
		}
	}
	return nil
}

// featureText returns the number, from 1, and the name of feature j for an error message.
func (m *Model) featureText(j int) string {
	if j < len(m.FeatureNames) {
		return fmt.Sprintf("%d (%s)", j+1, m.FeatureNames[j])
	}
	return strconv.Itoa(j + 1)
}

// checkData calls checkCodes for all queries of a data set.
func (m *Model) checkData(d *dataset.Dataset, columns []int) error {
	if m.InputCategories() == nil {
		return nil
	}
	rows := d.Reader()
	for i := range d.Queries {
		err := m.checkCodes(rows.At(i), d.Features, columns, func(row int) string {
			return fmt.Sprintf("document %d of query %q", row+1, d.Queries[i].ID)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// gatherCategories sets the categories of a fusion's features from its members. It returns an error if
// members have different categories for a feature, since a text has one code in the data.
func (f *Fusion) gatherCategories() error {
	for s, m := range f.Members {
		for j, c := range m.InputCategories() {
			if c == nil {
				continue
			}
			at := j
			if columns := f.Columns(s); columns != nil {
				at = columns[j]
			}
			if missing := at + 1 - len(f.categories); missing > 0 {
				f.categories = append(f.categories, make([]*dataset.Categories, missing)...)
			}
			switch have := f.categories[at]; {
			case have == nil || have.Unused():
				f.categories[at] = c
			case !c.Unused() && !c.Equal(have):
				return fmt.Errorf("member %d: found other categories of feature %s than an earlier member's, expected the same in the same order: %s", s+1, m.featureText(j), have)
			}
		}
	}
	return nil
}
