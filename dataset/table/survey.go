package table

import (
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/internal/input"
)

// Survey collects the values of columns of text before a table is parsed. Each goroutine
// adds a part of its own.
type Survey struct {
	columns *Columns
	mem     *input.Memory

	mu   sync.Mutex
	seen []map[string]bool // of every column; beyond MaxOneHot values not all of them
	text []bool            // columns in which text stands
	full error             // the memory is used up
}

// NewSurvey returns a survey of a table.
func NewSurvey(c *Columns, mem *input.Memory) *Survey {
	return &Survey{columns: c, mem: mem, seen: make([]map[string]bool, len(c.List)), text: make([]bool, len(c.List))}
}

// Wants reports whether the values of a column are to be added.
func (s *Survey) Wants(column int) bool {
	role := s.columns.List[column].Role
	return role == OneHot || role == Feature && s.columns.Auto
}

// A SurveyPart collects the values of a part of the table. It is used by one goroutine.
type SurveyPart struct {
	survey *Survey
	seen   []map[string]bool
	text   []bool
}

// Part begins a part.
func (s *Survey) Part() *SurveyPart {
	return &SurveyPart{s, make([]map[string]bool, len(s.seen)), make([]bool, len(s.seen))}
}

// Add notes a value of a column that the survey wants.
func (p *SurveyPart) Add(column int, value []byte) {
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

// Done adds what the part has found to the survey.
func (p *SurveyPart) Done() {
	s := p.survey
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, seen := range p.seen {
		s.text[i] = s.text[i] || p.text[i]
		if s.seen[i] == nil && seen != nil {
			s.seen[i] = make(map[string]bool)
		}
		for v := range seen {
			if s.seen[i][v] || len(s.seen[i]) > dataset.MaxOneHot {
				continue
			}
			if err := s.mem.Take(input.KnownBytes+int64(len(v)), "values of text columns"); err != nil && s.full == nil {
				s.full = err
			}
			s.seen[i][v] = true
		}
	}
}

// values returns the values of a column in sorted order.
func (s *Survey) values(column int, name string) ([]string, error) {
	if s.full != nil {
		return nil, s.full
	}
	if len(s.seen[column]) > dataset.MaxOneHot {
		return nil, &dataset.SyntaxError{
			Found:    fmt.Sprintf("more than %d values in column %q", dataset.MaxOneHot, name),
			Expected: fmt.Sprintf("at most so many to make features of (--features 'all but %s' leaves the column out)", name),
		}
	}
	return slices.Sorted(maps.Keys(s.seen[column])), nil
}
