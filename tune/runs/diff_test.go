package runs

import (
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// Claim: only what differs is a change; nested settings have names with dots; data
// differ by content, not by path.
func TestCompareChanges(t *testing.T) {
	one, two := uint64(1), uint64(2)
	a := &Run{
		Kind: Train, Seed: &one, Code: Code{Revision: "r", Go: "go1"},
		Config: map[string]any{"C": 1.0, "grid": []any{1.0, 2.0}, "deep": map[string]any{"x": map[string]any{"y": true}}, "old": "o"},
		Data:   []Data{{Role: "train", Path: "a", Fingerprint: "1"}, {Role: "valid", Path: "v", Fingerprint: "2"}},
	}
	b := &Run{
		Kind: Train, Seed: &two, Code: Code{Revision: "s", Go: "go1"},
		Config: map[string]any{"C": 1.0, "grid": []any{1.0, 3.0}, "deep": map[string]any{"x": map[string]any{"y": false}}, "new": "n"},
		Data:   []Data{{Role: "train", Path: "b", Fingerprint: "1"}},
	}
	want := []Change{
		{"code.revision", "r", "s"},
		{"data.valid", "2", nil},
		{"deep.x.y", true, false},
		{"grid", []any{1.0, 2.0}, []any{1.0, 3.0}},
		{"new", nil, "n"},
		{"old", "o", nil},
		{"seed", "1", "2"},
	}
	if d := cmp.Diff(want, Compare(a, b).Changes); d != "" {
		t.Error(d)
	}
	if d := Compare(a, a); d.Changes != nil {
		t.Errorf("a run differs from itself: %+v", d)
	}
}

// Claim: rankers of one name are compared over all folds by query id, for any order of
// queries and folds; a query that only one has, or that a convention leaves out, does not
// count. The counts are those of a search through all pairs of queries.
func TestCompareQueries(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	values := func(n int) []Value {
		var v []Value
		for _, q := range random.Perm(n) {
			v = append(v, Value{strconv.Itoa(q), Number(random.IntN(3))})
		}
		v[0].Value = NaN()
		return v
	}
	for range 50 {
		va, vb := values(20), values(25)
		cut := 1 + random.IntN(18)
		a := &Run{Results: []RankerResult{
			{Ranker: "m", Measures: []Measure{{Name: "map", Mean: 1}, {Name: "err", Mean: 2}}},
			{Ranker: "m", Fold: "Fold1", Measures: []Measure{{Name: "map", PerQuery: va[:cut]}}},
			{Ranker: "m", Fold: "Fold2", Measures: []Measure{{Name: "map", PerQuery: va[cut:]}}},
			{Ranker: "other"},
		}}
		b := &Run{Results: []RankerResult{{Ranker: "new"}, {Ranker: "m", Measures: []Measure{{Name: "map", Mean: 3, PerQuery: vb}}}}}
		want := Comparison{RankerA: "m", RankerB: "m", Measure: "map", A: 1, B: 3, Difference: 2}
		for _, x := range va {
			for _, y := range vb {
				switch {
				case x.Query != y.Query:
				case y.Value > x.Value:
					want.Wins++
				case y.Value < x.Value:
					want.Losses++
				case y.Value == x.Value:
					want.Ties++
				}
			}
		}
		got := Compare(a, b)
		if d := cmp.Diff(&Diff{Comparisons: []Comparison{want}, OnlyA: []string{"other"}, OnlyB: []string{"new"}}, got, equalNumbers, cmpopts.IgnoreFields(Diff{}, "Changes")); d != "" {
			t.Fatal(d)
		}
	}
}

// Claim: single rankers of different names are compared; several are not guessed at.
func TestComparePairs(t *testing.T) {
	run := func(names ...string) *Run {
		r := new(Run)
		for _, n := range names {
			r.Results = append(r.Results, RankerResult{Ranker: n, Measures: []Measure{{Name: "map"}}})
		}
		return r
	}
	if d := Compare(run("a"), run("b")); len(d.Comparisons) != 1 || d.Comparisons[0].RankerB != "b" || d.OnlyA != nil || d.OnlyB != nil {
		t.Errorf("%+v", d)
	}
	if d := Compare(run("a", "b"), run("c")); d.Comparisons != nil || len(d.OnlyA) != 2 || len(d.OnlyB) != 1 {
		t.Errorf("%+v", d)
	}
	if d := Compare(run(), run("c")); d.Comparisons != nil || len(d.OnlyB) != 1 {
		t.Errorf("%+v", d)
	}
}
