package click

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"
	"unsafe"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/internal/strictjson"
	"github.com/listwise/listwise/internal/suggest"
)

// batch is the pages of a chunk. It is reused, and the slices of its pages are parts of the lists below.
type batch struct {
	pages      []Page
	fault      error // about the line behind the pages, or nil
	faultLine  int
	incomplete bool     // a last line that was cut off was left out
	unknown    []string // names of members that are not known

	scanner strictjson.Scanner
	line    string // the current line, which the strings of its page are parts of
	strings []string
	ints    []int
	floats  []float64
}

// parseLines parses the lines of a chunk.
func (c *chunk) parseLines() {
	c.pages, c.fault, c.incomplete, c.unknown = c.pages[:0], nil, false, c.unknown[:0]
	c.strings, c.ints, c.floats = c.strings[:0], c.ints[:0], c.floats[:0]
	c.scanner.Line = true
	text := c.text
	if c.line == 1 {
		text = bytes.TrimPrefix(text, []byte("\ufeff"))
	}
	for at := c.line; len(text) > 0; at++ {
		line, rest, ended := bytes.Cut(text, []byte("\n"))
		text = rest
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		n := len(c.pages)
		c.pages = append(c.pages, Page{Weight: 1, Line: at})
		err := c.parseLine(&c.pages[n], string(line))
		if err == nil {
			continue
		}
		c.pages = c.pages[:n]
		if !ended && c.open && cutOff(line) {
			c.incomplete = true
			return
		}
		c.fault, c.faultLine = err, at
		return
	}
}

// cutOff reports whether a line is the beginning of an object.
func cutOff(line []byte) bool {
	s := strictjson.Scanner{Text: line}
	_, err := s.Skip(0)
	f, ok := errors.AsType[*strictjson.Fault](err)
	return ok && line[0] == '{' && !bytes.ContainsAny(line[f.At:], `,:]}`)
}

// member is a member of a page.
type member struct {
	name string
	read func(b *batch, p *Page, at int) (next int, err error)
}

// members are all members of a page. Their places in this list are bits in which parseLine notes those that
// occurred.
var members = []member{
	{"query", idMember(func(p *Page) *string { return &p.Query })},
	{"docs", idsMember("docs", func(p *Page) *[]string { return &p.Docs })},
	{"clicks", func(b *batch, p *Page, at int) (next int, err error) { return b.counts(at, "clicks", &p.Clicks) }},
	{"page", idMember(func(p *Page) *string { return &p.ID })},
	{"user", idMember(func(p *Page) *string { return &p.User })},
	{"time", (*batch).time},
	{"slots", func(b *batch, p *Page, at int) (next int, err error) { return b.list(at, "slots", true, &p.Slots) }},
	{"clicked", nil}, // needs docs, see parseLine
	{"order", (*batch).order},
	{"experiment", idMember(func(p *Page) *string { return &p.Experiment })},
	{"arm", idMember(func(p *Page) *string { return &p.Arm })},
	{"version", idMember(func(p *Page) *string { return &p.Version })},
	{"team", func(b *batch, p *Page, at int) (next int, err error) { return b.counts(at, "team", &p.Team) }},
	{"softmax", (*batch).softmax},
	{"balanced", (*batch).balanced},
	{"propensity", func(b *batch, p *Page, at int) (next int, err error) {
		if p.Propensity, next, err = b.number(at, "propensity"); err == nil {
			err = probability("propensity", "", p.Propensity)
		}
		return next, err
	}},
	{"propensities", (*batch).propensities},
	{"swapped", (*batch).swapped},
	{"swap", (*batch).swap},
	{"pairs", func(b *batch, p *Page, at int) (next int, err error) {
		p.Pairs, next, err = b.count(at, "pairs")
		return next, err
	}},
	{"exchanged", func(b *batch, p *Page, at int) (next int, err error) { return b.ranks(at, "exchanged", &p.Exchanged) }},
	{"shuffled", func(b *batch, p *Page, at int) (next int, err error) {
		p.Shuffled, next, err = b.count(at, "shuffled")
		return next, err
	}},
	{"candidates", idsMember("candidates", func(p *Page) *[]string { return &p.Candidates })},
	{"orders", (*batch).orders},
	{"weight", func(b *batch, p *Page, at int) (next int, err error) {
		p.Weight, next, err = b.number(at, "weight")
		return next, err
	}},
}

func idMember(of func(p *Page) *string) func(b *batch, p *Page, at int) (next int, err error) {
	return func(b *batch, p *Page, at int) (next int, err error) {
		*of(p), next, err = b.id(at, false)
		return next, err
	}
}

func idsMember(what string, of func(p *Page) *[]string) func(b *batch, p *Page, at int) (next int, err error) {
	return func(b *batch, p *Page, at int) (next int, err error) { return b.list(at, what, false, of(p)) }
}

// memberAt returns the place of a member, -1 if it is not known. A page usually has its members in the order of
// members, so the search begins after the last one.
func memberAt(key []byte, last int) int {
	for i := last + 1; i < len(members); i++ {
		if members[i].name == string(key) {
			return i
		}
	}
	return slices.IndexFunc(members[:last+1], func(m member) bool { return m.name == string(key) })
}

// The places of members that others need.
var clickedAt, clicksAt, swapAt, exchangedAt = placeOf("clicked"), placeOf("clicks"), placeOf("swap"), placeOf("exchanged")

func placeOf(name string) int { return memberAt([]byte(name), -1) }

// whether returns an error unless a page with documents drawn for exchange says whether they were exchanged.
func (p *Page) whether(swap, exchanged bool) error {
	switch {
	case p.Swapped != [2]int{} && !swap:
		return bad("swapped without swap", "swap, which says whether the ranks were exchanged")
	case p.Pairs != 0 && !exchanged:
		return bad("pairs without exchanged", "exchanged, the upper ranks of the exchanged pairs, [] if none were")
	}
	return nil
}

// mostUnknown is the largest number of unknown members that are remembered.
const mostUnknown = 20

// parseLine parses a page.
func (b *batch) parseLine(p *Page, line string) error {
	b.line = line
	b.scanner.Reset(unsafe.Slice(unsafe.StringData(line), len(line))) // the scanner changes no text
	seen, last, clicked := uint64(0), -1, -1
	at, err := b.scanner.Object(0, "a page", func(key []byte, _, at int) (int, error) {
		i := memberAt(key, last)
		if i < 0 {
			b.ignore(key)
			return b.scanner.Skip(at)
		}
		if seen&(1<<i) != 0 {
			return at, bad("the member "+members[i].name+" a second time", "it once")
		}
		seen, last = seen|1<<i, i
		switch {
		case at < len(line) && line[at] == 'n': // null is no member
			seen &^= 1 << i
			return b.scanner.Skip(at)
		case i == clickedAt:
			clicked = at
			return b.scanner.Skip(at)
		}
		return members[i].read(b, p, at)
	})
	if at = b.scanner.Blanks(at); err == nil && at < len(line) {
		err = bad(b.scanner.Token(at)+" behind the page", "the end of the line")
	}
	if err == nil && clicked >= 0 {
		if seen&(1<<clicksAt) != 0 {
			return bad("clicks and clicked", "one of them")
		}
		err = b.clicked(clicked, p)
	}
	if err == nil {
		err = p.whether(seen&(1<<swapAt) != 0, seen&(1<<exchangedAt) != 0)
	}
	if err != nil {
		return err
	}
	return p.Check()
}

// ignore notes a member that is not known.
func (b *batch) ignore(key []byte) {
	if len(b.unknown) < mostUnknown && !slices.ContainsFunc(b.unknown, func(name string) bool { return name == string(key) }) {
		b.unknown = append(b.unknown, string(key[:min(len(key), 100)]))
	}
}

// text returns a string of the current line without a copy.
func (b *batch) text(text []byte, at, next int) string {
	if next-at == len(text)+2 { // in quotes, without escapes
		return b.line[at+1 : next-1]
	}
	return string(text)
}

// id reads a string or a whole number, or any number if rational is set.
func (b *batch) id(at int, rational bool) (id string, next int, err error) {
	if at < len(b.line) && b.line[at] == '"' {
		text, next, err := b.scanner.String(at)
		return b.text(text, at, next), next, err
	}
	text, next, err := b.scanner.Scalar(at)
	switch {
	case err != nil:
		return "", at, err
	case len(text) == 0 || text[0] != '-' && (text[0] < '0' || text[0] > '9') || !rational && bytes.ContainsAny(text, ".eE"):
		expected := "an id, a string or a whole number"
		if rational {
			expected = "a string or a number"
		}
		return "", at, bad(b.scanner.Token(at), expected)
	}
	return b.line[at:next], next, nil
}

// list reads a list of ids, or of strings and numbers.
func (b *batch) list(at int, what string, rational bool, to *[]string) (next int, err error) {
	from := len(b.strings)
	next, err = b.scanner.List(at, what, func(_, at int) (int, error) {
		id, next, err := b.id(at, rational)
		b.strings = append(b.strings, id)
		return next, err
	})
	*to = part(b.strings, from)
	return next, err
}

// count reads a whole number of 0 or more.
func (b *batch) count(at int, what string) (v, next int, err error) {
	if at+1 < len(b.line) && b.line[at]-'0' <= 9 && (b.line[at+1] == ',' || b.line[at+1] == ']') {
		return int(b.line[at] - '0'), at + 1, nil
	}
	x, next, err := b.number(at, what)
	if err == nil && !(x >= 0 && x <= math.MaxInt32 && x == math.Trunc(x)) {
		err = bad(b.scanner.Token(at)+" in "+what, "a whole number of 0 or more")
	}
	return int(x), next, err
}

// counts reads a list of whole numbers of 0 or more.
func (b *batch) counts(at int, what string, to *[]int) (next int, err error) {
	from := len(b.ints)
	next, err = b.scanner.List(at, what, func(_, at int) (int, error) {
		v, next, err := b.count(at, what)
		b.ints = append(b.ints, v)
		return next, err
	})
	*to = part(b.ints, from)
	return next, err
}

// number reads a number.
func (b *batch) number(at int, what string) (v float64, next int, err error) {
	end := strictjson.NumberEnd(b.scanner.Text, at)
	if end < 0 || end < len(b.line) && !strictjson.EndsValue(b.line[end]) {
		return 0, at, bad(b.scanner.Token(at)+" in "+what, "a number")
	}
	v, err = strconv.ParseFloat(b.line[at:end], 64)
	if err != nil {
		err = bad(b.scanner.Token(at)+" in "+what, "a number that float64 can hold")
	}
	return v, end, err
}

// numberList reads a list of numbers.
func (b *batch) numberList(at int, what string, to *[]float64) (next int, err error) {
	from := len(b.floats)
	next, err = b.scanner.List(at, what, func(_, at int) (int, error) {
		v, next, err := b.number(at, what)
		b.floats = append(b.floats, v)
		return next, err
	})
	*to = part(b.floats, from)
	return next, err
}

// part returns the end of a list, which is not nil.
func part[T any](list []T, from int) []T {
	if from == len(list) {
		return []T{}
	}
	return list[from:len(list):len(list)]
}

func (b *batch) propensities(p *Page, at int) (next int, err error) {
	return b.numberList(at, "propensities", &p.Propensities)
}

func (b *batch) time(p *Page, at int) (next int, err error) {
	if at < len(b.line) && b.line[at] == '"' {
		text, next, err := b.scanner.String(at)
		if err == nil {
			p.Time, err = parseTime(b.text(text, at, next))
		}
		return next, err
	}
	_, next, err = b.number(at, "time")
	if err == nil {
		p.Time, err = unixTime(b.line[at:next])
	}
	return next, err
}

// parseTime parses a time of RFC 3339, or the same with a space for the T.
func parseTime(text string) (time.Time, error) {
	layout := time.RFC3339
	if len(text) > 10 && text[10] == ' ' {
		layout = "2006-01-02 15:04:05Z07:00"
	}
	t, err := time.Parse(layout, text)
	if err != nil || t.IsZero() {
		return t, bad("the time "+suggest.Quote([]byte(text)), "one such as 2006-01-02T15:04:05Z, or Unix seconds")
	}
	return t.UTC(), nil
}

// unixTime returns the time of a number of seconds since 1970.
func unixTime(text string) (time.Time, error) {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || !(math.Abs(v) < 1e11) { // the year 5138
		return time.Time{}, bad("the time "+suggest.Quote([]byte(text)), "seconds since 1970, below 1e11")
	}
	whole := math.Floor(v)
	micro := math.Round(float64((v - whole) * 1e6)) // a float64 has no more digits
	return time.Unix(int64(whole), int64(micro)*1000).UTC(), nil
}

func (b *batch) order(p *Page, at int) (next int, err error) { return b.ranks(at, "order", &p.Order) }

// ranks reads a list of ranks, which count from 1 in files.
func (b *batch) ranks(at int, what string, to *[]int) (next int, err error) {
	next, err = b.counts(at, what, to)
	for i := range *to {
		(*to)[i]--
	}
	return next, err
}

// clicked reads ids in the order of clicks.
func (b *batch) clicked(at int, p *Page) error {
	var ids []string
	if _, err := b.list(at, "clicked", false, &ids); err != nil {
		return err
	}
	from := len(b.ints)
	for range p.Docs {
		b.ints = append(b.ints, 0)
	}
	for _, id := range ids {
		r := slices.Index(p.Docs, id)
		if r < 0 {
			return bad(fmt.Sprintf("a click on %q", id), "clicks on documents of the page")
		}
		b.ints[from+r]++
		b.ints = append(b.ints, r)
	}
	n := from + len(p.Docs)
	p.Clicks, p.Order = b.ints[from:n:n], part(b.ints, n)
	return nil
}

func (b *batch) swapped(p *Page, at int) (next int, err error) {
	var ranks []int
	if next, err = b.counts(at, "swapped", &ranks); err != nil {
		return next, err
	}
	if len(ranks) != 2 || ranks[0] < 1 || ranks[0] == ranks[1] {
		return next, bad(fmt.Sprintf("swapped ranks %v", ranks), "two different ranks, counted from 1")
	}
	p.Swapped = [2]int{ranks[0] - 1, ranks[1] - 1}
	return next, nil
}

func (b *batch) swap(p *Page, at int) (next int, err error) {
	text, next, err := b.scanner.Scalar(at)
	if err != nil {
		return next, err
	}
	if p.Swap = string(text) == "true"; !p.Swap && string(text) != "false" || b.line[at] == '"' {
		return next, bad(b.scanner.Token(at)+" in swap", "true or false")
	}
	return next, nil
}

func (b *batch) orders(p *Page, at int) (next int, err error) {
	return b.scanner.List(at, "orders", func(_, at int) (int, error) {
		var o Order
		parts := 0
		next, err := b.scanner.List(at, "a ranking of orders", func(i, at int) (next int, err error) {
			parts++
			switch i {
			case 0:
				return b.list(at, "a ranking of orders", false, &o.Docs)
			case 1:
				o.Probability, next, err = b.number(at, "orders")
				return next, err
			}
			return at, bad(b.scanner.Token(at)+" in a ranking of orders", "its end after ids and a probability")
		})
		if err == nil && parts != 2 {
			err = bad("a ranking of orders without a probability", "[[ids], probability]")
		}
		p.Orders = append(p.Orders, o)
		return next, err
	})
}

// located returns an error about a line of a file, nil for nil. It keeps errors that name a file.
func located(err error, name string, line int) error {
	if err == nil {
		return nil
	}
	if f, ok := errors.AsType[*strictjson.Fault](err); ok {
		return &dataset.SyntaxError{File: name, Line: line, Found: f.Found, Expected: f.Expected}
	}
	if f, ok := errors.AsType[*dataset.FormatError](err); ok {
		return &dataset.SyntaxError{File: name, Line: line, Found: f.Found, Expected: f.Expected}
	}
	if s, ok := errors.AsType[*dataset.SyntaxError](err); ok {
		if s.File == "" {
			s.File, s.Line = name, line
		}
		return err
	}
	return fmt.Errorf("%s:%d: %w", name, line, err)
}
