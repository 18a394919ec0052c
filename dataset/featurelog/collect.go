package featurelog

import (
	"fmt"
	"math"
	"strconv"
	"unsafe"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/stream"
)

// collector collects the features of a log.
type collector struct {
	*Log
	columns int
	visit   func(b *stream.Batch) error
	b       stream.Batch
	docs    int // visited
	reached int // answers
	begun   bool
	last    []int
	stamps  []int
}

// Each implements stream.Source.
func (l *Log) Each(columns int, visit func(b *stream.Batch) error) error {
	c := &collector{Log: l, columns: columns, visit: visit, stamps: make([]int, len(l.names))}
	l.absent, l.ranges = 0, make([]span, len(l.names))
	for j := range l.ranges {
		l.ranges[j] = span{float32(math.Inf(1)), float32(math.Inf(-1))}
	}
	if err := l.pass(c, func(string) {}); err != nil {
		return err
	}
	if c.docs != len(l.grades) || c.reached != len(l.answers) {
		return c.changed()
	}
	return c.flush()
}

func (c *collector) changed() error { return fmt.Errorf("%s: %w", c.name, dataset.ErrChanged) }

func (c *collector) flush() error {
	if len(c.b.Grades) == 0 {
		return nil
	}
	err := c.visit(&c.b)
	b := &c.b
	b.Runs, b.Grades, b.X, b.DocText, b.DocEnd, b.Absent = b.Runs[:0], b.Grades[:0], b.X[:0], b.DocText[:0], b.DocEnd[:0], 0
	c.begun = false
	return err
}

// answer implements visitor.
func (c *collector) answer([]byte, string) error {
	c.reached++
	c.begun = false
	return nil
}

// document implements visitor.
func (c *collector) document(d *document) error {
	if c.docs == len(c.grades) || c.reached == len(c.answers) {
		return c.changed()
	}
	grade := c.grades[c.docs]
	c.docs++
	if grade != grade {
		return nil
	}
	b := &c.b
	if !c.begun {
		b.Runs, c.begun = append(b.Runs, stream.Run{ID: c.queries[c.answers[c.reached]].ID}), true
	}
	b.Runs[len(b.Runs)-1].Docs++
	b.Grades = append(b.Grades, grade)
	b.DocText = append(b.DocText, d.id...)
	b.DocEnd = append(b.DocEnd, uint32(len(b.DocText)))
	if err := c.row(d); err != nil {
		return err
	}
	const mostText = 1 << 18
	if len(b.Grades) >= stream.BatchDocs(c.columns) || len(b.DocText) >= mostText {
		return c.flush()
	}
	return nil
}

// row adds the features of a document.
func (c *collector) row(d *document) error {
	from := len(c.b.X)
	absent := float32(0)
	if c.o.Absent == AbsentMissing {
		absent = float32(math.NaN())
	}
	for range c.columns {
		c.b.X = append(c.b.X, absent)
	}
	row, matched := c.b.X[from:], 0
	for i, f := range d.features {
		if i == len(c.last) {
			c.last = append(c.last, 0)
		}
		j := c.last[i]
		if c.names[j] != string(f.name) {
			other, known := c.index[string(f.name)]
			if !known {
				return c.changed()
			}
			j, c.last[i] = other, other
		}
		if f.value == nil {
			continue
		}
		x, err := d.number(f)
		if err != nil {
			return err
		}
		row[j], c.stamps[j] = x, c.docs
		matched++
		r := &c.ranges[j]
		r.low, r.high = min(r.low, x), max(r.high, x)
	}
	if n := len(c.names) - matched; n > 0 {
		c.absent += n
		for j := range c.names {
			if c.stamps[j] != c.docs && c.o.Absent != AbsentMissing {
				c.ranges[j].low, c.ranges[j].high = min(c.ranges[j].low, 0), max(c.ranges[j].high, 0)
			}
		}
	}
	return nil
}

// number returns the finite number that text is, in decimal digits.
func number(text []byte) (float32, bool) {
	for _, c := range text {
		if (c < '0' || c > '9') && c != '.' && c != '-' && c != '+' && c != 'e' && c != 'E' {
			return 0, false // strconv takes hexadecimals, inf, nan and underscores, too
		}
	}
	x, err := strconv.ParseFloat(unsafe.String(unsafe.SliceData(text), len(text)), 32)
	return float32(x), err == nil
}

// doubts returns warnings about partial answers and about features with one value.
func (l *Log) doubts() (warnings []string) {
	if l.partial > 0 {
		warnings = append(warnings, fmt.Sprintf("%s: the engine did not search all documents in %d of %d answers, first for the query %s: found %s", l.name, l.partial, len(l.answers), l.first.query, l.first.reason))
	}
	kept := 0
	for i := range l.queries {
		kept += l.queries[i].Documents
	}
	if kept < 2 {
		return warnings
	}
	for j, r := range l.ranges {
		if r.low == r.high {
			warnings = append(warnings, fmt.Sprintf("%s: the feature %s is %v in all documents: it cannot rank them", l.name, l.names[j], r.low))
		}
	}
	return warnings
}
