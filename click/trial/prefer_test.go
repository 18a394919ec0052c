package trial

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/listwise/listwise/click"
	"github.com/listwise/listwise/eval/stats"
	"github.com/listwise/listwise/internal/testing/long"
)

// letters returns documents named by letters.
func letters(s string) []string { return strings.Split(s, "") }

// page returns an interleaved page with clicks on documents.
func page(docs, clicked string) *click.Page {
	p := &click.Page{Query: "q", Docs: letters(docs), Weight: 1}
	for _, d := range p.Docs {
		n := 0
		if strings.Contains(clicked, d) {
			n = 2 // a second click changes nothing
		}
		p.Clicks = append(p.Clicks, n)
	}
	return p
}

// Claim: the credit of a probabilistic page is the expectation of clicks of the second team minus the
// first over all assignments of documents to teams, by enumeration.
func TestProbabilisticCreditIsTheExpectation(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 200 {
		p := page("abcdef", string(letters("abcdef")[rng.IntN(6)][0])+string(letters("abcdef")[rng.IntN(6)][0]))
		for range p.Docs {
			p.Softmax = append(p.Softmax, [2]float64{rng.Float64(), rng.Float64()})
		}
		p.Softmax[rng.IntN(6)][0] = 0 // the first model does not have the document
		total, want := 0.0, 0.0
		for teams := range 1 << len(p.Docs) {
			weight, net := 1.0, 0.0
			for r := range p.Docs {
				team := teams >> r & 1
				weight *= p.Softmax[r][team]
				if p.Clicked(r) {
					net += float64(2*team - 1)
				}
			}
			total += weight
			want += weight * net
		}
		if got, err := Credit(p, All); err != nil || math.Abs(got-want/total) > 1e-12 {
			t.Fatalf("found %v, %v, expected %v", got, err, want/total)
		}
	}
}

// Claim: team draft credits all clicks, the first or the last, by their order if it is known, each document
// once. Balanced interleaving has mean credit 1/3 for one random click on 123 against 231.
func TestCredit(t *testing.T) {
	p := page("abcd", "bd")
	p.Team = []int{0, 1, 1, 0}
	for _, c := range []struct {
		clicks Clicks
		order  []int
		want   float64
	}{{All, nil, 0}, {First, nil, 1}, {Last, nil, -1}, {First, []int{3, 1}, -1}, {Last, []int{3, 1}, 1}} {
		p.Order = c.order
		if got, err := Credit(p, c.clicks); err != nil || got != c.want {
			t.Errorf("%v: found %v, %v", c, got, err)
		}
	}
	mean := 0.0
	for _, shown := range []string{"123", "213"} { // a begins, or b: 2, then 1, then 3
		for _, clicked := range letters(shown) {
			p := page(shown, clicked)
			p.Balanced = [2][]string{letters("123"), letters("231")}
			v, err := Credit(p, All)
			if err != nil {
				t.Fatal(err)
			}
			mean += v / 6
		}
	}
	if math.Abs(mean-1./3) > 1e-12 {
		t.Errorf("balanced: found mean %v, expected 1/3", mean)
	}
	for want, p := range map[string]*click.Page{
		"found a page that is not interleaved, expected team, softmax or balanced": page("ab", ""),
		"found a page without clicks, expected clicks or clicked":                  {Docs: letters("ab"), Team: []int{0, 1}},
		"found team 2, expected 0 or 1":                                            func() *click.Page { p := page("ab", "b"); p.Team = []int{0, 2}; return p }(),
		`found a click on document "c", which neither ranking in balanced has, expected one of them to have it`: func() *click.Page {
			p := page("abc", "c")
			p.Balanced = [2][]string{letters("ab"), letters("ba")}
			return p
		}(),
	} {
		if _, err := Credit(p, All); err == nil || err.Error() != want {
			t.Errorf("found %v, expected %s", err, want)
		}
	}
}

// visits returns pages of users in random order. A user prefers the second model
// with a probability of its own, which prefers draws.
func visits(rng *rand.Rand, users, pages int, prefers func() float64) []*click.Page {
	share := make([]float64, users)
	for u := range share {
		share[u] = prefers()
	}
	var all []*click.Page
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for n := range pages {
		u := rng.IntN(users)
		p := page("ab", "")
		p.Experiment, p.Arm, p.User, p.Team = "mixed", "old,new", fmt.Sprint("u", u), []int{0, 1}
		p.Time = start.Add(time.Duration(n) * time.Minute)
		if rng.IntN(4) > 0 {
			r := 0
			if rng.Float64() < share[u] {
				r = 1
			}
			p.Clicks[r] = 1
		}
		all = append(all, p)
	}
	return all
}

func outcome(t *testing.T, s *Preferences, pages []*click.Page) Outcome {
	t.Helper()
	for _, p := range pages {
		if err := s.Add(p); err != nil {
			t.Fatal(err)
		}
	}
	all := s.Outcomes()
	if len(all) != 1 {
		t.Fatalf("found %d outcomes, expected 1", len(all))
	}
	return all[0]
}

// Claim: the test at any time looks when a user comes first and at the end, and sees of each user the pages
// until then: e-value and first rejection equal a new count of all pages at each look. The order of
// the file changes nothing.
func TestAnyTimeSeesNoFuture(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	pages := visits(rng, 120, 400, func() float64 { return 0.75 })
	got := outcome(t, &Preferences{AnyTime: true}, pages)
	want := AnyTime{P: 1}
	for i := range pages {
		first := !slices.ContainsFunc(pages[:i], func(p *click.Page) bool { return p.User == pages[i].User })
		if !first && i < len(pages)-1 {
			continue
		}
		o := outcome(t, new(Preferences), pages[:i+1])
		want.Looks++
		want.LogE = stats.LogE(o.Wins[1], o.Wins[0])
		want.P = min(want.P, math.Exp(-want.LogE))
		want.Interval = stats.ShareSequence(o.Wins[1], o.Wins[0])
		if want.Pages == 0 && want.LogE >= math.Log(20) {
			want.Pages, want.Units, want.Time = i+1, o.Units, pages[i].Time
		}
	}
	if math.Abs(want.P-got.AnyTime.P) > 1e-15 {
		t.Errorf("found p %v, expected %v", got.AnyTime.P, want.P)
	}
	want.P = got.AnyTime.P
	if diff := cmp.Diff(want, *got.AnyTime); diff != "" || want.Pages == 0 || want.Pages == len(pages) {
		t.Errorf("found another test than a count at each look gives: %s", diff)
	}
	rng.Shuffle(len(pages), func(i, j int) { pages[i], pages[j] = pages[j], pages[i] })
	if diff := cmp.Diff(got, outcome(t, &Preferences{AnyTime: true}, pages)); diff != "" {
		t.Errorf("the order of the file matters: %s", diff)
	}
}

// Claim: if no model is better, tests at any time reject in at most 5 % of experiments, whether users come
// once, return, or have lasting preferences of their own. A test of pages as if they were independent
// rejects more often where users have such preferences.
func TestFalsePreferences(t *testing.T) {
	runs, users := 100, 200
	if long.Enabled() {
		runs, users = 2000, 1000
	}
	for _, c := range []struct {
		name    string
		visits  int
		lasting bool
	}{{"once", 1, false}, {"ten visits", 10, false}, {"lasting preferences", 10, true}} {
		rng := rand.New(rand.NewPCG(3, uint64(c.visits)))
		byUser, byPage := 0, 0
		for range runs {
			prefers := func() float64 { return 0.5 }
			if c.lasting {
				prefers = func() float64 { return []float64{0.2, 0.8}[rng.IntN(2)] }
			}
			pages := visits(rng, users, users*c.visits, prefers)
			if o := outcome(t, &Preferences{AnyTime: true}, pages); o.AnyTime.Pages > 0 {
				byUser++
			}
			if o := outcome(t, &Preferences{AnyTime: true, ByPage: true}, pages); o.AnyTime.Pages > 0 {
				byPage++
			}
		}
		t.Logf("%s: %.4f by user, %.4f by page", c.name, float64(byUser)/float64(runs), float64(byPage)/float64(runs))
		if float64(byUser) > 0.05*float64(runs)+2*math.Sqrt(0.05*0.95*float64(runs)) || c.lasting && byPage < 2*byUser {
			t.Errorf("%s: of %d experiments %d reject by user and %d by page", c.name, runs, byUser, byPage)
		}
	}
}

// Claim: a user counts once, however many pages it has. Pages without users are counted by themselves.
// Experiments, pairs of models and methods are apart, and pages of one model are left out.
func TestPreferencesCount(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	pages := visits(rng, 30, 300, func() float64 { return 0.6 })
	o := outcome(t, new(Preferences), pages)
	wins := map[string]int{}
	clicked := 0
	for _, p := range pages {
		wins[p.User] += p.Clicks[1] - p.Clicks[0]
		clicked += p.Clicks[0] + p.Clicks[1]
	}
	want := [2]int{}
	for _, w := range wins {
		switch {
		case w < 0:
			want[0]++
		case w > 0:
			want[1]++
		}
	}
	p, share := stats.Sign(want[1], want[0])
	if o.Wins != want || o.Ties != len(wins)-want[0]-want[1] || o.Units != len(wins) || o.Pages != 300 || o.Clicked != clicked || o.P != p || o.Interval != share || o.Models != [2]string{"old", "new"} {
		t.Errorf("found %+v, expected wins %v of %d users", o, want, len(wins))
	}
	pairs := outcome(t, &Preferences{ByPage: true}, pages)
	if pairs.Units != 300 || pairs.Wins[0]+pairs.Wins[1] != clicked || pairs.Ties != 0 {
		t.Errorf("by page: found %+v", pairs)
	}
	s := new(Preferences)
	for i, p := range pages {
		if p.User = ""; i%2 == 0 {
			p.Arm = "old,newer"
		}
		if i < 10 {
			p.Team = nil
		}
		if err := s.Add(p); err != nil {
			t.Fatal(err)
		}
	}
	all := s.Outcomes()
	if len(all) != 2 || all[0].Units != 145 || all[1].Units != 145 || s.Anonymous != 290 || s.Single != 10 {
		t.Errorf("found %+v, %d anonymous, %d of a single model", all, s.Anonymous, s.Single)
	}
	pages[20].Weight = 2
	if err := s.Add(pages[20]); err == nil {
		t.Error("weight 2 of a page that is counted by itself: found no error")
	}
	if err := (&Preferences{AnyTime: true}).Add(&click.Page{Docs: letters("ab"), Clicks: []int{0, 0}, Team: []int{0, 1}}); err == nil {
		t.Error("a page without time: found no error")
	}
}

// Claim: the limit of tests at any time. Where 50 users return a thousand times each while others come, users change
// sides after they were counted, and slightly more than 5 % of experiments reject.
func TestFalsePreferencesOfUsersWhoStay(t *testing.T) {
	long.Test(t)
	const runs, users, visits = 1000, 50, 1000
	rng := rand.New(rand.NewPCG(10, 10))
	rejected := 0
	for range runs {
		s := &interleaved{users: map[string]int32{}}
		visit := func(user int) {
			s.add(strconv.Itoa(user), event{time: int64(len(s.pages)), clicked: true, sign: float64(2*rng.IntN(2) - 1)}, true)
		}
		for user := range users {
			visit(user)
		}
		for late := range users {
			for range visits {
				visit(rng.IntN(users + late))
			}
			visit(users + late)
		}
		if s.anyTime().Pages > 0 {
			rejected++
		}
	}
	t.Logf("%.4f of %d reject", float64(rejected)/runs, runs)
	if rejected > 0.08*runs {
		t.Errorf("%d of %d experiments reject, expected at most 8 %%", rejected, runs)
	}
}

// Claim: Fault reports teams that team draft cannot make: all documents of one model, one model two documents ahead, or
// one model first on most pages. It accepts the teams of fair coins.
func TestTeamsOfADraft(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	draft := func(first float64) []int {
		teams := make([]int, 0, 6)
		for len(teams) < 6 {
			a := 1
			if rng.Float64() < first {
				a = 0
			}
			teams = append(teams, a, 1-a)
		}
		return teams
	}
	for name, c := range map[string]struct {
		teams func() []int
		fault string
	}{
		"fair":    {func() []int { return draft(0.5) }, ""},
		"one":     {func() []int { return make([]int, 6) }, "on 1000 of 1000 pages one model placed two documents more"},
		"blocks":  {func() []int { return []int{0, 1, 1, 1, 0, 0} }, "on 1000 of 1000 pages one model placed two documents more"},
		"unequal": {func() []int { return draft(0.8) }, "the first document is of the first model on"},
	} {
		s := Preferences{}
		for i := range 1000 {
			p := &click.Page{User: strconv.Itoa(i), Query: "q", Docs: []string{"a", "b", "c", "d", "e", "f"}, Clicks: make([]int, 6), Team: c.teams(), Experiment: "e", Arm: "a,b", Weight: 1}
			if err := s.Add(p); err != nil {
				t.Fatal(err)
			}
		}
		o := s.Outcomes()[0]
		if fault := o.Fault(); (c.fault == "") != (fault == "") || !strings.HasPrefix(fault, c.fault) {
			t.Errorf("%s: found %q, expected %q", name, fault, c.fault)
		}
	}
}
