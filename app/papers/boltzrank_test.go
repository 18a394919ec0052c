package papers

import (
	"context"
	"errors"
	"math"
	"path/filepath"
	"strings"
	"testing"
)

// quickBoltzRank are small trainings of every kind of scorer, and a row whose
// method does not exist.
func quickBoltzRank() study {
	net := map[string][]string{"epochs": {"2"}, "hidden": {"2"}, "C": {"1"}, "lambda": {"0.5"}, "samples": {"10"}}
	s := boltzRank()
	s.rows = []row{
		{name: "BoltzRank1", method: "boltzrank1", scorer: "net", grid: net},
		{name: "BoltzRank2", method: "boltzrank2", grid: with(net, "pair_hidden", "2")},
		{name: "FRank"},
		{name: "ListNet", method: "listnet", grid: map[string][]string{"C": {"1", "100"}}},
	}
	return s
}

// The numbers are those of tune.Run and of the paper, and the differences theirs.
func TestBoltzRankNumbers(t *testing.T) {
	dir := setsOf(t, "OHSUMED", "TD2003")
	r := reportOf(t, quickBoltzRank(), Options{Data: dir, Seed: 3})
	alone, _ := tunedAlone(t, filepath.Join(dir, "OHSUMED"), row{name: "alone", method: "listnet", grid: map[string][]string{"C": {"1", "100"}}}, "map", 3)
	sheet := r.Sheets[0]
	for _, m := range alone.Measures {
		if m.Measure.Name() == "ndcg@10" {
			continue
		}
		if got := cell(t, sheet, "ours", "OHSUMED", "ListNet", m.Measure.Name()); got != m.Mean {
			t.Errorf("%s is %v, tune alone gives %v", m.Measure.Name(), got, m.Mean)
		}
	}
	ours := cell(t, sheet, "ours", "OHSUMED", "BoltzRank2", "map").(float64)
	if p, d := cell(t, sheet, "paper", "OHSUMED", "BoltzRank2", "map"), cell(t, sheet, "difference", "OHSUMED", "BoltzRank2", "map"); p != 0.4604 || math.Abs(d.(float64)-(ours-0.4604)) > 1e-15 {
		t.Errorf("ours %v, paper %v, difference %v", ours, p, d)
	}
	if v := cell(t, sheet, "ours", "OHSUMED", "FRank", "ndcg@1"); v != nil {
		t.Errorf("FRank has the number %v, which nobody computed", v)
	}
	text := everything(t, r)
	for _, want := range []string{
		"OHSUMED has 15 queries here, the published set 106",
		"there is no such method here: FRank",
		"not found   TD2004",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the report does not say %q", want)
		}
	}
	if strings.Contains(text, "TD2003") {
		t.Error("a set that is not in the paper's table was used unasked")
	}
}

// Every tried setting is reported with its validation value, and one a fold is
// marked as chosen, with the highest of them.
func TestBoltzRankReportsWhatWasTried(t *testing.T) {
	dir := t.TempDir()
	writeFolds(t, dir, 12, 4)
	table := quickBoltzRank()
	table.rows = table.rows[3:]
	r := reportOf(t, table, Options{Data: dir, Set: "mine", Seed: 1})
	best, chosen := make(map[string]float64), make(map[string]float64)
	for _, row := range r.Sheets[1].Rows {
		fold, v := row[2].(string), row[4].(float64)
		best[fold] = max(best[fold], v)
		if row[5] == 1 {
			chosen[fold] = v
		}
	}
	if len(r.Sheets[1].Rows) != 2*3 || len(chosen) != 3 {
		t.Errorf("found %d settings and %d chosen ones, expected 2 a fold and 1 a fold", len(r.Sheets[1].Rows), len(chosen))
	}
	for fold, v := range best {
		if chosen[fold] != v {
			t.Errorf("%s: %v was chosen, %v was the best", fold, chosen[fold], v)
		}
	}
	if !strings.Contains(everything(t, r), "The paper has no numbers for mine.") {
		t.Error("nothing tells that the data are not the paper's")
	}
}

func TestBoltzRankNeedsItsSets(t *testing.T) {
	dir := t.TempDir()
	writeFolds(t, filepath.Join(dir, "TD2003"), 12, 2)
	_, err := quickBoltzRank().run(context.Background(), Options{Data: dir})
	var input *InputError
	if !errors.As(err, &input) || !strings.Contains(err.Error(), "neither OHSUMED nor TD2004") {
		t.Errorf("error is %v", err)
	}
}

// The embedded table is the paper's, row for row: each of its rows is one of the
// experiment's, and columns add up to sums taken apart from it.
func TestPublishedBoltzRank(t *testing.T) {
	sums := map[string]map[string]float64{ // over the six rows
		"OHSUMED": {"ndcg@1": 3.2568, "map": 2.7007},
		"TD2004":  {"ndcg@1": 2.6233, "map": 1.3370},
	}
	known := make(map[string]bool)
	s := boltzRank()
	for i := range s.rows {
		known[s.rows[i].name] = true
		if _, err := s.rows[i].entry(letor3); err != nil {
			t.Errorf("%s: %v", s.rows[i].name, err)
		}
	}
	for _, set := range boltzRankSets {
		rows := publishedBoltzRank(set)
		sum := make(map[string]float64)
		for name, values := range rows {
			if !known[name] {
				t.Errorf("the experiment has no row %s", name)
			}
			for _, m := range s.measures {
				if v, ok := values[m]; !ok || v <= 0 || v >= 1 {
					t.Errorf("%s, %s: %s is %v", set, name, m, v)
				}
				sum[m] += values[m]
			}
		}
		for m, want := range sums[set] {
			if math.Abs(sum[m]-want) > 1e-9 {
				t.Errorf("%s: %s sums to %v, expected %v", set, m, sum[m], want)
			}
		}
	}
}
