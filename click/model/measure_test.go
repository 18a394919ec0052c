package model

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/listwise/listwise/click"
)

// sampleOf are pages of mixed lengths of users, with clicks that fall with the rank.
func sampleOf(t testing.TB, seed uint64, pages int) *Sample {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 1))
	s := new(Sample)
	for range pages {
		p := &click.Page{Query: fmt.Sprint("q", rng.IntN(4)), User: fmt.Sprint("u", rng.IntN(40)), Weight: float64(1 + rng.IntN(2))}
		for r, d := range rng.Perm(8)[:1+rng.IntN(5)] {
			p.Docs = append(p.Docs, fmt.Sprint("d", d))
			p.Clicks = append(p.Clicks, 0)
			if rng.Float64()*float64(r+2) < 1-float64(d)/10 {
				p.Clicks[r] = 1
			}
		}
		if rng.IntN(5) == 0 {
			p.User = ""
		}
		if err := s.Add(p); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// pagesOf are the pages of a sample with their weights.
func pagesOf(s *Sample) (pages []*click.Page) {
	for _, sp := range s.pages {
		q := s.Patterns.At(int(sp.pattern))
		p := &click.Page{Weight: sp.weight}
		for r, pair := range q.Pairs {
			var doc string
			p.Query, doc = s.Name(int(pair))
			p.Docs, p.Clicks = append(p.Docs, doc), append(p.Clicks, 0)
			if q.Clicked[r] {
				p.Clicks[r] = 1
			}
		}
		pages = append(pages, p)
	}
	return pages
}

// Claim: measures agree with their definitions, computed page by page.
func TestMeasures(t *testing.T) {
	train, test := sampleOf(t, 1, 400), sampleOf(t, 2, 300)
	models := fitted(t, &train.Counts, Options{})
	c, err := Compare(context.Background(), models, test, CompareOptions{})
	if err != nil {
		t.Fatal(err)
	}
	best := 0
	for i, m := range models {
		var ll, weight float64
		bits, counts := [2][5]float64{}, [5]float64{}
		for _, p := range pagesOf(test) {
			var out [2][]float64
			if out[0], err = m.Full(p); err != nil {
				t.Fatal(err)
			}
			if out[1], err = m.Conditional(p); err != nil {
				t.Fatal(err)
			}
			own := 0.0
			for r := range p.Docs {
				counts[r] += p.Weight
				for k := range out {
					v := math.Min(math.Max(out[k][r], 1e-6), 1-1e-6)
					if !p.Clicked(r) {
						v = 1 - v
					}
					bits[k][r] += p.Weight * math.Log2(v)
					if k == 1 {
						own += math.Log(v)
					}
				}
			}
			ll += p.Weight * own / float64(len(p.Docs))
			weight += p.Weight
		}
		got := c.Models[i]
		near := func(what string, got, want float64) {
			if math.Abs(got-want) > 1e-12 {
				t.Errorf("%s: found %s %v, expected %v", m.Name, what, got, want)
			}
		}
		near("log-likelihood", got.LogLikelihood.Value, ll/weight)
		var means [2]float64
		for k := range bits {
			for r := range counts {
				v := math.Exp2(-bits[k][r] / counts[r])
				means[k] += v / 5
				near("perplexity by rank", []Estimate{got.Ranks[r].Perplexity, got.Ranks[r].Conditional}[k].Value, v)
			}
		}
		near("perplexity", got.Perplexity.Value, means[0])
		near("conditional perplexity", got.Conditional.Value, means[1])
		near("difference", got.Less.Perplexity.Value, got.Perplexity.Value-c.Models[c.Best].Perplexity.Value)
		if got.LogLikelihood.Value > c.Models[best].LogLikelihood.Value {
			best = i
		}
	}
	if c.Best != best || c.Pages != 300 || c.LeftOut != 0 {
		t.Errorf("found best %d, %d pages, %d left out, expected %d, 300, 0", c.Best, c.Pages, c.LeftOut, best)
	}
}

// Claim: pages with slots or ranks that a model does not have are left out for all models, counted and named.
func TestLeftOut(t *testing.T) {
	train, test := new(Sample), new(Sample)
	add := func(s *Sample, slots ...string) {
		p := &click.Page{Query: "q", Docs: []string{"a", "b", "c"}[:len(slots)], Clicks: []int{1, 0, 0}[:len(slots)], Slots: slots, Weight: 1}
		if err := s.Add(p); err != nil {
			t.Fatal(err)
		}
	}
	add(train, "1", "2")
	for range 4 {
		add(test, "1", "2")
		add(test, "2", "1")
	}
	add(test, "1", "ad")
	add(test, "1", "2", "3")
	for name, want := range map[string]struct {
		out     int
		unknown []string
	}{"pbm": {2, []string{"ad", "3"}}, "rctr": {2, []string{"ad", "3"}}, "ubm": {1, []string{"3"}}, "dcm": {1, []string{"3"}}, "dbn": {0, nil}} {
		k, _ := Lookup(name)
		m, err := arrange(t, &train.Counts).Fit(context.Background(), k, Options{})
		if err != nil {
			t.Fatal(err)
		}
		c, err := Compare(context.Background(), []*Model{m}, test, CompareOptions{})
		if err != nil || c.LeftOut != want.out || !slices.Equal(c.Unknown, want.unknown) || c.Pages != 10-want.out {
			t.Errorf("%s: found %+v, %v, expected %v left out", name, c, err, want)
		}
		_, err = m.Full(&click.Page{Query: "q", Docs: []string{"a", "b", "c"}, Slots: []string{"1", "ad", "2"}})
		if (err != nil) != (name != "dbn") {
			t.Errorf("%s: found %v for slots 1, ad, 2", name, err)
		}
	}
}

// Claim: intervals are of samples of units. With a page a unit, their width is that of the standard error. With ten
// users, whose pages are alike, it is that of ten pages.
func TestIntervals(t *testing.T) {
	k, _ := Lookup("gctr")
	for _, users := range []int{0, 10} {
		s := new(Sample)
		rng := rand.New(rand.NewPCG(3, 4))
		for i := range 1000 {
			p := &click.Page{Query: "q", Docs: []string{"a"}, Clicks: []int{rng.IntN(2)}, Weight: 1}
			if users > 0 {
				p.User = strconv.Itoa(i % users)
				p.Clicks[0] = i % users % 2
			}
			if err := s.Add(p); err != nil {
				t.Fatal(err)
			}
		}
		m, err := arrange(t, &s.Counts).Fit(context.Background(), k, Options{})
		if err != nil {
			t.Fatal(err)
		}
		m.Shared[0] = .25
		c, err := Compare(context.Background(), []*Model{m}, s, CompareOptions{Resamples: 1000, Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		units := float64(max(users, 0))
		if users == 0 {
			units = 1000
		}
		want := 2 * 1.96 * math.Log(3) / 2 / math.Sqrt(units)
		e := c.Models[0].LogLikelihood
		if got := e.High - e.Low; math.Abs(got/want-1) > .2 || float64(c.Units) != units {
			t.Errorf("%d users: found a width of %v and %d units, expected about %v", users, got, c.Units, want)
		}
		if !(e.Low < e.Value && e.Value < e.High) {
			t.Errorf("%d users: found %+v, expected the value within", users, e)
		}
	}
}

// Claim: fits, measures and judgements have the same bits on one, two and four workers.
func TestWorkers(t *testing.T) {
	train, test := sampleOf(t, 1, 3000), sampleOf(t, 2, 300)
	var first string
	for _, workers := range []int{1, 2, 4} {
		var b strings.Builder
		models := fitted(t, &train.Counts, Options{Exact: true, Workers: workers})
		d := arrange(t, &train.Counts)
		for _, m := range models {
			fmt.Fprint(&b, textOf(t, m), m.Steps)
			if m.Grades() {
				j, err := d.Judge(context.Background(), m, false, workers)
				if err != nil {
					t.Fatal(err)
				}
				fmt.Fprint(&b, j)
			}
		}
		c, err := Compare(context.Background(), models, test, CompareOptions{Resamples: 50, Workers: workers})
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "%+v", c)
		text := b.String()
		if first == "" {
			first = text
		}
		if text != first {
			t.Errorf("%d workers: the results differ from the results with one worker", workers)
		}
	}
}
