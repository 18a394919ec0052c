package policy

import (
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/listwise/listwise/click"
	"github.com/listwise/listwise/internal/parallel"
	"github.com/listwise/listwise/internal/random"
	"github.com/listwise/listwise/internal/testing/long"
)

// shop is a log of users with tastes, who click by a position-based model. The logging policy draws rankings of some
// orders of six documents for each of several queries.
type shop struct {
	users, queries int
	pages          int       // largest number of pages of a user
	theta          []float64 // of ranks
	gamma          [][]float64
	orders         [][][]int   // of queries
	mu             [][]float64 // of the orders
	best           [][]int     // the ranking of the evaluated policy, of queries
}

func newShop(rng *rand.Rand) *shop {
	s := &shop{users: 1000, queries: 4, pages: 9, theta: []float64{1, 0.5, 0.33}}
	for range s.queries {
		gamma := make([]float64, 6)
		for d := range gamma {
			gamma[d] = 0.05 + 0.35*rng.Float64()
		}
		s.gamma = append(s.gamma, gamma)
		var orders [][]int
		for range 5 {
			orders = append(orders, rng.Perm(6)[:3])
		}
		s.orders, s.mu = append(s.orders, orders), append(s.mu, []float64{0.4, 0.25, 0.15, 0.1, 0.1})
		s.best = append(s.best, orders[2])
	}
	return s
}

// truth is the value of the evaluated policy, averaged over users.
func (s *shop) truth() (sum float64) {
	for q := range s.queries {
		sum += s.value(q, s.best[q]) / float64(s.queries)
	}
	return sum
}

func (s *shop) value(q int, order []int) (sum float64) {
	for r, d := range order {
		sum += s.theta[r] * s.gamma[q][d]
	}
	return sum
}

func draw(rng *rand.Rand, p []float64) int {
	v := rng.Float64()
	for i, x := range p {
		if v < x {
			return i
		}
		v -= x
	}
	return len(p) - 1
}

// log draws the pages of a log. Users differ in how much they like all documents, so their pages are dependent.
func (s *shop) log(rng *rand.Rand) []*click.Page {
	var pages []*click.Page
	possible := make([][]click.Order, s.queries)
	for q, orders := range s.orders {
		for i, o := range orders {
			possible[q] = append(possible[q], click.Order{Docs: ids(o), Probability: s.mu[q][i]})
		}
	}
	for u := range s.users {
		taste := 0.4 + 1.2*rng.Float64()
		for range 1 + rng.IntN(s.pages) {
			q := rng.IntN(s.queries)
			i := draw(rng, s.mu[q])
			p := &click.Page{User: "u" + strconv.Itoa(u), Query: "q" + strconv.Itoa(q), Docs: possible[q][i].Docs, Orders: possible[q], Weight: 1}
			for r, d := range s.orders[q][i] {
				c := 0
				if rng.Float64() < s.theta[r]*s.gamma[q][d]*taste {
					c = 1
				}
				p.Clicks = append(p.Clicks, c)
			}
			pages = append(pages, p)
		}
	}
	return pages
}

// policy ranks by the evaluated policy.
func (s *shop) policy(name string) Policy {
	orders := map[string][]click.Order{}
	for q, o := range s.best {
		orders["q"+strconv.Itoa(q)] = []click.Order{{Docs: ids(o), Probability: 1}}
	}
	return Policy{name, func(p *click.Page) []click.Order { return orders[p.Query] }}
}

func (s *shop) slots() map[string]Slot {
	slots := map[string]Slot{}
	for r, v := range s.theta {
		slots[strconv.Itoa(r+1)] = Slot{Alpha: v}
	}
	return slots
}

// evaluate evaluates pages.
func evaluate(t testing.TB, c Config, pages []*click.Page) *Result {
	t.Helper()
	e, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range pages {
		if err := e.Count(p); err != nil {
			t.Fatal(err)
		}
	}
	if err := e.Prepare(); err != nil {
		t.Fatal(err)
	}
	for _, p := range pages {
		if err := e.Add(p); err != nil {
			t.Fatal(err)
		}
	}
	r, err := e.Result()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Claim: 95 % intervals by user cover the true value in 93 to 97 % of 2,000 logs. This holds for slate (IPS), its
// normalised form (SNIPS), pbm and dr, and for differences to the log. pbm and dr have probabilities from the log or
// from orders. Checks fail on at most 7 % of these sound logs, and the check of weights on 1 %.
func TestCoverage(t *testing.T) {
	runs, low, high := 8, 0.5, 1.0
	if long.Enabled() {
		runs, low, high = 2000, 0.93, 0.97
	}
	rng := rand.New(rand.NewPCG(1, 1))
	s := newShop(rng)
	truth, logged := s.truth(), 0.0
	for q, orders := range s.orders {
		for i, o := range orders {
			logged += s.mu[q][i] * s.value(q, o) / float64(s.queries)
		}
	}
	regression := fixed{"d0": 0.2, "d1": 0.1, "d2": 0.3, "d3": 0.2, "d4": 0.25, "d5": 0.15}
	configs := []struct {
		name   string
		config Config
		ofLog  bool
	}{
		{"ips", Config{Estimator: Slate}, false},
		{"snips", Config{Estimator: Slate, Normalise: true}, false},
		{"item", Config{Estimator: Item}, false},
		{"pbm, orders", Config{}, false},
		{"pbm, log", Config{}, true},
		{"pbm, normalised", Config{Normalise: true}, false},
		{"dr, orders", Config{Estimator: DR, Regression: regression}, false},
		{"dr, log", Config{Estimator: DR, Regression: regression}, true},
	}
	covered, different := make([]int, len(configs)), make([]int, len(configs))
	failed := map[string]int{}
	var mu sync.Mutex
	parallel.For(runs, 0, func(_, run int) {
		pages := s.log(random.Stream(1, "coverage", strconv.Itoa(run)))
		ofLog := make([]*click.Page, len(pages))
		for i, p := range pages {
			q := *p
			q.Orders, q.Experiment, q.Arm = nil, "ab", [2]string{"a", "b"}[p.User[len(p.User)-1]%2]
			ofLog[i] = &q
		}
		for k, x := range configs {
			c := x.config
			c.Slots, c.Policies, c.IgnoreWeights = s.slots(), []Policy{s.policy("new")}, true
			list := pages
			if x.ofLog {
				list = ofLog
			}
			r := evaluate(t, c, list)
			got, d := r.Policies[0], r.Difference(0, Log)
			mu.Lock()
			if got.Refused != "" {
				t.Errorf("%s: refused: %s", x.name, got.Reason())
			}
			if got.Interval.Low <= truth && truth <= got.Interval.High {
				covered[k]++
			}
			if d.Interval.Low <= truth-logged && truth-logged <= d.Interval.High {
				different[k]++
			}
			if math.Abs(got.Weight-1) > MostErrors*got.WeightError+slack {
				failed["weights, "+x.name]++
			}
			if r.Checks.Same[0].Failed() {
				failed["same, "+x.name]++
			}
			if x.name == "pbm, log" && r.Checks.SlotsP < 0.05 {
				failed["slots"]++
			}
			if x.name == "pbm, log" && r.Checks.Arms[0].Failed() {
				failed["arms"]++
			}
			mu.Unlock()
		}
	})
	for k, x := range configs {
		for what, n := range map[string]int{"": covered[k], ", difference": different[k]} {
			share := float64(n) / float64(runs)
			t.Logf("%s%s: %.4f", x.name, what, share)
			if share < low || share > high {
				t.Errorf("%s%s: covers %.4f", x.name, what, share)
			}
		}
	}
	for name, n := range failed {
		t.Logf("check %s: fails on %.4f", name, float64(n)/float64(runs))
		if share := float64(n) / float64(runs); share > 1-low || strings.HasPrefix(name, "weights") && share > 0.01+2/float64(runs) {
			t.Errorf("check %s: fails on %.4f of logs where nothing is wrong", name, share)
		}
	}
}

// Claim: with few large weights, no interval is printed for an effective sample below 100, where a normal
// interval covers far less than 95 %. Where the large weights were not drawn, the effective sample is large and the mean
// weight refuses. Printed intervals cover 93 to 97 %.
func TestHeavyWeights(t *testing.T) {
	runs, low := 60, 0.8
	if long.Enabled() {
		runs, low = 2000, 0.93
	}
	rng := rand.New(rand.NewPCG(2, 2))
	mu, pi, base := []float64{0.985, 0.01, 0.005}, []float64{0.05, 0.05, 0.9}, []float64{0.1, 0.1, 0.2}
	truth := 0.0
	for a := range pi {
		truth += pi[a] * base[a]
	}
	for _, n := range []int{200, 1000, 5000, 40000} {
		printed, covers, naive := 0, 0, 0
		of := runs
		if n == 40000 && !long.Enabled() {
			of = 20
		}
		for range of {
			list := make([]Choice, n)
			for i := range list {
				a := draw(rng, mu)
				list[i] = Choice{Logging: mu[a], Evaluated: pi[a]}
				if rng.Float64() < base[a] {
					list[i].Reward = 1
				}
			}
			e, err := Single(list, SingleConfig{Estimator: SNIPS})
			if err != nil {
				t.Fatal(err)
			}
			if math.Abs(e.Mean-truth) <= 1.96*e.Error {
				naive++
			}
			if e.Refused == "" {
				printed++
				if e.Interval.Low <= truth && truth <= e.Interval.High {
					covers++
				}
			}
		}
		t.Logf("n = %d: printed %.3f, which cover %.3f; all: %.3f", n, float64(printed)/float64(of), float64(covers)/float64(printed), float64(naive)/float64(of))
		if share := float64(printed) / float64(of); n <= 5000 && share > 0.01 || n == 40000 && share < 0.9 {
			t.Errorf("n = %d: an interval on %.3f of the logs", n, share)
		}
		if n == 1000 && float64(naive)/float64(of) > 0.9 {
			t.Errorf("n = 1000: the interval covers, so that the test shows nothing")
		}
		if n == 40000 && float64(covers)/float64(printed) < low {
			t.Errorf("n = %d: intervals cover %.3f", n, float64(covers)/float64(printed))
		}
	}
}

// Claim: a page that every log must be checked for is refused or reported: documents that were never shown, wrong
// propensities of rankings, wrong propensities of slots, an arm whose clicks differ, one user with most weight.
func TestFaults(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	s := newShop(rng)
	pages := s.log(rng)
	config := Config{Slots: s.slots(), Policies: []Policy{s.policy("new")}, MaxUnsupported: DefaultUnsupported}
	if r := evaluate(t, config, pages); r.Policies[0].Refused != "" || r.Checks.SlotsP < 0.05 || r.Checks.Same[0].Failed() {
		t.Errorf("found %+v in a log without faults", r)
	}

	never := config
	never.Policies = []Policy{{"never", func(*click.Page) []click.Order {
		return []click.Order{{Docs: []string{"d0", "x", "d1"}, Probability: 1}}
	}}}
	for _, e := range []Estimator{PBM, Slate, Item, Cascade, Pseudo} {
		never.Estimator = e
		if r := evaluate(t, never, pages).Policies[0]; r.Refused != Unsupported || !r.Void() || r.Unsupported < 0.2 {
			t.Errorf("%s: refused for %q with %v unsupported, expected a policy without support to be refused", e, r.Refused, r.Unsupported)
		}
	}

	of := func(change func(i int, p *click.Page)) []*click.Page {
		list := make([]*click.Page, len(pages))
		for i, p := range pages {
			q := *p
			change(i, &q)
			list[i] = &q
		}
		return list
	}
	wrong := config
	wrong.Estimator = Slate
	half := of(func(_ int, p *click.Page) {
		p.Propensity = min(1, 2*probability(p.Orders, p.Docs, 3))
		p.Orders = nil
	})
	if r := evaluate(t, wrong, half).Policies[0]; r.Refused != WrongWeights {
		t.Errorf("probabilities twice as large: refused for %q, expected weights", r.Refused)
	}
	wrong.IgnoreWeights = true
	if r := evaluate(t, wrong, half).Policies[0]; r.Refused != "" {
		t.Errorf("--ignore-weights: refused for %q", r.Refused)
	}

	ofLog := of(func(_ int, p *click.Page) { p.Orders = nil })
	flat := config
	flat.Slots = map[string]Slot{"1": {Alpha: 1}, "2": {Alpha: 0.9}, "3": {Alpha: 0.8}}
	if r := evaluate(t, flat, ofLog); r.Checks.SlotsP > 0.001 {
		t.Errorf("wrong propensities of slots: p %v, expected less than 0.001", r.Checks.SlotsP)
	}
	for _, sabotage := range []bool{false, true} {
		arms := of(func(_ int, p *click.Page) {
			p.Experiment, p.Arm, p.Orders = "ab", "a", nil
			if p.User[len(p.User)-1]%2 == 0 {
				p.Arm = "b"
				if sabotage {
					p.Clicks = []int{0, p.Clicks[1], p.Clicks[2]}
				}
			}
		})
		r := evaluate(t, config, arms)
		if len(r.Checks.Arms) != 2 || (r.Checks.Arms[0].Difference.P < 1e-4) != sabotage || (r.Checks.Arms[1].Difference.P < 1e-4) != sabotage {
			t.Errorf("an arm without first clicks (%v): found %+v", sabotage, r.Checks.Arms)
		}
	}
	robot := of(func(_ int, p *click.Page) {
		if p.User > "u2" {
			p.User = "robot"
		}
	})
	if r := evaluate(t, config, robot).Policies[0]; r.Refused != FewPages {
		t.Errorf("most pages of one user: refused for %q", r.Refused)
	}
	if r := evaluate(t, config, pages[:60]).Policies[0]; r.Refused != FewPages || !math.IsInf(r.Interval.High, 1) {
		t.Errorf("60 pages: %+v, expected no interval", r)
	}
}

// Claim: the policy of the log is estimated exactly where its order is fixed (A/A), for every estimator.
func TestSamePolicy(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	s := newShop(rng)
	for q := range s.orders {
		s.orders[q], s.mu[q] = [][]int{s.best[q]}, []float64{1}
	}
	pages := s.log(rng)
	for _, e := range Estimators {
		if e == Direct {
			continue
		}
		c := Config{Estimator: e, Slots: s.slots(), Policies: []Policy{s.policy("same")}, Regression: fixed{"d0": 0.2, "d1": 0.5}}
		r := evaluate(t, c, pages)
		same := r.Checks.Same[0]
		if math.Abs(r.Policies[0].Mean-r.Log.Mean) > 1e-12 || same.Failed() || math.Abs(same.Difference.Mean) > 1e-12 || same.Pages != float64(len(pages)) {
			t.Errorf("%s: %v, the log %v; check %+v", e, r.Policies[0].Mean, r.Log.Mean, same)
		}
		if d := r.Difference(0, Log); math.Abs(d.Mean) > 1e-12 || math.Abs(d.Interval.High) > 1e-12 {
			t.Errorf("%s: difference %+v", e, d)
		}
	}
}

// Claim: Choose deploys the better policy where the log tells so, and keeps the log's where none is better: of 400
// logs with five policies that are as good as the log's, at most 5 % deploy one.
func TestChoose(t *testing.T) {
	runs := 20
	if long.Enabled() {
		runs = 400
	}
	rng := rand.New(rand.NewPCG(5, 5))
	s := newShop(rng)
	for q := range s.gamma { // all rankings are equally good
		for d := range s.gamma[q] {
			s.gamma[q][d] = 0.2
		}
	}
	var policies []Policy
	for i := range 5 {
		for q := range s.best {
			s.best[q] = s.orders[q][i]
		}
		policies = append(policies, s.policy(strconv.Itoa(i)))
	}
	deployed := 0
	for range runs {
		if best, _ := evaluate(t, Config{Slots: s.slots(), Policies: policies}, s.log(rng)).Choose(0.05); best != Log {
			deployed++
		}
	}
	if share := float64(deployed) / float64(runs); share > 0.05+2/float64(runs) {
		t.Errorf("%.3f of the logs deploy a policy that is not better", share)
	}

	s = newShop(rng)
	policies = nil
	for i := range 5 {
		for q, o := range s.orders {
			s.best[q] = o[i]
		}
		policies = append(policies, s.policy(strconv.Itoa(i)))
	}
	for q := range s.gamma { // policy 3 is the best
		for r, d := range s.orders[q][3] {
			s.gamma[q][d] = 0.9 - 0.1*float64(r)
		}
	}
	best, lower := evaluate(t, Config{Slots: s.slots(), Policies: policies}, s.log(rng)).Choose(0.05)
	if best != 3 || !(lower[3] > 0) {
		t.Errorf("found policy %d with lower ends %v, expected 3", best, lower)
	}
	if best, lower := evaluate(t, Config{Slots: s.slots(), Policies: policies}, s.log(rng)[:50]).Choose(0.05); best != Log || !math.IsInf(lower[3], -1) {
		t.Errorf("50 pages: found policy %d with lower ends %v, expected the log's", best, lower)
	}
}

// Claim: the interval with a bound is wider than Student's, contains the truth, and a page above the bound is refused.
func TestBound(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	s := newShop(rng)
	pages := s.log(rng)
	c := Config{Estimator: Slate, Policies: []Policy{s.policy("new")}}
	plain := evaluate(t, c, pages).Policies[0]
	c.Bound = 3 / 0.1
	bounded := evaluate(t, c, pages).Policies[0]
	if truth := s.truth(); bounded.Interval.Low > truth || bounded.Interval.High < truth {
		t.Errorf("%+v does not contain %v", bounded.Interval, truth)
	}
	if ratio := (bounded.Interval.High - bounded.Interval.Low) / (plain.Interval.High - plain.Interval.Low); ratio < 2 || ratio > 30 {
		t.Errorf("the interval is %v times as wide", ratio)
	}
	c.Bound = 0.5
	e, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range pages {
		if err := e.Count(p); err != nil {
			t.Fatal(err)
		}
	}
	if err = e.Prepare(); err != nil {
		t.Fatal(err)
	}
	for _, p := range pages {
		if err = e.Add(p); err != nil {
			break
		}
	}
	if err == nil {
		t.Error("no error for a page above the bound")
	}
}
