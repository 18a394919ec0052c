package tune

import (
	"context"
	"strings"
	"testing"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/learn/method"
)

// Claim: with folds and entries alone settings are chosen by MAP, and what is reported is
// that under its own convention; a fold without test data is measured on the validation
// data. What cannot be run is an error that says what to set.
func TestZeroConfig(t *testing.T) {
	c := Config{Folds: folds(t), Entries: []Entry{entry(t, "mle", map[string][]string{"C": {"0.1", "10"}})}, Jobs: 1}
	full := c
	full.Select, full.Measures, full.Convention = parse(t, "map")[0], parse(t, "map"), measure.LETOR3
	if got, want := digest(run(t, c)), digest(run(t, full)); got != want {
		t.Errorf("the configuration without measures gives\n%s\nwant\n%s", got, want)
	}

	bare := c
	bare.Folds, bare.Entries = nil, []Entry{{Settings: c.Entries[0].Settings, Method: c.Entries[0].Method}}
	for _, f := range c.Folds {
		bare.Folds = append(bare.Folds, Fold{Train: f.Train, Valid: f.Valid})
	}
	bare.Select = measure.MustParse("ndcg@3", measure.MSLR)
	r := run(t, bare)
	for k, f := range r.Rows[0].Folds {
		if f.Fold != c.Folds[k].Name || r.Rows[0].Entry.Name != "mle" || f.Test.TieNeutral(bare.Select) != f.Validation {
			t.Errorf("fold %s of %s is measured %v, chosen by %v", f.Fold, r.Rows[0].Entry.Name, f.Test.TieNeutral(bare.Select), f.Validation)
		}
	}
	if r.Threshold != 2 {
		t.Errorf("under mslr documents are relevant from grade %v", r.Threshold)
	}

	d := c.Folds[0].Train
	l2 := entry(t, "l2", nil)
	l2.Measure = nil
	for _, bad := range []struct {
		config Config
		want   string
	}{
		{Config{}, "0 folds and 0 methods, expected at least one of each"},
		{Config{Folds: []Fold{{}}, Entries: c.Entries}, "fold 1: found no training data or no validation data"},
		{Config{Folds: []Fold{{Name: "a", Train: d, Valid: d}, {Name: "a", Train: d, Valid: d}}, Entries: c.Entries}, `two folds are named "a"`},
		{Config{Folds: []Fold{{Train: new(dataset.Dataset), Valid: d}}, Entries: c.Entries}, "found no training data"},
		{Config{Folds: c.Folds, Entries: []Entry{{}}}, "found an entry without a name"},
		{Config{Folds: c.Folds, Entries: []Entry{{Name: "a"}}}, "a: no settings to try"},
		{Config{Folds: c.Folds, Entries: []Entry{{Name: "a", Settings: []Setting{own{}}}}}, "a: neither a method nor a plan"},
		{Config{Folds: c.Folds, Entries: []Entry{{Method: l2.Method, Settings: []Setting{own{}}}}}, "l2: found a setting of type tune.own"},
		{Config{Folds: c.Folds, Entries: []Entry{{Method: l2.Method, Settings: []Setting{method.Values{}}}}}, "l2: found no training measure, expected one such as ndcg@10"},
		{Config{Folds: c.Folds, Entries: []Entry{l2}}, "l2: found no training measure, expected one such as ndcg@10"},
	} {
		if _, err := Run(context.Background(), bad.config); err == nil || !strings.Contains(err.Error(), bad.want) {
			t.Errorf("error is %v, want %s in it", err, bad.want)
		}
	}
}
