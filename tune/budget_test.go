package tune

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"
)

// budgeted is a tuning of two entries with grids of 6 and 2 settings.
func budgeted(t *testing.T, b Budget) Config {
	return Config{Folds: folds(t), Seed: 3, Jobs: 2, Budget: b, Entries: []Entry{
		entry(t, "mle", map[string][]string{"C": {"0.01", "0.1", "1", "10", "100", "1000"}}),
		entry(t, "l2", map[string][]string{"C": {"0.1", "10"}, "restarts": {"0"}}),
	}}
}

func settingsOf(r *Row) []string {
	var all []string
	for _, s := range r.Entry.Settings {
		all = append(all, s.Text("C"))
	}
	return all
}

// Claim: a budget of settings tries so many of each grid, in the grid's order, the same with the
// same seed, and chooses among these what trying only them would have chosen.
func TestBudgetOfSettings(t *testing.T) {
	first, err := Run(context.Background(), budgeted(t, Budget{Settings: 3}))
	if err != nil {
		t.Fatal(err)
	}
	mle, l2 := &first.Rows[0], &first.Rows[1]
	tried := settingsOf(mle)
	if len(tried) != 3 || mle.Grid != 6 || len(l2.Entry.Settings) != 2 || l2.Grid != 2 || len(mle.Folds[0].Tried) != 3 {
		t.Fatalf("tried %v of %d and %v of %d", tried, mle.Grid, settingsOf(l2), l2.Grid)
	}
	if order := []string{"0.01", "0.1", "1", "10", "100", "1000"}; !slices.IsSortedFunc(tried, func(a, b string) int { return slices.Index(order, a) - slices.Index(order, b) }) {
		t.Errorf("tried %v, not in the order of the grid", tried)
	}
	again, err := Run(context.Background(), budgeted(t, Budget{Settings: 3}))
	if err != nil {
		t.Fatal(err)
	}
	other := budgeted(t, Budget{})
	other.Entries[0] = entry(t, "mle", map[string][]string{"C": tried})
	alone, err := Run(context.Background(), other)
	if err != nil {
		t.Fatal(err)
	}
	for k := range mle.Folds {
		for _, r := range []*Result{again, alone} {
			if a, b := mle.Folds[k], r.Rows[0].Folds[k]; !slices.Equal(a.Tried, b.Tried) || a.Chosen.String() != b.Chosen.String() {
				t.Errorf("%s: tried %v and chose %v, another time %v and %v", a.Fold, a.Tried, a.Chosen, b.Tried, b.Chosen)
			}
		}
	}
	seeds := map[string]bool{}
	for seed := range uint64(8) {
		c := budgeted(t, Budget{Settings: 3})
		c.complete()
		c.Seed = seed
		c.draw()
		seeds[strings.Join(settingsOf(&Row{Entry: c.Entries[0]}), " ")] = true
	}
	if len(seeds) < 3 {
		t.Errorf("eight seeds draw %v", seeds)
	}
}

// Claim: when the time is over no further setting is begun, what was tried was tried on all
// folds, and the results are those of these settings; time enough tries everything.
func TestBudgetOfTime(t *testing.T) {
	c := budgeted(t, Budget{Time: time.Nanosecond})
	c.Jobs = 1
	short, err := Run(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	for i := range short.Rows {
		row := &short.Rows[i]
		if len(row.Entry.Settings) != 1 || row.Grid != []int{6, 2}[i] {
			t.Fatalf("%s: tried %v of %d", row.Entry.Name, settingsOf(row), row.Grid)
		}
		if len(row.Folds) != len(c.Folds) {
			t.Errorf("%s: %d folds", row.Entry.Name, len(row.Folds))
		}
		for _, f := range row.Folds {
			if len(f.Tried) != 1 || f.Chosen.String() != row.Entry.Settings[0].String() || f.Validation != f.Tried[0] {
				t.Errorf("%s, %s: tried %v and chose %v", row.Entry.Name, f.Fold, f.Tried, f.Chosen)
			}
		}
	}
	long, err := Run(context.Background(), budgeted(t, Budget{Time: time.Hour}))
	if err != nil {
		t.Fatal(err)
	}
	all, err := Run(context.Background(), budgeted(t, Budget{}))
	if err != nil {
		t.Fatal(err)
	}
	for i := range all.Rows {
		for k := range all.Rows[i].Folds {
			if a, b := all.Rows[i].Folds[k], long.Rows[i].Folds[k]; !slices.Equal(a.Tried, b.Tried) || a.Chosen.String() != b.Chosen.String() {
				t.Errorf("%s, %s: with an hour's time %v, %v, without a budget %v, %v", all.Rows[i].Entry.Name, a.Fold, b.Tried, b.Chosen, a.Tried, a.Chosen)
			}
		}
	}
}

// Claim: a budget out of range is an error.
func TestBudgetErrors(t *testing.T) {
	for _, b := range []Budget{{Settings: -1}, {Time: -1}} {
		if _, err := Run(context.Background(), budgeted(t, b)); err == nil || !strings.Contains(err.Error(), "found a budget of ") {
			t.Errorf("error is %v", err)
		}
	}
}
