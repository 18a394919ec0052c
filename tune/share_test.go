package tune

import (
	"fmt"
	"testing"

	"github.com/listwise/listwise/dataset"
)

// Claim: an entry with a Share has the models that training data filtered beforehand give, and is tested on all test
// queries.
func TestShareTrainsOnTheSample(t *testing.T) {
	const share, seed = 0.5, 7
	c := newConfig(t)
	c.Entries = c.Entries[:1]
	c.Entries[0].Settings = c.Entries[0].Settings[:1]
	whole := run(t, c)
	c.Entries[0].Own = &Variant{Seed: seed, Share: share}
	sampled := run(t, c)

	keep, dropped := dataset.SampleQueries(share, seed), 0
	for k := range c.Folds {
		f := &c.Folds[k]
		all := len(f.Train.Queries)
		f.Train = f.Train.Filter(func(q *dataset.Query) bool { return keep(q.ID) })
		dropped += all - len(f.Train.Queries)
	}
	if dropped == 0 {
		t.Fatal("the sample has all queries, so this test cannot fail")
	}
	c.Entries[0].Own = &Variant{Seed: seed}
	filtered := run(t, c)
	if digest(sampled) != digest(filtered) {
		t.Errorf("found\n%s\nexpected\n%s", digest(sampled), digest(filtered))
	}
	params := func(r *Result) string { return fmt.Sprint(r.Rows[0].Folds[0].Model.Params) }
	if params(sampled) == params(whole) {
		t.Error("the sample gives the model of all queries")
	}
	c.Entries[0].Own.Share = 1e-9
	if _, err := Run(t.Context(), c); err == nil {
		t.Error("found no error for a sample without queries")
	}
}
