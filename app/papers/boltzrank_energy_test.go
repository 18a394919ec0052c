package papers

import (
	"math"
	"strings"
	"testing"

	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/internal/random"
	"github.com/listwise/listwise/learn/loss"
)

// quickEnergy is the experiment with few settings and small made data.
func quickEnergy() study {
	s := boltzRankEnergy(govSize{queries: 15, docs: 30})
	for i := range s.rows {
		r := &s.rows[i]
		r.seeds = 0
		switch r.method {
		case "boltzrank1":
			r.grid = with(r.grid, "C", "1")
			if r.grid["alpha"] != nil {
				r.grid["alpha"], r.seeds = r.grid["alpha"][1:2], 2
			}
		case "boltzrank2":
			r.grid = map[string][]string{"C": {"3"}, "lambda": {"0.5"}, "epochs": {"1"}, "bag": {"1"}, "hidden": {"2"}, "pair_hidden": {"2"}, "samples": {"10"}}
		case "mle", "convexloss":
			r.grid["C"] = r.grid["C"][2:4]
		}
	}
	return s
}

// Claim: the rows train what they say, made data join where TD2004 is missing, and claims about
// a set that is missing are decided on one draw at most.
func TestBoltzRankEnergy(t *testing.T) {
	s := quickEnergy()
	for _, c := range []struct{ row, setting, value string }{
		{energyAllPairs, "energy", "linear"}, {energyGoodBad, "energy", "graded"},
		{energyMLE, "kappa", "one"}, {energyMLE + energyScaled, "kappa", "pairs"}, {energyConvex, "kappa", "one"}, {energyConvex + energyScaled, "kappa", "pairs"},
	} {
		e, err := s.rows[s.rowNamed(c.row)].entry(measure.Convention{})
		if err != nil {
			t.Fatal(err)
		}
		if got := e.Settings[0].Text(c.setting); got != c.value {
			t.Errorf("%s has %s=%s, expected %s", c.row, c.setting, got, c.value)
		}
	}
	r := reportOf(t, s, Options{Data: setsOf(t, "OHSUMED", "TD2003"), Seed: 3})
	at := func(set, row, m string) float64 { return cell(t, r.Sheets[0], "ours", set, row, m).(float64) }
	if at("OHSUMED", energyAllPairs, "map") == at("OHSUMED", energyGoodBad, "map") {
		t.Error("the energies give the same numbers")
	}
	if at("OHSUMED", energyMLE, "map") == at("OHSUMED", energyMLE+energyScaled, "map") {
		t.Error("the scales give the same numbers")
	}
	absent, decided := 0, 0
	for _, f := range r.findings() {
		made := strings.Contains(f.Claim, "TD2004")
		if made && (f.Verdict == ClaimHeld || f.Verdict == ClaimFailed) {
			t.Errorf("%+v", f)
		}
		if made {
			absent++
		} else {
			decided++
		}
	}
	if absent != 5 || decided != 4 {
		t.Errorf("%d claims about TD2004 and %d others, expected 5 and 4", absent, decided)
	}
	if text := everything(t, r); !strings.Contains(text, "SYNTHETIC data, not TD2004") || strings.Contains(text, "NaN") {
		t.Error("the report does not say what is made, or has numbers that are none")
	}
	_, missing, err := s.data(Options{Data: setsOf(t, "TD2004", "OHSUMED")})
	if found, _, _ := s.data(Options{Data: setsOf(t, "TD2004", "OHSUMED")}); err != nil || len(found) != 2 || len(missing) != 0 {
		t.Errorf("with TD2004 there: %d sets, missing %v, %v", len(found), missing, err)
	}
}

// Claim: an energy over all pairs is the same with a linear g and with the sign, but for a
// factor of the query, m/2.
func TestEnergiesOfAllPairs(t *testing.T) {
	rng := random.Stream(1, "test", "energies")
	grades := []float64{0, 2, 1, 0, 0, 1, 0}
	scores := make([]float64, len(grades))
	gaussian(scores, rng)
	value := func(l loss.BoltzRank) float64 {
		b, err := l.Bind(grades, random.Stream(2, "test", "rankings"))
		if err != nil {
			t.Fatal(err)
		}
		return b.Eval(scores, nil, new(loss.Scratch))
	}
	linear := value(loss.BoltzRank{Energy: loss.LinearEnergy, Alpha: 0.4})
	sign := value(loss.BoltzRank{Energy: loss.SignEnergy, Alpha: 0.4 * float64(len(grades)) / 2})
	if math.Abs(linear-sign) > 1e-12 {
		t.Errorf("linear %v, sign %v", linear, sign)
	}
	if graded := value(loss.BoltzRank{Energy: loss.GradedEnergy, Alpha: 0.4}); math.Abs(linear-graded) < 1e-6 {
		t.Errorf("the energy of differently graded pairs is that of all: %v", graded)
	}
}
