package papers

import (
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/listwise/listwise/eval/measure"
)

// quickBoltzSeeds are all rows with small networks, few epochs and two seeds.
func quickBoltzSeeds() study {
	s := boltzRankSeeds()
	s.seeds = 2
	for i := range s.rows {
		bag := "1"
		if s.rows[i].grid["bag"][0] != "1" {
			bag = "10"
		}
		s.rows[i].grid = map[string][]string{"epochs": {"4"}, "rate": {"0.1"}, "hidden": {"2"}, "C": {"1"}, "lambda": {"0.5"}, "samples": {"10"}, "bag": {bag}}
		if s.rows[i].method == "boltzrank2" {
			s.rows[i].grid["pair_hidden"] = []string{"2"}
		}
	}
	return s
}

// Every row is trained for its own discount and measured with both; ± is over the seeds;
// the paper's numbers stand below, and beside LETOR's discount alone.
func TestBoltzSeeds(t *testing.T) {
	s := quickBoltzSeeds()
	dir := setsOf(t, "OHSUMED", "TD2003")
	r := reportOf(t, s, Options{Data: dir, Seed: 3})
	if len(s.rows) != 8 {
		t.Fatalf("%d rows, expected 2 methods × 2 bags × 2 discounts", len(s.rows))
	}
	number := func(trained, measured string, seed int, m string) float64 {
		return cell(t, r.Sheets[0], "mean", "OHSUMED", "BoltzRank2", "10", trained, measured, seed, m).(float64)
	}
	for _, trained := range []string{"letor3", "standard"} {
		for seed := 1; seed <= 2; seed++ {
			for _, m := range []string{"ndcg@1", "map"} {
				if a, b := number(trained, "letor3", seed, m), number(trained, "standard", seed, m); a != b {
					t.Errorf("%s depends on the discount it is measured with: %v and %v", m, a, b)
				}
			}
			if a, b := number(trained, "letor3", seed, "ndcg@5"), number(trained, "standard", seed, "ndcg@5"); a == b {
				t.Errorf("NDCG@5 is %v with both discounts", a)
			}
		}
		if a, b := number(trained, "letor3", 1, "ndcg@5"), number(trained, "letor3", 2, "ndcg@5"); a == b {
			t.Errorf("two seeds give %v", a)
		}
	}
	if a, b := number("letor3", "letor3", 1, "ndcg@5"), number("standard", "letor3", 1, "ndcg@5"); a == b {
		t.Errorf("training for either discount gives %v", a)
	}
	var values []float64
	for seed := 1; seed <= 2; seed++ {
		values = append(values, number("letor3", "letor3", seed, "map"))
	}
	last := r.Tables[0].Rows[6] // BoltzRank2, bag 10, LETOR's
	if want := meanAndDeviation(values, 4); last[len(last)-1] != want || last[1] != "10" {
		t.Errorf("row %v, expected MAP %s", last, want)
	}
	if paper := r.Tables[0].Rows[9]; paper[2] != "paper" || paper[3] != "0.5681" || paper[6] != "" || paper[8] != "0.4604" {
		t.Errorf("the paper's row is %v", paper)
	}
	changes := boltzRankChanges(s.rows)
	if want := (pair{"BoltzRank2 bag=10 standard", "BoltzRank1 bag=10 standard"}); len(changes) != 12 || !slices.Contains(changes, want) {
		t.Errorf("single changes %v, expected 4 of each of three", changes)
	}
	if n := len(r.Tables[len(r.Tables)-1].Rows); n != 12 {
		t.Errorf("%d differences", n)
	}
}

// A row's convention is that of its training measure, and of nothing else.
func TestRowTrainsByItsConvention(t *testing.T) {
	r := row{method: "boltzrank1", trainsBy: "standard"}
	e, err := r.entry(letor3)
	if err != nil {
		t.Fatal(err)
	}
	if c := measure.ConventionOf(e.Measure).Name(); c != "standard" {
		t.Errorf("the training measure is in %s", c)
	}
	r.trainsBy = ""
	if e, err = r.entry(letor3); err != nil || measure.ConventionOf(e.Measure).Name() != "letor3" {
		t.Errorf("without one of its own it is %v (%v)", e.Measure, err)
	}
}

// The seeds' numbers are those of tune.Run, and survive an interruption.
func TestBoltzSeedsResume(t *testing.T) {
	s := quickBoltzSeeds()
	s.rows = s.rows[5:6]
	dir := filepath.Join(t.TempDir(), "mine")
	writeFolds(t, dir, 12, 2)
	checkResumes(t, s, Options{Data: dir, Seed: 5}, 2)
	r := reportOf(t, s, Options{Data: dir, Seed: 5})
	alone, _ := tunedAlone(t, dir, s.rows[0], "map", 6)
	got := cell(t, r.Sheets[0], "mean", "mine", "BoltzRank2", "1", "standard", "letor3", 2, "ndcg@5").(float64)
	if want := alone.Measures[1].Mean; math.Abs(got-want) > 1e-15 {
		t.Errorf("NDCG@5 of the second seed is %v, tune alone gives %v", got, want)
	}
	if text := everything(t, r); !strings.Contains(text, "The paper has no numbers for mine.") {
		t.Error("nothing tells that the data are not the paper's")
	}
}
