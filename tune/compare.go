package tune

import (
	"fmt"

	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/eval/stats"
)

// Compare compares the rows by a measure on the test queries of all folds, which are pooled. The
// systems of the comparison are the rows, so c.Baseline is the index of a row. It returns the errors of
// [Row.Pooled] and [measure.Compare].
func (r *Result) Compare(m measure.Measure, c stats.Config) (*stats.Comparison, error) {
	pooled := make([]*measure.Result, len(r.Rows))
	for i := range r.Rows {
		var err error
		if pooled[i], err = r.Rows[i].Pooled(); err != nil {
			return nil, err
		}
	}
	return measure.Compare(m, c, pooled...)
}

// Pooled returns the results on the test queries of all folds, as [measure.Pool] does. It returns an
// error if the test data of two folds share a query. Such a query would count twice and make
// differences look more certain than they are.
func (r *Row) Pooled() (*measure.Result, error) {
	tests := make([]*measure.Result, len(r.Folds))
	var seen testQueries
	for k := range r.Folds {
		f := &r.Folds[k]
		for _, id := range f.Test.Queries() {
			if err := seen.add(id, f.Fold); err != nil {
				return nil, fmt.Errorf("%s: %w", r.Entry.Name, err)
			}
		}
		tests[k] = f.Test
	}
	return measure.Pool(tests...), nil
}

// CheckTests returns an error if the test data of two folds share a query.
func CheckTests(folds []Fold) error {
	var seen testQueries
	for k := range folds {
		for i := range folds[k].Test.Queries {
			if err := seen.add(folds[k].Test.Queries[i].ID, folds[k].Name); err != nil {
				return err
			}
		}
	}
	return nil
}

// testQueries contains the fold of each test query, by the id of the query.
type testQueries map[string]string

func (t *testQueries) add(id, fold string) error {
	if *t == nil {
		*t = make(testQueries)
	}
	if other, ok := (*t)[id]; ok {
		return fmt.Errorf("found query %s in the test data of %s and %s, expected each query once", id, other, fold)
	}
	(*t)[id] = fold
	return nil
}
