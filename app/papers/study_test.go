package papers

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/listwise/listwise/eval/measure"
)

// declared is a study with every way to train rows: of one group, by another choice, with
// another scorer, with two seeds, and with published numbers alone.
func declared() study {
	few := map[string][]string{"C": {"0.1", "10"}}
	return study{
		Experiment: Experiment{Name: "declared", Title: "a study"},
		data:       letorSets.find,
		sizes:      letorSetList{{name: "mine", queries: 12}},
		rows: []row{
			{name: "one", method: "listnet", grid: few},
			{name: "printed"},
			{name: "two", method: "listmle", grid: with(few, "ties", "random"), group: "drawn", seeds: 2, against: "printed"},
			{name: "three", method: "ranksvm", grid: map[string][]string{"C": {"0.1"}}, chosenBy: "ndcg@5"},
		},
		chosenBy: "map",
		measures: []string{"ndcg@5", "map"},
		records:  "{set}/{group}{seed}",
		published: func(string) numbers {
			return numbers{"printed": {"map": 0.3}, "three": {"map": 1.1, "ndcg@5": 0.01}}
		},
		parts: []part{
			command, numberSheet{fields: []field{dataField, methodField, measureField, oursField, publishedField}}, claims,
		},
	}
}

// Rows that have scorer, choice and group in common are tuned together; each has a result
// a seed.
func TestStudyTrainsItsRows(t *testing.T) {
	dir, records := filepath.Join(t.TempDir(), "mine"), t.TempDir()
	writeFolds(t, dir, 12, 3)
	s := declared()
	for k, want := range [][][]int{{{0}, {2}, {3}}, {{2}}} {
		if got := s.groups(nil, k); !slices.EqualFunc(got, want, slices.Equal[[]int]) {
			t.Errorf("seed %d: rows %v are tuned together, expected %v", k, got, want)
		}
	}
	found, err := s.train(context.Background(), Options{Data: dir, Seed: 5, Records: records})
	if err != nil {
		t.Fatal(err)
	}
	c := found.columns[0]
	for i, want := range []int{1, 0, 2, 1} {
		if len(c.rows[i]) != want || len(c.views[0].values[i]) != want {
			t.Errorf("%s has %d results, expected %d", s.rows[i].name, len(c.rows[i]), want)
		}
	}
	for _, name := range []string{"mine/5/one", "mine/5/three", "mine/drawn5/two", "mine/drawn6/two"} {
		if _, err := os.Stat(filepath.Join(records, filepath.FromSlash(name))); err != nil {
			t.Error(err)
		}
	}
	means := c.views[0].means(2, "map")
	if got := c.views[0].mean(2, "map"); len(means) != 2 || means[0] == means[1] || got != (means[0]+means[1])/2 {
		t.Errorf("mean %v of the seeds' %v", got, means)
	}
	if !math.IsNaN(c.views[0].mean(1, "map")) {
		t.Error("a row without a method has a number")
	}
}

// Ours are tune's, a row's claims are about the published row it names, and what was not
// published or not computed is no claim.
func TestStudyReports(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "mine")
	writeFolds(t, dir, 12, 3)
	s := declared()
	r := reportOf(t, s, Options{Data: dir, Seed: 8})
	alone, _ := tunedAlone(t, dir, s.rows[0], "map", 8)
	if got := cell(t, r.Sheets[0], "ours", "mine", "one", "map"); got != alone.Measures[3].Mean {
		t.Errorf("MAP is %v, tune alone gives %v", got, alone.Measures[3].Mean)
	}
	if ours, printed := cell(t, r.Sheets[0], "ours", "mine", "printed", "map"), cell(t, r.Sheets[0], "published", "mine", "printed", "map"); ours != nil || printed != 0.3 {
		t.Errorf("ours %v, published %v, expected none and 0.3", ours, printed)
	}
	var about []string
	for _, c := range r.Claims {
		about = append(about, c.Row+" "+c.Measure+" "+string(c.Verdict))
	}
	want := []string{"two MAP not informative", "three NDCG@5 better", "three MAP worse"}
	if !slices.Equal(about, want) {
		t.Errorf("claims %q, expected %q", about, want)
	}
	s.sizes[0].queries++
	for _, c := range reportOf(t, s, Options{Data: dir, Seed: 8}).Claims {
		if c.Verdict != NotComparable || c.Why != "mine has 12 queries here, the published set 13: other data of that name" {
			t.Errorf("%+v is judged on other data", c)
		}
	}
}

// An entry has the measure that its row or its method trains for.
func TestRowEntry(t *testing.T) {
	for _, c := range []struct {
		row  row
		want string
	}{
		{row{method: "adarank", training: "ndcg@10"}, "ndcg@10"},
		{row{method: "boltzrank1"}, "ndcg@10"},
		{row{method: "ranksvm"}, ""},
	} {
		e, err := c.row.entry(measure.Convention{})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if e.Measure != nil {
			got = e.Measure.Name()
		}
		if got != c.want {
			t.Errorf("%s trains for %q, expected %q", c.row.method, got, c.want)
		}
	}
	if _, err := (&row{method: "no such method"}).entry(letor3); err == nil {
		t.Error("an unknown method gives an entry")
	}
}
