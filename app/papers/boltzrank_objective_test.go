package papers

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/listwise/listwise/eval/measure"
)

// The rows train what they say: λ, the measure and the number of rankings of their entries
// are those of the names, and rankings and λ change the numbers.
func TestBoltzObjective(t *testing.T) {
	s := boltzRankObjective()
	for _, c := range []struct{ name, lambda, samples, measure string }{
		{boltzBoth, "0.5", "100", "ndcg@10"}, {boltzGain, "1", "100", "ndcg@10"}, {boltzBothTop, "0.5", "100", "ndcg@1"}, {boltzGainTop, "1", "100", "ndcg@1"},
		{boltzEntropy, "0", "100", "ndcg@10"}, {boltzFewDraws, "0.5", "20", "ndcg@10"}, {boltzManyDraws, "0.5", "1000", "ndcg@10"},
	} {
		e, err := s.rows[s.rowNamed(c.name)].entry(measure.Convention{})
		if err != nil {
			t.Fatal(err)
		}
		v := e.Settings[0]
		if v.Text("lambda") != c.lambda || v.Text("samples") != c.samples || e.Measure.Name() != c.measure {
			t.Errorf("%s: %v with %s", c.name, v, e.Measure.Name())
		}
	}
	s.seeds = 2
	for i := range s.rows {
		s.rows[i].grid = with(s.rows[i].grid, "C", "1")
	}
	s.rows[s.rowNamed(boltzManyDraws)].grid["samples"] = []string{"60"}
	r := reportOf(t, s, Options{Data: setsOf(t, "OHSUMED", "TD2003"), Seed: 3})
	at := func(row string, seed int, m string) float64 {
		return cell(t, r.Sheets[0], "mean", "OHSUMED", row, seed, m).(float64)
	}
	alike := func(a, b string, sa, sb int) bool {
		same := true
		for _, m := range s.measures {
			same = same && at(a, sa, m) == at(b, sb, m)
		}
		return same
	}
	for _, other := range []string{boltzGain, boltzEntropy, boltzFewDraws} {
		if alike(boltzBoth, other, 1, 1) {
			t.Errorf("%s has the numbers of %s", other, boltzBoth)
		}
	}
	if alike(boltzBoth, boltzBoth, 1, 2) {
		t.Error("another seed's rankings give the same numbers")
	}
	if n := len(r.findings()); n != 4 || !strings.Contains(r.findings()[3].Figure, "1000 less 100: NDCG@1") {
		t.Errorf("findings %v", r.findings())
	}
	for i, n := range r.Notes {
		if slices.Contains(r.Notes[:i], n) {
			t.Errorf("noted twice: %s", n)
		}
	}
	d := cell(t, r.Sheets[1], "difference", "OHSUMED", "published", "letor3", boltzBoth, boltzGain, "map").(float64)
	want := 0.0
	for seed := 1; seed <= 2; seed++ {
		pooled := func(row string) float64 {
			return cell(t, r.Sheets[0], "pooled", "OHSUMED", row, seed, "map").(float64)
		}
		want += (pooled(boltzBoth) - pooled(boltzGain)) / 2
	}
	if math.Abs(d-want) > 1e-12 {
		t.Errorf("difference %v, of the pooled means %v", d, want)
	}
}
