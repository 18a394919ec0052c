package trial

import (
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/gonum/stat"

	"github.com/listwise/listwise/click"
	"github.com/listwise/listwise/internal/testing/long"
)

var began = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// visit returns a page of a user with clicks on its first documents.
func visit(user, arm string, at time.Duration, clicks int) *click.Page {
	p := page("abcde", "abcde"[:clicks])
	p.User, p.Experiment, p.Arm, p.Time = user, "ab", arm, began.Add(at)
	return p
}

func measures(t *testing.T, list string) []Measure {
	t.Helper()
	var all []Measure
	for name := range strings.SplitSeq(list, ",") {
		m, err := ParseMeasure(name)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, m)
	}
	return all
}

func compare(t *testing.T, s *Split, plan Plan, pages ...*click.Page) *Result {
	t.Helper()
	for _, p := range pages {
		if err := s.Add(p); err != nil {
			t.Fatal(err)
		}
	}
	r, err := s.Compare(plan)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Claim: measures are sums or means over a user's pages, then means over users, computed by hand.
func TestMeasures(t *testing.T) {
	third := visit("a1", "a", 2, 0)
	third.Clicks[2] = 3
	r := compare(t, &Split{Measures: measures(t, "clicks,clicked-pages,clicks@2,rr,abandonment")}, Plan{},
		visit("a1", "a", 0, 0), visit("a1", "a", 1, 3), third, visit("a2", "a", 3, 1),
		visit("b1", "b", 4, 0), visit("b2", "b", 5, 5), visit("c1", "a", 6, 5), visit("c1", "b", 7, 5))
	if r.Several != 1 || r.Arms[0].Users != 2 || r.Arms[0].Pages != 4 || r.Arms[1].Pages != 2 {
		t.Errorf("found %+v, %d users of several arms", r.Arms, r.Several)
	}
	for i, want := range [][2]float64{{(4. + 1) / 2, 2.5}, {(2. + 1) / 2, 0.5}, {(2. + 1) / 2, 1}, {((0+1+1./3)/3 + 1) / 2, 0.5}, {(1./3 + 0) / 2, 0.5}} {
		table := r.Tables[i]
		if d := table.Differences[0]; math.Abs(table.Means[0]-want[0]) > 1e-15 || table.Means[1] != want[1] || d.Arm != "b" || d.Baseline != "a" || math.Abs(d.Plain.Mean-want[1]+want[0]) > 1e-15 {
			t.Errorf("%s: found %+v, expected %v", table.Measure, table, want)
		}
	}
	for _, name := range []string{"clicks@0", "clicks@02", "ctr", ""} {
		if _, err := ParseMeasure(name); err == nil {
			t.Errorf("measure %q: found no error", name)
		}
	}
}

// Claim: the split check finds an arm of 52 % of 20,000 users, an arm that began late, shares that were
// exchanged half-way, and nothing wrong in sound splits, equal or not.
func TestSplitChecks(t *testing.T) {
	const n = 20_000
	for name, c := range map[string]struct {
		arm    func(i int) float64 // the probability of b
		shares map[string]float64
		split  bool
		drift  bool
	}{
		"even":      {func(int) float64 { return 0.5 }, nil, true, true},
		"9:1":       {func(int) float64 { return 0.1 }, map[string]float64{"a": 9, "b": 1}, true, true},
		"52:48":     {func(i int) float64 { return float64(i % 25 / 13) }, nil, false, false},
		"late":      {func(i int) float64 { return math.Min(0.5, math.Max(0, float64(i-n/20))) }, nil, false, false},
		"exchanged": {func(i int) float64 { return 0.4 + 0.2*float64(i/(n/2)) }, nil, true, false},
	} {
		rng := rand.New(rand.NewPCG(5, 5))
		s := &Split{Measures: measures(t, "clicks")}
		for i := range n {
			arm := "a"
			if rng.Float64() < c.arm(i) {
				arm = "b"
			}
			if err := s.Add(visit(strconv.Itoa(i), arm, time.Duration(i)*time.Second, 0)); err != nil {
				t.Fatal(err)
			}
		}
		r, err := s.Compare(Plan{Shares: c.shares})
		if err != nil {
			t.Fatal(err)
		}
		if (r.Split.P >= LeastP) != c.split || (r.Drift.P >= LeastP) != c.drift || r.Sound() != (c.split && c.drift) {
			t.Errorf("%s: found p %v and %v", name, r.Split.P, r.Drift.P)
		}
	}
}

// study draws users whose clicks before and in an experiment go together. known is the share of users with a
// history, lift the effect of arm b.
func study(rng *rand.Rand, users int, known, lift float64) (values, before Column, pages []*click.Page) {
	values, before = Column{Name: "value", Of: map[string]float64{}}, Column{Name: "before", Of: map[string]float64{}}
	for i := range users {
		name, x := strconv.Itoa(i), rng.ExpFloat64()+rng.ExpFloat64()
		y := 0.7*x + rng.NormFloat64()
		arm := "a"
		if i%2 == 1 {
			arm = "b"
			y += lift
		}
		values.Of[name] = y
		if rng.Float64() < known {
			before.Of[name] = x
		}
		pages = append(pages, visit(name, arm, time.Duration(i), 0))
	}
	return values, before, pages
}

// Claim: values before the experiment with correlation ρ reduce the variance of the difference by 1 − ρ²,
// keep its mean, and its intervals cover in 93 to 97 % of 2,000 experiments, also if half of the users have no history.
func TestCUPED(t *testing.T) {
	runs, slack := 300, 0.04 // of the coverage
	if long.Enabled() {
		runs, slack = 2000, 0.02
	}
	for _, known := range []float64{1, 0.5} {
		rng := rand.New(rand.NewPCG(6, 6))
		var plain, adjusted []float64
		covered, ratio, correlation := 0, 0.0, 0.0
		for range runs {
			values, before, pages := study(rng, 1000, known, 0.1)
			r := compare(t, new(Split), Plan{Values: []Column{values}, Before: &before}, pages...)
			d := r.Tables[0].Differences[0]
			plain, adjusted = append(plain, d.Plain.Mean), append(adjusted, d.Adjusted.Mean)
			if i := d.Adjusted.Interval; i.Low <= 0.1 && 0.1 <= i.High {
				covered++
			}
			ratio += d.Adjusted.Variance / float64(runs)
			correlation += d.Adjusted.Correlation / float64(runs)
		}
		v0, v1 := stat.Variance(plain, nil), stat.Variance(adjusted, nil)
		mean, se := stat.MeanStdDev(adjusted, nil)
		t.Logf("known %v: variance %.5f and %.5f, ratio %.3f (reported %.3f, 1 − ρ² %.3f), mean %.4f, covers %.4f",
			known, v0, v1, v1/v0, ratio, 1-correlation*correlation, mean, float64(covered)/float64(runs))
		off := 5 * math.Sqrt(2/float64(runs))
		if math.Abs(v1/v0/ratio-1) > off || math.Abs(ratio-(1-correlation*correlation)) > 0.02 || known == 1 && ratio > 0.56 ||
			math.Abs(mean-0.1) > 4*se/math.Sqrt(float64(runs)) || math.Abs(float64(covered)/float64(runs)-0.95) > slack {
			t.Errorf("known %v: found variances %v and %v, reported ratio %v, correlation %v, mean %v, %d covered of %d", known, v0, v1, ratio, correlation, mean, covered, runs)
		}
	}
}

// Claim: a measure's own value over the days before the experiment is the history, from any experiment.
// Earlier pages are left out.
func TestHistory(t *testing.T) {
	var pages []*click.Page
	rng := rand.New(rand.NewPCG(7, 7))
	x, y := map[string]float64{}, map[string][]float64{}
	for i := range 200 {
		name, arm, likes := strconv.Itoa(i), []string{"a", "b"}[i%2], rng.IntN(5)
		before := visit(name, "", -time.Hour, likes)
		before.Experiment = "earlier"
		after := likes
		if rng.IntN(2) == 0 {
			after = min(likes+1, 5)
		}
		pages = append(pages, visit(name, "", -48*time.Hour, 5), before, visit(name, arm, time.Duration(i)*time.Second, after))
		x[name], y[arm] = float64(likes), append(y[arm], float64(after))
	}
	r := compare(t, &Split{Experiment: "ab", Measures: measures(t, "clicks"), Start: began, History: 24 * time.Hour}, Plan{}, pages...)
	got := r.Tables[0].Differences[0]
	values := Column{Name: "y", Of: map[string]float64{}}
	for i := range 200 {
		values.Of[strconv.Itoa(i)] = y[[]string{"a", "b"}[i%2]][i/2]
	}
	want := compare(t, &Split{Experiment: "ab"}, Plan{Values: []Column{values}, Before: &Column{Of: x}}, pages...).Tables[0].Differences[0]
	if *got.Adjusted != *want.Adjusted || got.Adjusted.Known != 200 || !(got.Adjusted.Variance < 0.3) {
		t.Errorf("found %+v, expected %+v", got.Adjusted, want.Adjusted)
	}
}

// Claim: of A/A experiments that are looked at 39 times from 200 users an arm on, the confidence sequence rejects
// at most 5 %, and t tests more than 20 %.
func TestSequentialSplit(t *testing.T) {
	runs := 20
	if long.Enabled() {
		runs = 1000
	}
	rng := rand.New(rand.NewPCG(8, 8))
	sequences, tests := 0, 0
	for range runs {
		s, a, b := &Split{Measures: measures(t, "clicks")}, false, false
		for i := 1; i <= 8000; i++ {
			clicks := 0
			if rng.IntN(5) < 2 {
				clicks = 1 + rng.IntN(4)
			}
			if err := s.Add(visit(strconv.Itoa(i), []string{"a", "b"}[i%2], time.Duration(i)*time.Second, clicks)); err != nil {
				t.Fatal(err)
			}
			if i < 400 || i%200 != 0 {
				continue
			}
			r, err := s.Compare(Plan{Planned: 2000})
			if err != nil {
				t.Fatal(err)
			}
			d := r.Tables[0].Differences[0]
			a = a || d.Sequence.Interval.Low > 0 || d.Sequence.Interval.High < 0
			b = b || d.Plain.P < 0.05
		}
		if a {
			sequences++
		}
		if b {
			tests++
		}
	}
	t.Logf("%d runs: sequences %d, tests %d", runs, sequences, tests)
	if float64(sequences) > 0.05*float64(runs) || float64(tests) < 0.15*float64(runs) {
		t.Errorf("of %d experiments %d sequences and %d tests reject", runs, sequences, tests)
	}
	if d := compare(t, &Split{Measures: measures(t, "rr")}, Plan{Planned: 100}, visit("1", "a", 0, 1), visit("2", "a", 0, 1), visit("3", "b", 0, 0), visit("4", "b", 0, 1)).Tables[0].Differences[0]; !math.IsInf(d.Sequence.Interval.High, 1) {
		t.Errorf("two users: found the interval %v, expected none", d.Sequence.Interval)
	}
}

// Claim: what cannot be tested is refused.
func TestSplitRefuses(t *testing.T) {
	two := func() *Split {
		s := &Split{Measures: measures(t, "clicks")}
		for i := range 4 {
			if err := s.Add(visit(strconv.Itoa(i), []string{"a", "b"}[i%2], 0, 1)); err != nil {
				t.Fatal(err)
			}
		}
		return s
	}
	for want, c := range map[string]Plan{
		`baseline: found no arm "c", expected a, b`:                                           {Baseline: "c"},
		`shares: found no share of the arm "b", expected one of each arm`:                     {Shares: map[string]float64{"a": 1}},
		`shares: found a share of "c", but no page of that arm`:                               {Shares: map[string]float64{"a": 1, "b": 1, "c": 1}},
		`users: column x: found no value of 3 users, such as "3", expected one of every user`: {Values: []Column{{Name: "x", Of: map[string]float64{"2": 1}}}},
	} {
		if _, err := two().Compare(c); err == nil || err.Error() != want {
			t.Errorf("found %v, expected %s", err, want)
		}
	}
	s := two()
	other := visit("5", "a", 0, 1)
	other.Experiment = "cd"
	if err := s.Add(other); err == nil || !strings.Contains(err.Error(), `found the experiments "ab" and "cd"`) {
		t.Errorf("two experiments: found %v", err)
	}
	one := &Split{Measures: measures(t, "clicks")}
	if err := one.Add(visit("1", "a", 0, 1)); err != nil {
		t.Fatal(err)
	}
	if _, err := one.Compare(Plan{}); err == nil {
		t.Error("one arm: found no error")
	}
	timeless := visit("1", "a", 0, 1)
	timeless.Time = time.Time{}
	if err := (&Split{Start: began}).Add(timeless); err == nil {
		t.Error("a page without time: found no error")
	}
}
