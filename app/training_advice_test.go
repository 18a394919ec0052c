package app

import (
	"testing"
	"time"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/model/scorer"
)

// Claim: whether a model ranks nothing is found in time proportional to the data: a million
// queries of one document, as a wrong column of queries makes them, take seconds. A query whose
// documents have different scores is found wherever it is.
func TestRanksNothingIsLinear(t *testing.T) {
	const queries = 1_000_000
	b := dataset.Blocks{Features: 1}
	for range queries {
		b.IDs, b.Counts = append(b.IDs, "q"), append(b.Counts, 1)
		b.Grades, b.X = append(b.Grades, 1), append(b.X, 1)
	}
	m := &model.Model{Scorer: scorer.Linear{Features: 1}, Params: []float64{1}}
	begin := time.Now()
	if !ranksNothing(m, dataset.FromBlocks(b)) {
		t.Error("queries of one document are ranked")
	}
	if took := time.Since(begin); took > 20*time.Second {
		t.Errorf("a million queries take %v", took)
	}
	for _, n := range []int{1, 2, 3, 4, 5, 8, 9, 100} {
		for at := range n {
			b := dataset.Blocks{Features: 1}
			for i := range n {
				b.IDs, b.Counts = append(b.IDs, "q"), append(b.Counts, 2)
				b.Grades, b.X = append(b.Grades, 1, 0), append(b.X, 1, 1)
				if i == at {
					b.X[2*i] = 2
				}
			}
			if ranksNothing(m, dataset.FromBlocks(b)) {
				t.Errorf("of %d queries the %d. is not found to be ranked", n, at+1)
			}
		}
	}
	if ranksNothing(m, &dataset.Dataset{}) {
		t.Error("no queries are said to be ranked nothing of")
	}
}
