package dataset

import (
	"fmt"
	"slices"

	"github.com/listwise/listwise/internal/block"
)

// Subset, Filter, KeepDocs, KeepFeatures, Widen, Concat and the functions that use them return a data set with
// blocks of its own, unless it is streamed. So changing one does not change the other, and a cache may be
// closed after a data set was made from it. The rows of the result count as its input order. The result keeps
// feature names, weights and attributes. It has no Warnings, because these are about the reading of a file.

// pick is a query of a new data set. It has the documents docs of query, in this order, or all documents if
// docs is nil.
type pick struct {
	query *Query
	docs  []int
}

func (p pick) len() int {
	if p.docs == nil {
		return p.query.Len()
	}
	return len(p.docs)
}

// assemble copies the picked documents to a new Dataset. missing reports whether values may be missing. Picks
// without documents are omitted.
func assemble(features int, names []string, missing bool, picks []pick) *Dataset {
	rows := 0
	for _, p := range picks {
		rows += p.len()
	}
	d := &Dataset{
		Features:     features,
		FeatureNames: names,
		Queries:      make([]Query, 0, len(picks)),
		grades:       make([]float64, 0, rows),
	}
	if d.streamed = slices.ContainsFunc(picks, func(p pick) bool { return p.query.from != nil }); !d.streamed {
		d.x = block.New(rows * features)[:0]
	}
	if slices.ContainsFunc(picks, func(p pick) bool { return p.query.weights != nil }) {
		d.weights = make([]float64, 0, rows)
	}
	for _, p := range picks {
		if p.len() > 0 {
			d.Queries = append(d.Queries, d.take(p))
		}
	}
	d.cutWeights()
	if missing && !d.streamed {
		d.missing = countMissing(d.x)
	}
	return d
}

// assemble copies the picked documents of d to a new Dataset.
func (d *Dataset) assemble(picks []pick) *Dataset {
	c := assemble(d.Features, d.FeatureNames, d.missing > 0, picks)
	c.IgnoreOthers, c.AbsentMissing, c.AttributeNames = d.IgnoreOthers, d.AbsentMissing, d.AttributeNames
	if c.streamed {
		c.missing, c.sources = d.missing, []*Dataset{d} // an upper bound of the missing values
	}
	return c
}

// take appends the picked documents to the blocks, which must have sufficient capacity. It returns the query,
// which is a view of the blocks.
func (d *Dataset) take(p pick) Query {
	from := len(d.grades)
	docs := p.query.docs
	if p.docs == nil {
		d.grades = append(d.grades, p.query.Grades...)
	} else {
		for _, i := range p.docs {
			d.grades = append(d.grades, p.query.Grades[i])
		}
		docs = docs.Pick(p.docs)
	}
	d.takeWeights(p)
	x, origin := d.takeFeatures(p)
	to := len(d.grades)
	return Query{
		ID:     p.query.ID,
		Start:  from,
		Grades: d.grades[from:to:to],
		X:      x,
		docs:   docs,
		from:   origin,

		Attributes: p.query.Attributes,

		weighted: p.query.weighted,
		weight:   p.query.weight,
	}
}

// takeFeatures appends the features of the picked documents to the block and returns them. For a streamed data
// set it returns their source.
func (d *Dataset) takeFeatures(p pick) (x []float32, from *origin) {
	switch q := p.query; {
	case d.streamed && p.docs != nil:
		return nil, &origin{base: q, docs: p.docs}
	case d.streamed && q.from != nil:
		return nil, q.from
	case d.streamed:
		return slices.Clone(q.X), nil
	case p.docs == nil:
		x = q.X
	}
	begin := len(d.x)
	d.x = append(d.x, x...)
	for _, i := range p.docs {
		d.x = append(d.x, p.query.Row(i)...)
	}
	return d.x[begin:len(d.x):len(d.x)], nil
}

// takeWeights appends the weights of the picked documents, if the data set has any.
func (d *Dataset) takeWeights(p pick) {
	from := p.query.weights
	switch {
	case d.weights == nil:
	case from == nil:
		d.weights = append(d.weights, slices.Repeat([]float64{1}, p.len())...)
	case p.docs == nil:
		d.weights = append(d.weights, from...)
	default:
		for _, i := range p.docs {
			d.weights = append(d.weights, from[i])
		}
	}
}

// Clone returns a copy of d with the same input order and warnings.
func (d *Dataset) Clone() *Dataset {
	c := d.Filter(func(*Query) bool { return true })
	c.inputRow = slices.Clone(d.inputRow)
	c.Warnings = slices.Clone(d.Warnings)
	return c
}

// Subset returns the queries with the given indices, in this order. It panics if an index is out of range or
// occurs twice.
func (d *Dataset) Subset(queries []int) *Dataset {
	picks := make([]pick, len(queries))
	seen := make([]bool, len(d.Queries))
	for k, i := range queries {
		if seen[i] {
			panic(fmt.Sprintf("dataset: query %d (%q) chosen twice", i, d.Queries[i].ID))
		}
		seen[i] = true
		picks[k].query = &d.Queries[i]
	}
	return d.assemble(picks)
}

// Filter returns the queries for which keep is true, in their order.
func (d *Dataset) Filter(keep func(*Query) bool) *Dataset {
	var picks []pick
	for i := range d.Queries {
		if q := &d.Queries[i]; keep(q) {
			picks = append(picks, pick{query: q})
		}
	}
	return d.assemble(picks)
}

// KeepDocs returns the documents for which keep(query index, document index) is true, in their order. Queries
// without such documents are omitted.
func (d *Dataset) KeepDocs(keep func(query, doc int) bool) *Dataset {
	picks := make([]pick, len(d.Queries))
	for i := range d.Queries {
		q := &d.Queries[i]
		docs := make([]int, 0, q.Len())
		for j := range q.Len() {
			if keep(i, j) {
				docs = append(docs, j)
			}
		}
		picks[i] = pick{query: q, docs: docs}
		if len(docs) == q.Len() {
			picks[i].docs = nil
		}
	}
	return d.assemble(picks)
}

// KeepFeatures returns a data set with the given columns of features, in this order. Columns are numbered from
// 0. It panics if a column is out of range or occurs twice.
func (d *Dataset) KeepFeatures(columns []int) *Dataset {
	for k, c := range columns {
		if c < 0 || c >= d.Features || slices.Contains(columns[:k], c) {
			panic(fmt.Sprintf("dataset: column %d is not one of %d, or chosen twice", c, d.Features))
		}
	}
	kept := d.withColumns(columns)
	if d.FeatureNames != nil {
		for _, c := range columns {
			kept.FeatureNames = append(kept.FeatureNames, d.FeatureNames[c])
		}
	}
	return kept
}

// Widen returns a copy of d with the given number of columns, at least its own. The added columns are 0. Since
// these have no names, the copy has none.
func (d *Dataset) Widen(features int) *Dataset {
	columns := make([]int, features)
	for j := range columns {
		if columns[j] = j; j >= d.Features {
			columns[j] = -1
		}
	}
	return d.withColumns(columns)
}

// withColumns returns a copy of d with the given columns. A column is 0 if its index is negative. The features
// of the copy have no names.
func (d *Dataset) withColumns(columns []int) *Dataset {
	if d.streamed {
		return d.Through(columnsLens(columns, d.Features))
	}
	kept := d.Clone()
	kept.Features, kept.FeatureNames = len(columns), nil
	kept.x = block.New(d.Docs() * len(columns))[:0]
	for i := range kept.Queries {
		q, from := &kept.Queries[i], len(kept.x)
		for j := range q.Len() {
			for _, c := range columns {
				v := float32(0)
				if c >= 0 {
					v = q.X[j*d.Features+c]
				}
				kept.x = append(kept.x, v)
			}
		}
		q.X = kept.x[from:len(kept.x):len(kept.x)]
	}
	kept.missing = countMissing(kept.x)
	return kept
}

// Concat returns the queries of all data sets, one set after the other. The sets must have the same number of
// features, the same attributes and no query id in common. Sets that name their features must use the same
// names. Other sets are an error. The order of the features is that of the first set with names.
func Concat(sets ...*Dataset) (*Dataset, error) {
	if len(sets) == 0 {
		return nil, fmt.Errorf("no data sets to put together")
	}
	var picks []pick
	names := sets[0].FeatureNames
	missing := 0
	from := make(map[string]int)
	for k, d := range sets {
		missing += d.missing
		if d.Features != sets[0].Features {
			return nil, fmt.Errorf("data set %d has %d features, expected the %d of data set 1",
				k+1, d.Features, sets[0].Features)
		}
		if names == nil {
			names = d.FeatureNames
		}
		if !slices.Equal(d.AttributeNames, sets[0].AttributeNames) {
			return nil, fmt.Errorf("data set %d has the attributes %q, expected the %q of data set 1", k+1, d.AttributeNames, sets[0].AttributeNames)
		}
		columns, err := Reordering(names, d.FeatureNames)
		if err != nil {
			return nil, fmt.Errorf("data set %d: %w", k+1, err)
		}
		if columns != nil {
			d = d.KeepFeatures(columns)
		}
		for i := range d.Queries {
			q := &d.Queries[i]
			if other, ok := from[q.ID]; ok {
				return nil, fmt.Errorf("query %q is in data set %d and data set %d, expected every query in one",
					q.ID, other, k+1)
			}
			from[q.ID] = k + 1
			picks = append(picks, pick{query: q})
		}
	}
	all := assemble(sets[0].Features, names, missing > 0, picks)
	if all.streamed {
		all.sources, all.missing = slices.Clone(sets), missing
	}
	all.AbsentMissing, all.AttributeNames = sets[0].AbsentMissing, sets[0].AttributeNames
	return all, nil
}
