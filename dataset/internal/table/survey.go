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

// Survey collects the values of text columns, and row numbers, before a table is parsed. Each goroutine adds
// values through a SurveyPart of its own.
type Survey struct {
	mem *memory.Account

	mu   sync.Mutex
	seen map[string]map[string]bool // values of each column; incomplete beyond MaxOneHot values
	text map[string]bool            // columns that contain text
	rows map[string]*rowNumbers     // columns that may contain row numbers
	full error                      // error about the memory limit, or nil
}

// NewSurvey returns an empty survey, which counts its memory with mem.
func NewSurvey(mem *memory.Account) *Survey {
	return &Survey{mem: mem, seen: make(map[string]map[string]bool), text: make(map[string]bool), rows: make(map[string]*rowNumbers)}
}

// A SurveyPart collects the values of a part of the table. Only one goroutine may use it.
type SurveyPart struct {
	survey *Survey
	seen   []map[string]bool // values of each column
	text   []bool
	rows   map[int]*rowsPart
}

// Part returns an empty part of the survey.
func (s *Survey) Part() *SurveyPart { return &SurveyPart{survey: s} }

// Add records a value of a column. The caller numbers the columns from 0. Done maps these numbers to names.
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

// Done adds the values of the part to the survey. name returns the name of a column, given its number.
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

// values returns the sorted values of a column. It is an error if there are more than MaxOneHot.
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

// Some programs write row numbers as a column. pandas and R leave its name empty, and make up a name when they
// read the table and write it again. Such a column must not be a feature: if the rows were once sorted by
// grade, it reveals the grades.

// numbersRows reports whether the name alone shows that a column contains row numbers. pandas writes such
// names for an index in Parquet. pandas and R's readr make them up for columns without a name.
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

// mayNumberRows reports whether a column may contain row numbers, judging by its name. pandas' reset_index
// writes such names. A feature may have such a name, too.
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

// maxRowNumber is the limit of row numbers. It bounds the memory of rowNumbers to 32 MiB.
const maxRowNumber = 1 << 28

// rowsPart has the values of a column in a part of a table.
type rowsPart struct {
	numbers []uint32
	other   bool // some value is not a row number
}

// Number records a value of a column that may contain row numbers.
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

// rowNumbers is the set of the values of a column. If other is set, the column does not contain row numbers: a
// value is not a whole number, or it occurs twice. Rows may be in any order, and some may be absent.
type rowNumbers struct {
	seen  []uint64 // bit set
	count int
	other bool
}

// add adds the values of a part.
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

// end records that the column does not contain row numbers.
func (n *rowNumbers) end(mem *memory.Account) {
	mem.Give(8 * int64(len(n.seen)))
	n.seen, n.other = nil, true
}

// numbersRows reports whether the values of a column are row numbers. It frees their memory.
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
