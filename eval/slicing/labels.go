package slicing

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/listwise/listwise/dataset"
)

// labels returns the values of a data set's queries, with "" for queries without a value.
func (k *Key) labels(d *dataset.Dataset) ([]string, error) {
	all := make([]string, len(d.Queries))
	if k.values != nil {
		for i := range d.Queries {
			all[i] = k.values.of[d.Queries[i].ID]
		}
		return all, nil
	}
	if a := slices.Index(d.AttributeNames, k.Name); a >= 0 {
		for i := range d.Queries {
			all[i] = d.Queries[i].Attributes[a]
		}
		return all, nil
	}
	column, err := k.feature(d)
	if err != nil {
		return nil, err
	}
	rows := d.Reader() // the features may be in a file
	for i := range d.Queries {
		if all[i], err = k.constant(d, rows.Query(i), column); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// feature returns the column of the feature that the key names.
func (k *Key) feature(d *dataset.Dataset) (int, error) {
	if column := d.Column(k.Name); column >= 0 {
		return column, nil
	}
	expected := fmt.Sprintf("length, relevant, a feature from 1 to %d", d.Features)
	switch {
	case d.FeatureNames != nil:
		expected = "length, relevant, the name of a feature"
	case d.Features == 0:
		expected = "length, relevant"
	}
	return 0, fmt.Errorf("found no column or feature %q in the data, expected %s, or %s=FILE with lines of a query's id, a tab and its value", k.Name, expected, k.Name)
}

// constant returns the value of a feature for a query. It returns an error if the value differs between
// documents.
func (k *Key) constant(d *dataset.Dataset, q *dataset.Query, column int) (string, error) {
	first := q.Row(0)[column]
	for j := 1; j < q.Len(); j++ {
		v := q.Row(j)[column]
		if v == first || v != v && first != first {
			continue
		}
		return "", fmt.Errorf("found %v as feature %s of document %d of the data, of query %q, expected %v, as of document %d: a feature that a query's documents share",
			v, k.Name, d.InputDocument(q.Start+j), q.ID, first, d.InputDocument(q.Start))
	}
	if first != first {
		return "", nil
	}
	return strconv.FormatFloat(float64(first), 'f', -1, 32), nil
}
