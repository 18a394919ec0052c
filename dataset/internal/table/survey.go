package table

import (
	"fmt"
	"maps"
	"slices"
	"strings"
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

// Programs write the numbers of rows as a column. pandas and R give it no name, and a name when the
// table is read and written again. Such a column is no feature. It tells the grades if the rows were
// once sorted by them.

// numbersRows reports whether the name alone says that a column numbers the rows. pandas gives such
// names to an index in Parquet, pandas and R's readr to columns without a name.
func numbersRows(name string) bool {
	if rest, ok := strings.CutPrefix(name, "__index_level_"); ok {
		digits, ok := strings.CutSuffix(rest, "__")
		return ok && allDigits(digits)
	}
	if rest, ok := strings.CutPrefix(name, "Unnamed: "); ok {
		return !slices.ContainsFunc(strings.Split(rest, "."), func(part string) bool { return !allDigits(part) })
	}
	rest, ok := strings.CutPrefix(name, "...")
	return ok && allDigits(rest)
}

// mayNumberRows reports whether a column may number the rows by its name. pandas' reset_index writes such names.
// Features have such names, too.
func mayNumberRows(name string) bool {
	name = plainName(name)
	if level, ok := strings.CutPrefix(name, "level"); ok {
		return allDigits(level)
	}
	return slices.Contains([]string{"index", "idx", "row", "rowid", "rowindex", "rownr", "rownum", "rownumber"}, name)
}

func allDigits(text string) bool {
	return text != "" && !strings.ContainsFunc(text, func(r rune) bool { return r < '0' || r > '9' })
}

// maxRowNumber bounds the numbers that are looked at, and so the memory for them, to 32 MiB.
const maxRowNumber = 1 << 28

// rowsPart are the values of a column in a part of a table.
type rowsPart struct {
	numbers []uint32
	other   bool // some value is no row number
}

// Number notes a value of a column that may number the rows.
func (p *SurveyPart) Number(column int, value []byte) {
	if p.rows == nil {
		p.rows = make(map[int]*rowsPart)
	}
	part := p.rows[column]
	if part == nil {
		part = new(rowsPart)
		p.rows[column] = part
	}
	switch v, kind := Parse(value); {
	case part.other || kind == Missing:
	case kind == Number && v >= 0 && v < maxRowNumber && v == float64(uint32(v)):
		part.numbers = append(part.numbers, uint32(v))
	default:
		part.other, part.numbers = true, nil
	}
}

// rowNumbers is what a survey knows of the values of a column: whole numbers, none of them twice, or
// other is set. Rows that were left out of a table, and any order of them, do not matter.
type rowNumbers struct {
	seen  []uint64 // bits
	count int
	other bool
}

// add adds a part's values.
func (n *rowNumbers) add(part *rowsPart, mem *memory.Account) error {
	if n.other || part.other {
		n.end(mem)
		return nil
	}
	if len(part.numbers) == 0 {
		return nil
	}
	if more := int(slices.Max(part.numbers)/64) + 1 - len(n.seen); more > 0 {
		if err := mem.Take(8*int64(more), "row numbers"); err != nil {
			return err
		}
		n.seen = append(n.seen, make([]uint64, more)...)
	}
	n.count += len(part.numbers)
	for _, v := range part.numbers {
		if n.seen[v/64]>>(v%64)&1 == 1 {
			n.end(mem)
			return nil
		}
		n.seen[v/64] |= 1 << (v % 64)
	}
	return nil
}

// end notes that the column does not number the rows.
func (n *rowNumbers) end(mem *memory.Account) {
	mem.Give(8 * int64(len(n.seen)))
	n.seen, n.other = nil, true
}

// numbersRows reports whether the values of a column are row numbers.
func (s *Survey) numbersRows(name string) (bool, error) {
	if s.full != nil {
		return false, s.full
	}
	n := s.rows[name]
	if n == nil || n.other {
		return false, nil
	}
	s.mem.Give(8 * int64(len(n.seen)))
	n.seen = nil
	return n.count > 1, nil
}
