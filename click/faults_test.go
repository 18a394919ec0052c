package click_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/listwise/listwise/click"
	"github.com/listwise/listwise/click/simulate"
	"github.com/listwise/listwise/internal/testing/long"
)

// simulated calls use for each page of a simulated log, which use may change and keep.
func simulated(t testing.TB, model, order string, pages, users int, seed uint64, use func(p *click.Page)) {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 1))
	s := &simulate.Simulation{Rankers: []simulate.Ranker{{Name: "old", Share: 1}}, Top: 6, Users: users, Seed: seed}
	for q := range 20 {
		of := simulate.Query{ID: fmt.Sprint("query ", q), Scores: make([][]float64, 2)}
		for d := range 9 {
			grade := float64(rng.IntN(3))
			of.Docs, of.Grades = append(of.Docs, fmt.Sprint("d", d)), append(of.Grades, grade)
			for k := range of.Scores {
				of.Scores[k] = append(of.Scores[k], grade+float64(k+1)*rng.NormFloat64())
			}
		}
		s.Queries = append(s.Queries, of)
	}
	var err error
	if s.Clicks, err = simulate.ParseModel(model); err != nil {
		t.Fatal(err)
	}
	if s.Order, err = simulate.ParseOrder(order); err != nil {
		t.Fatal(err)
	}
	if s.Order.Kind == simulate.Arms {
		s.Rankers = []simulate.Ranker{{Name: "old", Share: s.Order.Shares[0]}, {Name: "new", Share: s.Order.Shares[1]}}
	} else {
		for q := range s.Queries {
			s.Queries[q].Scores = s.Queries[q].Scores[:1]
		}
	}
	if err := s.Prepare(); err != nil {
		t.Fatal(err)
	}
	d := s.Drawer()
	for n := range pages {
		p := *d.Draw(n)
		p.Docs, p.Clicks, p.Propensities = slices.Clone(p.Docs), slices.Clone(p.Clicks), slices.Clone(p.Propensities)
		use(&p)
	}
}

// faultsOf returns the faults of a log with the changes of edit, which may return false to leave a page out and more
// pages to add.
func faultsOf(t testing.TB, model, order string, pages, users int, seed uint64, edit func(n int, p *click.Page) bool, more ...*click.Page) []click.Fault {
	t.Helper()
	tally, n := new(click.Tally), 0
	watch := func(p *click.Page) {
		if err := tally.Watch(p, nil); err != nil {
			t.Fatal(err)
		}
	}
	simulated(t, model, order, pages, users, seed, func(p *click.Page) {
		if edit == nil || edit(n, p) {
			watch(p)
		}
		n++
	})
	for _, p := range more {
		watch(p)
	}
	return tally.Faults()
}

var (
	soundModels = []string{"pbm:eta=1", "pbm:eta=0.3,noise=0.3", "cascade", "dcm:continue=.7", "dbn:stop=0,.5,.9,continue=.9", "ccm:tau=.95,.9,.5", "trust:eta=1"}
	soundOrders = []string{"fixed", "noise:0.3", "noise:2", "swap", "pairs", "shuffle:4", "arms:3,1", "arms:1,1"}
)

// lively makes the users of a log differ and sleep: some hardly click, the traffic of fourteen days has nights, and some
// users ask the same again.
func lively(seed uint64) func(n int, p *click.Page) bool {
	eager := map[string]float64{}
	rng := rand.New(rand.NewPCG(seed, 9))
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	at := 0.0 // days
	return func(_ int, p *click.Page) bool {
		if p.User != "" {
			e, known := eager[p.User]
			if !known {
				e = 1 - 0.9*rng.Float64()*rng.Float64()
				eager[p.User] = e
			}
			for r := range p.Clicks {
				if rng.Float64() > e {
					p.Clicks[r] = 0
				}
			}
		}
		hour := 24 * (at - math.Floor(at))
		speed := 0.02 + max(0, math.Sin((hour-6)/24*2*math.Pi))
		at += 14 * 0.34 / 3000 / speed * 2 * rng.Float64()
		p.Time = start.Add(time.Duration(at * 24 * float64(time.Hour)))
		return true
	}
}

// Claim: at most one in a hundred logs without a fault has a finding. The logs have all click models and orders of
// clicks simulate. Half have pages a second apart; the others have users that differ, and nights.
func TestSoundLogsHaveNoFaults(t *testing.T) {
	logs := 112
	if long.Enabled() {
		logs = 1120
	}
	alarms := 0
	for i := range logs {
		model, order := soundModels[i%len(soundModels)], soundOrders[i/len(soundModels)%len(soundOrders)]
		users := []int{0, 40, 150, 600}[i%4]
		seed, edit := uint64(i+1), func(int, *click.Page) bool { return true }
		if i/(len(soundModels)*len(soundOrders))%2 == 1 {
			edit = lively(seed)
		}
		for _, f := range faultsOf(t, model, order, 2000, users, seed, edit) {
			if f.Kind == "robots" { // a user of 40 with a hundredth of the pages
				continue
			}
			alarms++
			t.Logf("log %d (%s, %s, %d users): %s", i, model, order, users, f.Text)
		}
	}
	t.Logf("%d findings on %d logs", alarms, logs)
	if alarms > logs/100 {
		t.Errorf("%d findings on %d logs, expected at most one in a hundred", alarms, logs)
	}
}

// robots returns pages of a net of users, made by page from the number of the robot and of its page.
func robots(users, pages int, page func(rng *rand.Rand, p *click.Page, n int)) (list []*click.Page) {
	rng := rand.New(rand.NewPCG(5, 5))
	for u := range users {
		begin := time.Date(2026, 1, 1, 0, 0, rng.IntN(500), 0, time.UTC)
		for n := range pages {
			p := &click.Page{User: fmt.Sprint("bot", u), Query: fmt.Sprint("query ", rng.IntN(20)), Docs: []string{"d1", "d2", "d3", "d4", "d5"}, Clicks: make([]int, 5), Weight: 1}
			begin = begin.Add(time.Duration(1+rng.IntN(3000/pages)) * time.Second)
			p.Time = begin
			page(rng, p, n)
			list = append(list, p)
		}
	}
	return list
}

// Claim: every fault that is planted in a log is found, with its kind and its figures, and no other.
func TestPlantedFaults(t *testing.T) {
	keep := func(int, *click.Page) bool { return true }
	seconds := func(n int) time.Time { return time.Date(2026, 1, 1, 0, 0, n, 0, time.UTC) }
	for _, c := range []struct {
		name, order string
		edit        func(n int, p *click.Page) bool
		more        []*click.Page
		kind        string
		says        []string
	}{
		{"an arm that was off in the middle", "arms:1,1", func(n int, p *click.Page) bool { return p.Arm == "old" || n < 1200 || n >= 1700 }, nil,
			"arm off", []string{`arm "new" was off from 2026-01-01T00:20`, "to 2026-01-01T00:2", "it has 0 of the"}},
		{"an arm that began late", "arms:1,1", func(n int, p *click.Page) bool { return p.Arm == "old" || n >= 900 }, nil,
			"arm late", []string{`arm "new" began at 2026-01-01T00:15:`, "--since 2026-01-01T00:15:"}},
		{"clicks that stop", "noise:0.5", func(n int, p *click.Page) bool {
			if n >= 2500 {
				clear(p.Clicks)
			}
			return true
		}, nil, "clicks stop", []string{"from 2026-01-01T00:41:", " on, ", "--until 2026-01-01T00:41:"}},
		{"clicks that become rare", "fixed", func(n int, p *click.Page) bool {
			if n < 1000 && n%4 > 0 {
				clear(p.Clicks)
			}
			return true
		}, nil, "clicks stop", []string{"until 2026-01-01T00:16:", "--since"}},
		{"pages that stop", "noise:0.5", func(n int, _ *click.Page) bool { return n < 1000 || n >= 2000 }, nil,
			"pages stop", []string{"from 2026-01-01T00:1", "there are 0 pages, and at other times"}},
		{"robots that click one rank", "noise:0.5", keep, robots(30, 9, func(_ *rand.Rand, p *click.Page, _ int) { p.Clicks[3] = 1 }),
			"alike", []string{"30 users with 270 pages", "such as bot0, bot1, bot2", "the same ranks on every page", "and 0 with an exception", "--drop-alike"}},
		{"robots that always click", "noise:0.5", keep, robots(30, 80, func(rng *rand.Rand, p *click.Page, _ int) { p.Clicks[rng.IntN(5)] = 1 }),
			"alike", []string{"30 users with 2400 pages", "click on every page"}},
		{"robots with a clock", "noise:0.5", keep, robots(30, 9, func(_ *rand.Rand, p *click.Page, n int) { p.Time = seconds(100 + 60*n) }),
			"alike", []string{"30 users with 270 pages", "at constant intervals"}},
		{"propensities of other shuffles", "noise:1", func(_ int, p *click.Page) bool {
			for r, v := range p.Propensities {
				p.Propensities[r] = v * v
			}
			return true
		}, nil, "wrong propensities", []string{"do not agree with what was shown", "of the propensities"}},
		{"propensities of a fixed order", "noise:1", func(_ int, p *click.Page) bool {
			for r := range p.Propensities {
				p.Propensities[r] = 1
			}
			return true
		}, nil, "wrong propensities", []string{"are too large: on 100 % of the pages"}},
		{"propensities of a ranking", "swap", func(_ int, p *click.Page) bool { p.Propensities, p.Propensity = nil, p.Propensity/3; return true }, nil,
			"wrong propensities", []string{"do not agree"}},
		{"shuffled pages in one order", "fixed", func(_ int, p *click.Page) bool { p.Shuffled, p.Propensities, p.Propensity = 6, nil, 0; return true }, nil,
			"not shuffled", []string{"100 % of the pages with shuffled", "expected 16.7 %"}},
		{"users of several arms", "arms:1,1", func(n int, p *click.Page) bool {
			if n%10 == 0 {
				p.Arm = "new"
			}
			return true
		}, nil, "several arms", []string{"of 200 users were shown several arms"}},
		{"an arm with shorter pages", "arms:1,1", func(_ int, p *click.Page) bool {
			if p.Arm == "new" {
				p.Docs, p.Clicks, p.Propensities = p.Docs[:4], p.Clicks[:4], nil
			}
			return true
		}, nil, "different pages", []string{`arms "`, "rank 5 is on", "6 and 4 documents in the mean", "clicks@K"}},
		{"an arm with other slots", "arms:1,1", func(_ int, p *click.Page) bool {
			p.Slots = []string{"1", "2", "3", "4", "5", "6"}
			if p.Arm == "new" {
				p.Slots[2] = "ad"
			}
			return true
		}, nil, "different pages", []string{`"3"`}},
	} {
		found := faultsOf(t, "pbm:eta=0.7", c.order, 3000, 200, 3, c.edit, c.more...)
		if len(found) != 1 || found[0].Kind != c.kind || slices.ContainsFunc(c.says, func(s string) bool { return !strings.Contains(found[0].Text, s) }) {
			t.Errorf("%s: found %q, expected %q", c.name, found, c.says)
		}
	}
}

// Claim: pages that come again within seconds are found, as another page with the same query and ranking.
func TestReloads(t *testing.T) {
	tally := new(click.Tally)
	n := 0
	simulated(t, "pbm:eta=0.7", "fixed", 3000, 400, 3, func(p *click.Page) {
		watch := func() {
			if err := tally.Watch(p, nil); err != nil {
				t.Fatal(err)
			}
		}
		if watch(); n%20 == 0 {
			p.Time, p.ID = p.Time.Add(3*time.Second), p.ID+" again"
			watch()
		}
		n++
	})
	found := tally.Faults()
	if len(found) != 1 || found[0].Kind != "reloads" || !strings.Contains(found[0].Text, "15") || !strings.Contains(found[0].Text, "within 10 s") {
		t.Errorf("found %q", found)
	}
}

// Claim: the test of robots keeps its rate of false alarms if people have strong habits of their own: strengths of
// repetition with a density that falls to 1.
func TestHabitsOfPeople(t *testing.T) {
	alarms := 0
	const logs = 60
	for seed := range uint64(logs) {
		tally := new(click.Tally)
		rng := rand.New(rand.NewPCG(seed, 3))
		for u := range 400 {
			habit := math.Sqrt(rng.Float64()) * 0.97
			if rng.IntN(2) == 0 {
				habit = 1 - math.Sqrt(rng.Float64())
			}
			for range 1 + rng.IntN(30) {
				p := &click.Page{User: fmt.Sprint("u", u), Query: fmt.Sprint("q", rng.IntN(1000)), Docs: []string{"a", "b", "c", "d"}, Clicks: make([]int, 4), Weight: 1}
				r := 0
				if rng.Float64() > habit {
					r = rng.IntN(4)
				}
				p.Clicks[r] = 1
				if err := tally.Watch(p, nil); err != nil {
					t.Fatal(err)
				}
			}
		}
		for _, f := range tally.Faults() {
			if f.Kind == "alike" && !strings.Contains(f.Text, "click on every page") {
				alarms++
				t.Logf("seed %d: %s", seed, f.Text)
			}
		}
	}
	if alarms > 1 {
		t.Errorf("%d of %d logs have a net of robots, expected none", alarms, logs)
	}
}
