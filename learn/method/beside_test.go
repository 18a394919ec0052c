package method

import (
	"errors"
	"strconv"
	"strings"
	"testing"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/learn/train"
)

// Claim: methods that hold much beside features that are in memory say so, with how much, where there is no room for it,
// and learn where there is.
func TestTooLittleMemoryBesideFeatures(t *testing.T) {
	const docs, features = 80_000, 20
	rows := dataset.Rows{Name: "d", Features: features, X: make([]float32, docs*features), Grades: make([]float64, docs)}
	for i := range rows.X {
		rows.X[i] = float32(i * i * 7919 % 10007)
	}
	for i := range rows.Grades {
		rows.Grades[i] = float64(i * i % 3)
	}
	for q := range docs / 20 {
		rows.Queries = append(rows.Queries, dataset.Run{ID: strconv.Itoa(q), Docs: 20})
	}
	d, err := dataset.FromRows(rows, dataset.MissingZero)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		method string
		set    map[string]string
		scorer string
	}{
		{method: "rankboost", set: map[string]string{"rounds": "2"}},
		{method: "frank", set: map[string]string{"rounds": "2", "search": "loss", "cuts": "5"}},
		{method: "adarank", set: map[string]string{"rounds": "2"}},
		{method: "coordascent", set: map[string]string{"restarts": "0", "sweeps": "1"}},
		{method: "prank", set: map[string]string{"epochs": "2"}},
		{method: "lambdamart", set: map[string]string{"trees": "2"}},
		{method: "lambdamart", set: map[string]string{"trees": "2", "boosting": "dart"}},
		{method: "lambdamart", set: map[string]string{"trees": "2", "splits": "exact"}},
		{method: "mcrank", set: map[string]string{"trees": "2"}, scorer: "trees"},
	} {
		name := c.method + " " + c.scorer + c.set["splits"]
		m := lookup(t, c.method)
		if c.scorer != "" {
			var err error
			if m, err = m.For(c.scorer); err != nil {
				t.Fatal(err)
			}
		}
		values, err := m.Values(c.set)
		if err != nil {
			t.Fatal(name, err)
		}
		p := &Problem{Problem: train.Problem{Data: d, Missing: dataset.MissingZero, MaxBytes: 4*docs*features + 1<<10, Measure: measure.MustParse("ndcg@10", measure.LETOR3)}, Scorer: c.scorer, Values: values}
		_, err = m.Train(t.Context(), p)
		if !errors.Is(err, dataset.ErrTooLarge) || !strings.Contains(err.Error(), "the data do not fit into memory: found 4000 queries with 80000 documents × 20 features, whose features take ") {
			t.Errorf("%s: %v, want an error about memory", name, err)
		}
		p.MaxBytes = 0
		if _, err := m.Train(t.Context(), p); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
