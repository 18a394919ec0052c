package model

import (
	"math/rand/v2"

	"github.com/listwise/listwise/click"
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

// Add adds a page, whose slices are not kept.
func (s *Sample) Add(p *click.Page) error {
	s.Keep = true
	if err := s.Counts.Add(p); err != nil {
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
