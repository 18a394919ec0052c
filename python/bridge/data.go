package bridge

import (
	"fmt"

	"github.com/listwise/listwise/dataset"
)

// rows are judged documents in a request; what are arrays there are the places of these, or nil.
type rows struct {
	Name     string
	Features int
	Names    []string // of the features, or null
	X        *int     // []float32
	Y        *int     // []float64
	Weights  *int     // []float64
	IDs      []string // of the runs of documents of one query
	Counts   *int     // []int64, of their documents
	// QueryWeights has one a run.
	QueryWeights []float64 `json:"query_weights"`
	Docs         []string
}

// array returns an array of a request, nil if it has none.
func array[T any](arrays Arrays, at *int, what string) ([]T, error) {
	if at == nil {
		return nil, nil
	}
	if *at < 0 || *at >= len(arrays) {
		return nil, fmt.Errorf("%s: found no array %d", what, *at)
	}
	a, ok := arrays[*at].([]T)
	if !ok {
		return nil, fmt.Errorf("%s: found an array of %T, expected %T", what, arrays[*at], a)
	}
	return a, nil
}

// dataset makes a data set of documents in the caller's memory.
func (r *rows) dataset(arrays Arrays, m dataset.Missing) (*dataset.Dataset, error) {
	all := dataset.Rows{Name: r.Name, Features: r.Features, FeatureNames: r.Names, DocIDs: r.Docs, QueryWeights: r.QueryWeights}
	var err error
	if all.X, err = array[float32](arrays, r.X, "x"); err != nil {
		return nil, err
	}
	if all.Grades, err = array[float64](arrays, r.Y, "y"); err != nil {
		return nil, err
	}
	if all.Weights, err = array[float64](arrays, r.Weights, "weights"); err != nil {
		return nil, err
	}
	counts, err := array[int64](arrays, r.Counts, "counts")
	if err != nil {
		return nil, err
	}
	if len(counts) != len(r.IDs) {
		return nil, fmt.Errorf("found %d ids for %d queries", len(r.IDs), len(counts))
	}
	for i, id := range r.IDs {
		all.Queries = append(all.Queries, dataset.Run{ID: id, Docs: int(counts[i])})
	}
	return dataset.FromRows(all, m)
}
