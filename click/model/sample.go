package model

import (
	"math/rand/v2"
	"strconv"

	"github.com/listwise/listwise/click"
	"github.com/listwise/listwise/internal/parallel"
	"github.com/listwise/listwise/internal/random"
)

// Sample is a log whose pages are kept one by one, in numbers, for bootstraps over units. A unit is what is
// independent: a user if pages name users, else the page.
type Sample struct {
	click.Counts
	Users int // number of users named

	pages   []samplePage
	users   map[string]int32
	units   int32
	queries map[string]int
}

type samplePage struct {
	pattern, unit int32
	weight        float64
}

// pageBytes is the memory of a page and of its share in the names of users.
const pageBytes = 24

// Add adds a page, whose slices are not kept.
func (s *Sample) Add(p *click.Page) error {
	s.Keep = true
	if err := s.Counts.Add(p); err != nil {
		return err
	}
	if err := s.Mem.Take(pageBytes, "pages by user"); err != nil {
		return err
	}
	if s.queries == nil {
		s.users, s.queries = map[string]int32{}, map[string]int{}
	}
	s.queries[p.Query]++
	unit, ok := s.users[p.User]
	if p.User == "" || !ok {
		unit = s.units
		s.units++
	}
	if p.User != "" && !ok {
		s.users[p.User] = unit
		s.Users++
	}
	s.pages = append(s.pages, samplePage{int32(s.Pattern), unit, p.Weight})
	return nil
}

// Units returns the number of units.
func (s *Sample) Units() int { return int(s.units) }

// PagesOf returns the number of pages of a query.
func (s *Sample) PagesOf(query string) int { return s.queries[query] }

// draw sets weights to those of the patterns in a sample of the units with replacement.
func (s *Sample) draw(rng *rand.Rand, times []float64, weights []float64) {
	clear(times)
	for range times {
		times[rng.IntN(len(times))]++
	}
	clear(weights)
	for _, p := range s.pages {
		weights[p.pattern] += float64(times[p.unit] * p.weight)
	}
}

// Bootstrap calls use for n samples of the units with replacement, from several goroutines. Pairs and slots have the
// same numbers as in s.
func (s *Sample) Bootstrap(n int, seed uint64, workers int, use func(b int, c *click.Counts)) {
	parallel.For(n, workers, func(_, b int) {
		times, weights := make([]float64, s.units), make([]float64, s.Patterns.Len())
		s.draw(random.Stream(seed, "clicks", strconv.Itoa(b)), times, weights)
		c := &click.Counts{Index: s.Index, Keep: true, Pages: s.Pages, Ranks: s.Ranks}
		for i, weight := range weights {
			if weight == 0 {
				continue
			}
			p := s.Patterns.At(i)
			above := uint16(0)
			for r, pair := range p.Pairs {
				c.Cells.Add(click.Cell{Pair: pair, Slot: p.Slots[r], Rank: uint16(r), Above: above}, weight, p.Clicked[r])
				if p.Clicked[r] {
					above = uint16(r + 1)
				}
			}
			c.Patterns.Add(p.Pairs, p.Slots, p.Clicked, weight)
			c.Weight += weight
		}
		use(b, c)
	})
}
