package table

import (
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/memory"
)

// Survey collects the values of columns of text, and row numbers, before a table is parsed. Each
// goroutine adds a part of its own.
type Survey struct {
	mem *memory.Account

	mu   sync.Mutex
	seen map[string]map[string]bool // of every column; beyond MaxOneHot values not all of them
	text map[string]bool            // columns in which text stands
	rows map[string]*rowNumbers     // columns that may number the rows
	full error                      // the memory is used up
}

// NewSurvey returns a survey of a table whose memory is counted.
func NewSurvey(mem *memory.Account) *Survey {
	return &Survey{mem: mem, seen: make(map[string]map[string]bool), text: make(map[string]bool), rows: make(map[string]*rowNumbers)}
}

// A SurveyPart collects the values of a part of the table. It is used by one goroutine.
type SurveyPart struct {
	survey *Survey
	seen   []map[string]bool // by the part's numbers of columns
	text   []bool
	rows   map[int]*rowsPart
}

// Part begins a part.
func (s *Survey) Part() *SurveyPart { return &SurveyPart{survey: s} }

// Add notes a value of a column, which the part counts as it likes, from 0.
func (p *SurveyPart) Add(column int, value []byte) {
	for len(p.seen) <= column {
		p.seen, p.text = append(p.seen, nil), append(p.text, false)
	}
	_, kind := Parse(value)
	if kind == Missing {
		return
	}
	p.text[column] = p.text[column] || kind == Text
	seen := p.seen[column]
	if seen[string(value)] || len(seen) > dataset.MaxOneHot {
		return
	}
	if seen == nil {
		seen = make(map[string]bool)
		p.seen[column] = seen
	}
	seen[string(value)] = true
}

// Done adds what the part has found to the survey; name returns the names of its columns.
func (p *SurveyPart) Done(name func(column int) string) {
	s := p.survey
	s.mu.Lock()
	defer s.mu.Unlock()
	for column, seen := range p.seen {
		if seen == nil {
			continue
		}
		of := name(column)
		s.text[of] = s.text[of] || p.text[column]
		if s.seen[of] == nil {
			s.seen[of] = make(map[string]bool)
		}
		for v := range seen {
			if s.seen[of][v] || len(s.seen[of]) > dataset.MaxOneHot || s.full != nil {
				continue
			}
			s.full = s.mem.Take(memory.KnownBytes+int64(len(v)), "values of text columns")
			s.seen[of][v] = true
		}
	}
	for column, part := range p.rows {
		of := name(column)
		if s.rows[of] == nil {
			s.rows[of] = new(rowNumbers)
		}
		if err := s.rows[of].add(part, s.mem); err != nil && s.full == nil {
			s.full = err
		}
	}
}

// values returns the values of a column in sorted order.
func (s *Survey) values(name string) ([]string, error) {
	if s.full != nil {
		return nil, s.full
	}
	if len(s.seen[name]) > dataset.MaxOneHot {
		return nil, &dataset.SyntaxError{
			Found:    fmt.Sprintf("more than %d values in column %q", dataset.MaxOneHot, name),
			Expected: fmt.Sprintf("at most so many to make features of (--features 'all but %s' leaves the column out)", name),
		}
	}
	return slices.Sorted(maps.Keys(s.seen[name])), nil
}
