package click

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/listwise/listwise/dataset/memory"
	"github.com/listwise/listwise/eval/stats"
	"github.com/listwise/listwise/internal/elementary"
)

// Info is a summary of a log. All numbers of shown and clicked documents are sums of the pages' weights.
type Info struct {
	Pages         int        `json:"pages"`
	Weight        float64    `json:"weight"`
	Users         int        `json:"users"`
	Queries       int        `json:"queries"`
	Pairs         int        `json:"pairs"`
	Slots         int        `json:"slots"`
	From          *time.Time `json:"from,omitempty"`
	To            *time.Time `json:"to,omitempty"`
	Untimed       int        `json:"pages_without_time"`
	Disordered    int        `json:"pages_before_their_predecessor"`
	WithoutClicks int        `json:"pages_without_clicks_member"` // not in the numbers below

	Unit     string     `json:"unit"` // of intervals: user or page
	Clicks   float64    `json:"clicked"`
	Repeated float64    `json:"repeated_clicks"` // after the first click on a document
	Ranks    []RankInfo `json:"ranks"`
	ByClicks []int      `json:"pages_by_clicks"` // pages with 0, 1, 2, … clicked documents
	Ordered  int        `json:"pages_with_order"`
	Back     int        `json:"pages_that_go_back_up"` // of these
	Arms     []ArmInfo  `json:"arms"`
	Together [][2]int   `json:"arms_at_the_same_time"` // indices of arms, both of one experiment

	Propensity   int `json:"pages_with_propensity"`
	Propensities int `json:"pages_with_propensities"`
	Candidates   int `json:"pages_with_candidates"`
	Orders       int `json:"pages_with_orders"`
	Shuffled     int `json:"shuffled_pages"`
	Swapped      int `json:"swapped_pages"`
	FairPairs    int `json:"pages_of_pairs"`

	Exchanges []ExchangeInfo `json:"exchanges"` // of swapped pages and of FairPairs
	Robots    []User         `json:"robots"`
	Odd       []string       `json:"odd"`
}

// RankInfo counts the documents at a rank. The interval is of the click rate.
type RankInfo struct {
	Rank    int     `json:"rank"` // from 1
	Shown   float64 `json:"shown"`
	Clicked float64 `json:"clicked"`
	Rate    float64 `json:"rate"`
	Low     float64 `json:"low"`
	High    float64 `json:"high"`
}

// ArmInfo counts the pages of an arm. Weight, Clicks and Clicked are of pages whose clicks are known.
type ArmInfo struct {
	Experiment string     `json:"experiment,omitempty"`
	Arm        string     `json:"arm,omitempty"`
	Version    string     `json:"version,omitempty"`
	Pages      int        `json:"pages"`
	Weight     float64    `json:"weight"`
	Clicks     float64    `json:"clicked"`
	Clicked    float64    `json:"pages_with_clicks"` // by weight
	From       *time.Time `json:"from,omitempty"`
	To         *time.Time `json:"to,omitempty"`
}

// ExchangeInfo describes two ranks whose documents were drawn for exchange.
type ExchangeInfo struct {
	Method    string  `json:"method"` // swapped or pairs
	A         int     `json:"a"`      // ranks from 1
	B         int     `json:"b"`
	Pages     float64 `json:"pages"`
	Exchanged float64 `json:"exchanged"`
	ClicksA   float64 `json:"clicks_a"`
	ClicksB   float64 `json:"clicks_b"`
}

// Survey collects what [Info] tells. Its zero value is ready to use.
type Survey struct {
	Mem *memory.Account // counts memory against a limit; nil means no limit

	index Index
	info  Info
	last  time.Time
	from  time.Time
	to    time.Time
	ranks []rankSums
	arms  map[[3]string]int
	times [][2]time.Time // of the arms
	swaps map[[3]int]*ExchangeInfo
}

// groups is the number of groups of users from which variances are estimated. Users are in groups by a hash.
const groups = 1024

// rankSums are sums over pages at a rank.
type rankSums struct {
	shown, clicked     float64
	squares, clickedSq float64      // sums of squared weights
	group              [][2]float64 // shown and clicked of each group of users
}

// Add adds a page.
func (s *Survey) Add(p *Page) error {
	i := &s.info
	i.Pages++
	i.Weight += p.Weight
	s.time(p)
	if err := s.arm(p); err != nil {
		return err
	}
	for _, f := range []struct {
		is    bool
		count *int
	}{
		{p.Propensity > 0, &i.Propensity}, {p.Propensities != nil, &i.Propensities}, {p.Candidates != nil, &i.Candidates}, {p.Orders != nil, &i.Orders},
		{p.Shuffled > 1, &i.Shuffled}, {p.Swapped != [2]int{}, &i.Swapped}, {p.Pairs > 0, &i.FairPairs},
	} {
		if f.is {
			*f.count++
		}
	}
	if p.Clicks == nil {
		i.WithoutClicks++
		return nil
	}
	held, q := s.index.bytes, s.index.docs(p.Query)
	for r, d := range p.Docs {
		s.index.pair(q, d)
		s.index.Slot(p.SlotName(r))
	}
	if err := s.Mem.Take(s.index.bytes-held, "pairs and slots"); err != nil {
		return err
	}
	if err := s.clicks(p); err != nil {
		return err
	}
	if p.Swapped != [2]int{} {
		a, b := min(p.Swapped[0], p.Swapped[1]), max(p.Swapped[0], p.Swapped[1])
		if err := s.exchange(p, 0, a, b, p.Swap); err != nil {
			return err
		}
	}
	if p.Pairs > 0 {
		for r := p.Pairs - 1; r+1 < len(p.Docs); r += 2 {
			if err := s.exchange(p, 1, r, r+1, slices.Contains(p.Exchanged, r)); err != nil {
				return err
			}
		}
	}
	return nil
}

// time notes the time of a page.
func (s *Survey) time(p *Page) {
	if p.Time.IsZero() {
		s.info.Untimed++
		return
	}
	if p.Time.Before(s.last) {
		s.info.Disordered++
	}
	s.last = p.Time
	if s.from.IsZero() || p.Time.Before(s.from) {
		s.from = p.Time
	}
	if p.Time.After(s.to) {
		s.to = p.Time
	}
}

// arm counts a page of an arm.
func (s *Survey) arm(p *Page) error {
	key := [3]string{p.Experiment, p.Arm, p.Version}
	k, known := s.arms[key]
	if !known {
		const armBytes = 400
		if err := s.Mem.Take(armBytes, "arms"); err != nil {
			return err
		}
		if s.arms == nil {
			s.arms = map[[3]string]int{}
		}
		for j := range key {
			key[j] = strings.Clone(key[j]) // it is part of a line
		}
		k = len(s.info.Arms)
		s.arms[key] = k
		s.info.Arms = append(s.info.Arms, ArmInfo{Experiment: key[0], Arm: key[1], Version: key[2]})
		s.times = append(s.times, [2]time.Time{})
	}
	a := &s.info.Arms[k]
	a.Pages++
	if p.Clicks != nil {
		clicks := 0.0
		for r := range p.Docs {
			if p.Clicked(r) {
				clicks++
			}
		}
		a.Weight += p.Weight
		a.Clicks += float64(p.Weight * clicks)
		a.Clicked += float64(p.Weight * min(1, clicks))
	}
	if t := &s.times[k]; !p.Time.IsZero() {
		if t[0].IsZero() || p.Time.Before(t[0]) {
			t[0] = p.Time
		}
		if p.Time.After(t[1]) {
			t[1] = p.Time
		}
	}
	return nil
}

// clicks adds the clicks of a page.
func (s *Survey) clicks(p *Page) error {
	w := p.Weight
	group := uint64(s.info.Pages) // pages without a user are their own units
	if p.User != "" {
		h := fnv.New64a()
		_, _ = h.Write([]byte(p.User)) // a hash returns no error
		group = h.Sum64()
	}
	group ^= group >> 32
	clicked := 0
	for r, c := range p.Clicks {
		if r == len(s.ranks) {
			if err := s.Mem.Take(16*groups, "ranks"); err != nil {
				return err
			}
			s.ranks = append(s.ranks, rankSums{group: make([][2]float64, groups)})
		}
		k := &s.ranks[r]
		g := &k.group[group%groups]
		k.shown, k.squares, g[0] = k.shown+w, k.squares+float64(w*w), g[0]+w
		if c > 0 {
			clicked++
			k.clicked, k.clickedSq, g[1] = k.clicked+w, k.clickedSq+float64(w*w), g[1]+w
			s.info.Repeated += float64(w * float64(c-1))
		}
	}
	for len(s.info.ByClicks) <= clicked {
		s.info.ByClicks = append(s.info.ByClicks, 0)
	}
	s.info.ByClicks[clicked]++
	s.info.Clicks += float64(w * float64(clicked))
	if p.Order != nil {
		s.info.Ordered++
		for i := 1; i < len(p.Order); i++ {
			if p.Order[i] < p.Order[i-1] {
				s.info.Back++
				break
			}
		}
	}
	return nil
}

var exchangeMethods = []string{"swapped", "pairs"}

// exchange adds a page whose ranks a and b were drawn for exchange.
func (s *Survey) exchange(p *Page, method, a, b int, exchanged bool) error {
	key := [3]int{method, a, b}
	e := s.swaps[key]
	if e == nil {
		const exchangeBytes = 200
		if err := s.Mem.Take(exchangeBytes, "exchanges"); err != nil {
			return err
		}
		if s.swaps == nil {
			s.swaps = map[[3]int]*ExchangeInfo{}
		}
		e = &ExchangeInfo{Method: exchangeMethods[method], A: a + 1, B: b + 1}
		s.swaps[key] = e
	}
	e.Pages += p.Weight
	if exchanged {
		e.Exchanged += p.Weight
	}
	if p.Clicked(a) {
		e.ClicksA += p.Weight
	}
	if p.Clicked(b) {
		e.ClicksB += p.Weight
	}
	return nil
}

// Info returns the summary. The tally is that of the reader.
func (s *Survey) Info(t *Tally) *Info {
	i := s.info
	i.Users, i.Queries, i.Pairs, i.Slots = t.Users.Len(), s.index.Queries(), s.index.Pairs(), len(s.index.Slots())
	i.From, i.To = pointer(s.from), pointer(s.to)
	i.Unit = "page"
	if i.Users > 0 {
		i.Unit = "user"
	}
	i.Ranks = []RankInfo{}
	for r := range s.ranks {
		i.Ranks = append(i.Ranks, s.ranks[r].info(r, i.Users > 0))
	}
	i.Arms, i.Together = s.armsInfo()
	i.Exchanges = []ExchangeInfo{}
	for _, e := range s.swaps {
		i.Exchanges = append(i.Exchanges, *e)
	}
	slices.SortFunc(i.Exchanges, func(a, b ExchangeInfo) int {
		return cmp.Or(cmp.Compare(b.Method, a.Method), cmp.Compare(a.A, b.A), cmp.Compare(a.B, b.B))
	})
	i.Robots = append([]User{}, t.Users.Robots()...)
	i.Odd = i.odd()
	if odd := s.index.variants(); odd != "" {
		i.Odd = append(i.Odd, odd)
	}
	for _, f := range t.Faults() {
		i.Odd = append(i.Odd, f.Text)
	}
	return &i
}

func pointer(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// info returns the click rate with its interval, that of Korn and Graubard (1998, Survey Methodology 24): the exact
// interval of as many independent pages as give the same variance.
func (k *rankSums) info(rank int, users bool) RankInfo {
	i := RankInfo{Rank: rank + 1, Shown: k.shown, Clicked: k.clicked, High: 1}
	if k.shown == 0 {
		return i
	}
	p := k.clicked / k.shown
	i.Rate = p
	n := float64(k.shown*k.shown) / k.squares // independent pages of equal weight
	variance := (float64(k.clickedSq*(1-2*p)) + float64(p*p*k.squares)) / float64(k.shown*k.shown)
	if users {
		sum, units := 0.0, 0.0
		for _, g := range k.group {
			if g[0] > 0 {
				z := g[1] - float64(p*g[0])
				sum += float64(z * z)
				units++
			}
		}
		n = min(n, units)
		variance = sum / float64(k.shown*k.shown)
		if units > 1 {
			variance *= units / (units - 1)
		}
	}
	if variance > 0 {
		n = p * (1 - p) / variance
	}
	clicks, rest := float64(n*p), float64(n*(1-p))
	if p > 0 {
		i.Low = elementary.BetaInverse(clicks, rest+1, stats.Alpha/2)
	}
	if p < 1 {
		i.High = elementary.BetaInverse(clicks+1, rest, 1-stats.Alpha/2)
	}
	return i
}

// armsInfo returns the arms and those that ran at the same time in one experiment.
func (s *Survey) armsInfo() (arms []ArmInfo, together [][2]int) {
	arms, together = append([]ArmInfo{}, s.info.Arms...), [][2]int{}
	for i := range arms {
		arms[i].From, arms[i].To = pointer(s.times[i][0]), pointer(s.times[i][1])
		for j := range i {
			a, b := s.times[j], s.times[i]
			if arms[i].Experiment == arms[j].Experiment && !a[0].IsZero() && !b[0].IsZero() && !a[1].Before(b[0]) && !b[1].Before(a[0]) {
				together = append(together, [2]int{j, i})
			}
		}
	}
	return arms, together
}

// odd returns sentences about what is odd.
func (i *Info) odd() []string {
	odd := []string{}
	add := func(is bool, format string, args ...any) {
		if is {
			odd = append(odd, fmt.Sprintf(format, args...))
		}
	}
	timed := i.Pages - i.Untimed
	add(i.WithoutClicks > 0, "%d pages have neither clicks nor clicked", i.WithoutClicks)
	add(i.Clicks == 0 && i.WithoutClicks < i.Pages, "no document was clicked")
	add(len(i.Ranks) == 1, "all pages have one document: nothing can be learned about ranks")
	if len(i.Ranks) > 1 {
		const enough = 20 // clicks
		first, second := i.Ranks[0], i.Ranks[1]
		add(first.Clicked == 0 && second.Clicked >= enough, "rank 1 has no click, and rank 2 has %v of %v pages: were ranks counted from 0, or clicks logged one rank too low? correct clicks", second.Clicked, second.Shown)
	}
	add(timed > 0 && i.Untimed > 0, "%d of %d pages have no time", i.Untimed, i.Pages)
	add(i.Disordered > 0, "%d pages are earlier than the page before them", i.Disordered)
	add(i.Weight != float64(i.Pages), "the weights of %d pages have the sum %v", i.Pages, i.Weight)
	add(len(i.Arms) > 1 && len(i.Together) == 0 && timed > 0, "no two arms ran at the same time: their difference may be that of their times")
	for _, e := range i.Exchanges {
		share := e.Exchanged / e.Pages
		z := math.Abs(share-0.5) / math.Sqrt(0.25/e.Pages)
		add(z > 4, "ranks %d and %d were exchanged on %.4f of %v pages, expected a half", e.A, e.B, share, e.Pages)
	}
	return odd
}

// variants returns a sentence if a twentieth of the queries differ from another one only in case and spaces, "" otherwise.
func (x *Index) variants() string {
	const share = 20
	plain := func(query string) uint64 {
		return mixed(fnvOffset, strings.Join(strings.Fields(strings.ToLower(query)), " "))
	}
	count := make(map[uint64]int, len(x.queries))
	for q := range x.queries {
		count[plain(q)]++
	}
	several, example := 0, uint64(math.MaxUint64)
	for h, n := range count {
		if n > 1 {
			several += n
			example = min(example, h)
		}
	}
	if several == 0 || share*several < len(x.queries) {
		return ""
	}
	var names []string
	for q := range x.queries {
		if plain(q) == example {
			names = append(names, q)
		}
	}
	slices.Sort(names)
	return fmt.Sprintf("%d of %d queries differ from another one only in case or spaces, such as %q and %q: each has a part of the clicks; write queries in one form, here and in the features", several, len(x.queries), names[0], names[1])
}
