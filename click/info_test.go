package click

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/listwise/listwise/dataset/memory"
)

// surveyed returns the summary of pages.
func surveyed(t *testing.T, pages []*Page) *Info {
	t.Helper()
	s, tally := new(Survey), new(Tally)
	for _, p := range pages {
		if err := s.Add(p); err != nil {
			t.Fatal(err)
		}
		if err := tally.Watch(p, unlimited); err != nil {
			t.Fatal(err)
		}
	}
	return s.Info(tally)
}

// Claim: the counts of a summary are sums over pages, found by going through the pages for each.
func TestInfoCounts(t *testing.T) {
	pages := rich(3000)
	i := surveyed(t, pages)
	queries, users, arms := map[string]bool{}, map[string]bool{}, map[string]bool{}
	byClicks, ranks := map[int]int{}, map[int]*[2]float64{}
	back, without, pairs := 0, 0, map[[2]string]bool{}
	for _, p := range pages {
		arms[p.Arm] = true
		if p.User != "" {
			users[p.User] = true
		}
		if p.Clicks == nil {
			without++
			continue
		}
		queries[p.Query] = true
		n := 0
		for r, c := range p.Clicks {
			if ranks[r] == nil {
				ranks[r] = new([2]float64)
			}
			ranks[r][0] += p.Weight
			if c > 0 {
				n++
				ranks[r][1] += p.Weight
			}
			pairs[[2]string{p.Query, p.Docs[r]}] = true
		}
		byClicks[n]++
		if !slices.IsSorted(p.Order) {
			back++
		}
	}
	if i.Pages != len(pages) || i.Users != len(users) || i.Queries != len(queries) || i.Pairs != len(pairs) || i.WithoutClicks != without || i.Back != back || back == 0 || len(i.Arms) != len(arms) {
		t.Errorf("found %+v", i)
	}
	for n, pages := range i.ByClicks {
		if pages != byClicks[n] {
			t.Errorf("found %d pages with %d clicks, expected %d", pages, n, byClicks[n])
		}
	}
	for r, k := range i.Ranks {
		if want := ranks[r]; math.Abs(k.Shown-want[0]) > 1e-9 || math.Abs(k.Clicked-want[1]) > 1e-9 || !(k.Low < k.Rate && k.Rate < k.High) {
			t.Errorf("found %+v, expected %v", k, *want)
		}
	}
	if _, err := json.Marshal(i); err != nil {
		t.Error(err)
	}
}

// Claim: intervals of click rates have users as units where there are users: they cover the rate in 93 to 97 % of
// simulations with users that differ, where pages as units cover far less.
func TestRateIntervals(t *testing.T) {
	const runs = 400
	covered := map[string]int{}
	for seed := range uint64(runs) {
		rng := rand.New(rand.NewPCG(seed, 3))
		var named, plain []*Page
		for u := range 60 {
			rate := rng.Float64() // of the user
			for range 20 {
				p := &Page{Query: "q", Docs: []string{"a"}, Clicks: []int{0}, Weight: 1}
				if rng.Float64() < rate {
					p.Clicks[0] = 1
				}
				plain = append(plain, p)
				q := *p
				q.User = fmt.Sprint("u", u)
				named = append(named, &q)
			}
		}
		for unit, pages := range map[string][]*Page{"user": named, "page": plain} {
			i := surveyed(t, pages)
			if i.Unit != unit {
				t.Fatalf("found the unit %s, expected %s", i.Unit, unit)
			}
			if r := i.Ranks[0]; r.Low < 0.5 && 0.5 < r.High {
				covered[unit]++
			}
		}
	}
	if c := float64(covered["user"]) / runs; c < 0.93 || c > 0.98 {
		t.Errorf("users as units cover in %.3f", c)
	}
	if c := float64(covered["page"]) / runs; c > 0.8 {
		t.Errorf("pages as units cover in %.3f, so this test shows nothing", c)
	}
}

// Claim: what is odd is told, and arms that ran at the same time are.
func TestOdd(t *testing.T) {
	at := func(hour int) time.Time { return time.Date(2026, 1, 1, hour, 0, 0, 0, time.UTC) }
	page := func(arm string, hour int) *Page {
		return &Page{Query: "q", Docs: []string{"a", "b"}, Clicks: []int{1, 0}, Weight: 1, Arm: arm, Time: at(hour), Swapped: [2]int{0, 1}}
	}
	var pages []*Page
	for range 20 {
		pages = append(pages, page("old", 1), page("new", 5))
	}
	pages = append(pages, page("old", 3), page("next", 4), page("new", 6), &Page{Query: "q", Docs: []string{"a"}, Weight: 2})
	i := surveyed(t, pages)
	if len(i.Together) != 0 || !i.From.Equal(at(1)) || !i.To.Equal(at(6)) {
		t.Errorf("found %v from %v to %v", i.Together, i.From, i.To)
	}
	for _, want := range []string{"1 pages have neither", "1 of 44 pages have no time", "20 pages are earlier", "sum 45", "no two arms", "exchanged on 0.0000 of 43 pages"} {
		if !slices.ContainsFunc(i.Odd, func(s string) bool { return strings.Contains(s, want) }) {
			t.Errorf("nothing says %q: %q", want, i.Odd)
		}
	}
	if len(i.Odd) != 6 {
		t.Errorf("found %q", i.Odd)
	}
	i = surveyed(t, append(pages, page("old", 7)))
	if fmt.Sprint(i.Together) != "[[0 1] [0 2]]" {
		t.Errorf("found %v", i.Together)
	}
}

// Claim: queries that change their case, and clicks that are a rank too low, are told. A sound log has neither.
func TestOddQueriesAndRanks(t *testing.T) {
	for fault, want := range map[string]string{
		"":     "",
		"case": `40 of 40 queries differ from another one only in case or spaces, such as "Q`,
		"rank": "rank 1 has no click, and rank 2 has 100 of 200 pages",
	} {
		var pages []*Page
		for n := range 200 {
			p := &Page{Query: fmt.Sprint("q ", n%20), Docs: []string{"a", "b"}, Clicks: []int{n / 20 % 2, 0}, Weight: 1}
			switch {
			case fault == "case" && n >= 100:
				p.Query = strings.ToUpper(p.Query)
			case fault == "rank":
				p.Clicks = []int{0, p.Clicks[0]}
			}
			pages = append(pages, p)
		}
		if odd := strings.Join(surveyed(t, pages).Odd, "; "); !strings.HasPrefix(odd, want) || want == "" && odd != "" {
			t.Errorf("%s: found %q, expected %q", fault, odd, want)
		}
	}
}

var unlimited = memory.Unlimited()

// Claim: an arm that began later than another one of its experiment is told, one that began at the same time is not.
func TestLateArms(t *testing.T) {
	for late, want := range map[int]int{0: 0, 7: 1} {
		var pages []*Page
		for n := range 4 * 28 {
			day := n / 4
			for _, arm := range []string{"a", "b"} {
				if arm == "b" && day < late {
					continue
				}
				pages = append(pages, &Page{Query: "q", Docs: []string{"d"}, Clicks: []int{1}, Experiment: "e", Arm: arm, Weight: 1, Time: time.Date(2026, 1, 1+day, 0, 0, 0, 0, time.UTC)})
			}
		}
		told := 0
		for _, odd := range surveyed(t, pages).Odd {
			if strings.HasPrefix(odd, `arm "b" began at 2026-01-08T00:00:00Z, another arm of its experiment at 2026-01-01T00:00:00Z`) {
				told++
			}
		}
		if told != want {
			t.Errorf("%d days late: told %d times, expected %d", late, told, want)
		}
	}
}
