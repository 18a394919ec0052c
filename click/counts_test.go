package click

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
)

// drawn returns pages of mixed lengths with few distinct patterns.
func drawn(n int) []*Page {
	rng := rand.New(rand.NewPCG(1, 2))
	var pages []*Page
	for range n {
		p := &Page{Query: fmt.Sprint("q", rng.IntN(3)), Weight: float64(1 + rng.IntN(2))}
		for r := range 1 + rng.IntN(3) {
			p.Docs = append(p.Docs, fmt.Sprint("d", r, rng.IntN(2)))
			p.Clicks = append(p.Clicks, rng.IntN(3)-1)
			p.Clicks[r] = max(p.Clicks[r], 0)
		}
		if rng.IntN(4) == 0 {
			for range p.Docs {
				p.Slots = append(p.Slots, fmt.Sprint("s", len(p.Slots)))
			}
		}
		pages = append(pages, p)
	}
	return pages
}

// Claim: cells and patterns are sums over pages, found by going through the pages for each.
func TestCounts(t *testing.T) {
	pages := drawn(3000)
	c := Counts{Keep: true}
	weight := 0.
	for _, p := range pages {
		if err := c.Add(p); err != nil {
			t.Fatal(err)
		}
		weight += p.Weight
	}
	if c.Pages != len(pages) || c.Weight != weight {
		t.Errorf("found %d pages of weight %v, expected %d of %v", c.Pages, c.Weight, len(pages), weight)
	}
	places := 0.
	for i, cell := range c.Cells.List {
		query, doc := c.Name(int(cell.Pair))
		var want Count
		for _, p := range pages {
			r := slices.Index(p.Docs, doc)
			if p.Query != query || r != int(cell.Rank) || p.SlotName(r) != c.Slots()[cell.Slot] {
				continue
			}
			above := 0
			for k := range r {
				if p.Clicked(k) {
					above = k + 1
				}
			}
			if above != int(cell.Above) {
				continue
			}
			want.Shown += p.Weight
			if p.Clicked(r) {
				want.Clicked += p.Weight
			}
		}
		if c.Cells.Counts[i] != want {
			t.Errorf("cell %v: found %v, expected %v", cell, c.Cells.Counts[i], want)
		}
		places += want.Shown
	}
	all := 0.
	for _, p := range pages {
		all += p.Weight * float64(len(p.Docs))
	}
	if places != all {
		t.Errorf("found %v places in cells, expected %v", places, all)
	}
	seen, weight := map[string]bool{}, 0.
	for i := range c.Patterns.Len() {
		q := c.Patterns.At(i)
		key := fmt.Sprint(q.Pairs, q.Slots, q.Clicked)
		if seen[key] {
			t.Errorf("pattern %s occurs twice", key)
		}
		seen[key] = true
		weight += q.Weight
	}
	if weight != c.Weight || c.Patterns.Len() < 100 {
		t.Errorf("found %d patterns of weight %v, expected more than 100 of weight %v", c.Patterns.Len(), weight, c.Weight)
	}
}

// Claim: Check accepts a page and rejects each breach of the format.
func TestPageCheck(t *testing.T) {
	good := func() *Page {
		return &Page{Query: "q", Docs: []string{"a", "b", "c"}, Clicks: []int{0, 1, 2}, Weight: 1}
	}
	if err := good().Check(); err != nil {
		t.Error(err)
	}
	many := make([]string, MaxDocs+1)
	for i := range many {
		many[i] = strconv.Itoa(i)
	}
	for want, spoil := range map[string]func(p *Page){
		"found no query, expected its id":                                       func(p *Page) { p.Query = "" },
		"found no documents, expected at least one":                             func(p *Page) { p.Docs = nil },
		"found 1001 documents, expected at most 1000":                           func(p *Page) { p.Docs = many },
		`found document "a" twice, expected each document once`:                 func(p *Page) { p.Docs[2] = "a" },
		`found document "7" twice, expected each document once`:                 func(p *Page) { p.Docs = slices.Concat(many[:40], []string{"7"}) },
		"found 2 clicks, expected 3, one for each document":                     func(p *Page) { p.Clicks = p.Clicks[:2] },
		"found 0 slots, expected 3, one for each document":                      func(p *Page) { p.Slots = []string{} },
		`found -1 clicks on document "b", expected 0 or more`:                   func(p *Page) { p.Clicks[1] = -1 },
		"found propensity 1.5, expected a number above 0 and at most 1":         func(p *Page) { p.Propensity = 1.5 },
		"found swapped ranks 1 and 4, expected two different ranks from 1 to 3": func(p *Page) { p.Swapped = [2]int{0, 3} },
		"found 4 shuffled documents, expected 0 to 3":                           func(p *Page) { p.Shuffled = 4 },
		"found weight -1, expected a finite number of 0 or more":                func(p *Page) { p.Weight = -1 },
		`found propensity of document "a" 0, expected more: the log says that a ranking was shown that could not have been shown`: func(p *Page) {
			p.Propensities = []float64{0, 1, 1}
		},
	} {
		p := good()
		spoil(p)
		if err := p.Check(); err == nil || err.Error() != want {
			t.Errorf("found %v, expected %s", err, want)
		}
	}
}

// Claim: cells are the same whether the list of a page is remembered or not: of pages that are too long to be
// remembered, and of more lists than are.
func TestCountsOfManyLists(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	c, want := Counts{}, map[Cell]Count{}
	for n := range 3 * lists {
		docs := 2 + rng.IntN(2)
		if n%1000 == 0 {
			docs = listDocs + 1 + rng.IntN(2)
		}
		p := &Page{Query: fmt.Sprint("q", rng.IntN(50)), Clicks: make([]int, docs), Weight: 1}
		for _, k := range rng.Perm(60)[:docs] {
			p.Docs = append(p.Docs, fmt.Sprint("d", k))
		}
		if rng.IntN(2) == 0 {
			for r := range docs {
				p.Slots = append(p.Slots, strconv.Itoa(docs-r))
			}
		}
		p.Clicks[rng.IntN(docs)] = 1
		if err := c.Add(p); err != nil {
			t.Fatal(err)
		}
		above := 0
		for r, d := range p.Docs {
			cell := Cell{Pair: int32(c.Lookup(p.Query, d)), Slot: uint16(c.LookupSlot(p.SlotName(r))), Rank: uint16(r), Above: uint16(above)}
			k := want[cell]
			k.Shown++
			if p.Clicked(r) {
				k.Clicked++
				above = r + 1
			}
			want[cell] = k
		}
	}
	if len(want) != len(c.Cells.List) {
		t.Errorf("found %d cells, expected %d", len(c.Cells.List), len(want))
	}
	for i, cell := range c.Cells.List {
		if c.Cells.Counts[i] != want[cell] {
			t.Fatalf("cell %v: found %v, expected %v", cell, c.Cells.Counts[i], want[cell])
		}
	}
}
