package papers

import (
	"errors"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/listwise/listwise/internal/testing/long"
)

// small makes a sweep quick.
func small(s sweep) sweep {
	s.size = govSize{queries: 15, docs: 30}
	s.seeds = 2
	s.fixed = with(with(s.fixed, "C", "0.01", "1"), "steps", "10")
	if s.axis == "samples" {
		s.values = []float64{20, 60, 100}
	} else {
		s.fixed["samples"] = []string{"60"}
	}
	return s
}

// Each sweep has a row a point and measure, says that its data are made, and
// gives the same bytes with any number of jobs.
func TestSweepsOnSyntheticData(t *testing.T) {
	long.Test(t)
	for _, s := range []sweep{small(figure4()), small(figure5()), small(figure6())} {
		t.Run(s.Name, func(t *testing.T) {
			r := reportOf(t, s.study(), Options{Seed: 2, Jobs: 1})
			if got := len(r.Sheets[0].Rows); got != len(s.values)*len(reported) {
				t.Errorf("%d rows", got)
			}
			text := everything(t, r)
			if !strings.Contains(r.Title, "synthetic") || !strings.Contains(r.Plots[0].Title, "synthetic") || !strings.Contains(text, "not comparable with the paper's") {
				t.Error("title, plot or notes do not say that the data are synthetic")
			}
			if text != everything(t, reportOf(t, s.study(), Options{Seed: 2, Jobs: 3})) {
				t.Error("three jobs give another report than one")
			}
		})
	}
}

// Mean and deviation over seeds come from the columns of the single seeds, and a
// seed's numbers are those of a run with that seed alone.
func TestSweepSeeds(t *testing.T) {
	dir := t.TempDir()
	writeFolds(t, dir, 15, 1)
	s := small(figure5())
	both := reportOf(t, s.study(), Options{Data: dir, Seed: 7})
	s.seeds = 1
	second := reportOf(t, s.study(), Options{Data: dir, Seed: 8})
	for i, row := range both.Sheets[0].Rows {
		one, two := row[6].(float64), row[7].(float64)
		if row[3] != mean([]float64{one, two}) || row[4] != sd([]float64{one, two}) {
			t.Errorf("%v: mean and deviation are not those of the seeds", row)
		}
		if want := second.Sheets[0].Rows[i][6]; two != want {
			t.Errorf("%v: the second seed alone gives %v", row, want)
		}
	}
}

// The paper's numbers stand beside the right skews.
func TestFigure6Published(t *testing.T) {
	r := reportOf(t, small(figure6()).study(), Options{Seed: 8})
	for _, c := range []struct {
		skew, measure string
		want          any
	}{{"-20", "map", 0.827}, {"0", "ndcg@10", 0.124}, {"5", "map", 0.033}, {"5", "ndcg@1", nil}} {
		if got := cell(t, r.Sheets[0], "paper_hp2004", "synthetic gov1", c.skew, c.measure); got != c.want {
			t.Errorf("k = %s, %s: %v, printed %v", c.skew, c.measure, got, c.want)
		}
	}
}

// A sweep on a folder takes HP2004 where there is a choice, the set asked for, or
// the first.
func TestSweepChoosesItsSet(t *testing.T) {
	dir := setsOf(t, "OHSUMED", "TD2003")
	for _, c := range []struct{ set, want string }{{"", "TD2003"}, {"OHSUMED", "OHSUMED"}} {
		data, err := hp2004(Options{Data: dir, Set: c.set}, govSize{})
		if err != nil || data.name != c.want || !strings.Contains(data.about, "not the paper's HP2004") {
			t.Errorf("--set %q: %v, %v", c.set, data, err)
		}
	}
	writeFolds(t, dir+"/hp2004", 9, 1)
	if data, err := hp2004(Options{Data: dir}, govSize{}); err != nil || data.name != "HP2004" || data.about != "" {
		t.Errorf("%v, %v", data, err)
	}
	var input *InputError
	if _, err := hp2004(Options{Set: "HP2004"}, govSize{}); !errors.As(err, &input) {
		t.Errorf("a set without a folder: %v", err)
	}
}

// Plain sums lose all terms at k = 5, where no ranking of the sample is near the ideal one. An
// optimiser without a guard then has no weights, in every fold. It ranks no better than the
// order of the file. At k = −20 the ideal ranking keeps the sums from vanishing. Log-sum-exp
// fails nowhere.
func TestFigure6Blocks(t *testing.T) {
	w := small(figure6())
	w.size = govSize{queries: 30, docs: 60}
	s := w.study()
	found, err := s.train(t.Context(), Options{Seed: 8})
	if err != nil {
		t.Fatal(err)
	}
	v := &found.columns[0].views[0]
	feature := v.trivial["map"][0].each
	for k, name := range append([]string{"log-sum-exp"}, found.blockNames()...) {
		at := k * found.points()
		want := ClaimFailed
		if name == "naive, unguarded" {
			want = ClaimHeld
		}
		if got := v.fails(at, at+4, feature); got != want {
			t.Errorf("%s: that training fails at k = 5 %s", name, got)
		}
	}
	if len(found.blockNames()) != 3 || found.points() != 5 {
		t.Errorf("blocks %v of %d points", found.blockNames(), found.points())
	}
}

// Accuracy is near saturation where it increased and no longer does. It is not where it increases
// to the end, nor where it is equal, or noise, at all sizes of the sample.
func TestSaturated(t *testing.T) {
	for _, c := range []struct {
		levels []float64
		noise  float64
		want   FindVerdict
	}{
		{[]float64{0, 0.1, 0.1}, 0.001, ClaimHeld},
		{[]float64{0, 0.1, 0.2}, 0.001, ClaimFailed},
		{[]float64{0, 0.1, 0.1}, 0.1, ClaimUndecided},
		{[]float64{0.1, 0.1, 0.1}, 0.001, ClaimUndecided},
		{[]float64{0.1, 0, 0}, 0.001, ClaimUndecided},
		{[]float64{0.1, 0.1, 0.1}, 0, ClaimUndecided},
	} {
		rng := rand.New(rand.NewPCG(1, 1))
		s := &results{study: &study{}, columns: []*column{{source: source{name: "made"}, views: make([]view, 1)}}}
		v := &s.columns[0].views[0]
		for i, level := range c.levels {
			s.rows = append(s.rows, row{name: strconv.Itoa(i)})
			values := make(map[string]number)
			for _, m := range []string{"ndcg@10", "map"} {
				var n number
				for range 60 {
					n.each = append(n.each, level+c.noise*rng.NormFloat64())
				}
				values[m] = n
			}
			v.values = append(v.values, []map[string]number{values})
		}
		r := &Report{}
		saturated(s, r)
		if f := r.Findings[0]; f.Verdict != c.want {
			t.Errorf("accuracy %v with noise %v: %s (%s), expected %s", c.levels, c.noise, f.Verdict, f.Figure, c.want)
		}
	}
}

// That training fails at a point is neither held nor refuted by a trivial system in the place of
// both points, nor where the better point is not above the trivial system either. A number
// below half of the other's is no failure if it is above the trivial system.
func TestTrainingFails(t *testing.T) {
	each := func(shift, noise float64) []float64 {
		var values []float64
		for q := range 40 {
			values = append(values, 0.3+shift+noise*float64(q%2*2-1))
		}
		return values
	}
	rows := map[string][]float64{"trivial": each(0, 0.01), "below": each(-0.2, 0.02), "above": each(0.1, 0.05), "far": each(0.6, 0.02), "noisy": each(0.01, 0.2)}
	for _, c := range []struct {
		at, other string
		want      FindVerdict
	}{
		{"trivial", "trivial", ClaimUndecided}, {"below", "trivial", ClaimUndecided}, {"below", "below", ClaimUndecided}, {"below", "noisy", ClaimUndecided},
		{"noisy", "far", ClaimUndecided}, {"trivial", "far", ClaimHeld}, {"below", "above", ClaimHeld}, {"above", "far", ClaimFailed}, {"above", "trivial", ClaimFailed},
	} {
		v := &view{}
		for _, name := range []string{c.at, c.other} {
			v.values = append(v.values, []map[string]number{{"map": {each: rows[name]}}})
		}
		if got := v.fails(0, 1, rows["trivial"]); got != c.want {
			t.Errorf("%s against %s: that training fails %s, expected %s", c.at, c.other, got, c.want)
		}
	}
}
