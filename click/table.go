package click

import (
	"cmp"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unsafe"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/flat"
	"github.com/listwise/listwise/internal/suggest"
)

// column is a column of a table of pages. A row is a document. Columns have the names of members, and the rows of a
// page repeat what is not of a document. Lists are JSON text.
type column struct {
	name  string
	alias string // another name, which is read, too
	kind  flat.Kind
	read  func(t *table, cell string) error // of each document; nil: the same in all rows of a page
	cell  func(p *Page, rank int) cell      // for writers
}

// cell is a cell to write.
type cell struct {
	text   string  // of a column of texts
	number float64 // of other columns
	none   bool    // the cell has no value
}

func textCell(text string) cell { return cell{text: text, none: text == ""} }

func numberCell(v float64, none bool) cell { return cell{number: v, none: none} }

// columns are all columns in the order in which they are written.
var columns = []column{
	{name: "page", cell: func(p *Page, _ int) cell { return textCell(p.ID) }},
	{name: "rank", kind: flat.Whole, read: func(*table, string) error { return nil }, cell: func(_ *Page, r int) cell { return numberCell(float64(r+1), false) }},
	{name: "time", cell: func(p *Page, _ int) cell { return textCell(timeText(p.Time)) }},
	{name: "user", cell: func(p *Page, _ int) cell { return textCell(p.User) }},
	{name: "query", cell: func(p *Page, _ int) cell { return textCell(p.Query) }},
	{name: "docs", alias: "doc", read: (*table).doc, cell: func(p *Page, r int) cell { return textCell(p.Docs[r]) }},
	{name: "clicks", alias: "click", kind: flat.Whole, read: (*table).click, cell: func(p *Page, r int) cell { return listCell(p.Clicks, r) }},
	{name: "slots", alias: "slot", read: (*table).slot, cell: func(p *Page, r int) cell {
		if p.Slots == nil {
			return cell{none: true}
		}
		return textCell(p.Slots[r])
	}},
	{name: "order", cell: func(p *Page, _ int) cell {
		return jsonCell(p.Order != nil, func(b []byte) []byte { return appendInts(b, p.Order, 1) })
	}},
	{name: "experiment", cell: func(p *Page, _ int) cell { return textCell(p.Experiment) }},
	{name: "arm", cell: func(p *Page, _ int) cell { return textCell(p.Arm) }},
	{name: "version", cell: func(p *Page, _ int) cell { return textCell(p.Version) }},
	{name: "team", kind: flat.Whole, read: (*table).team, cell: func(p *Page, r int) cell { return listCell(p.Team, r) }},
	{name: "softmax", cell: func(p *Page, _ int) cell {
		return jsonCell(p.Softmax != nil, func(b []byte) []byte { return appendSoftmax(b, p.Softmax) })
	}},
	{name: "balanced", cell: func(p *Page, _ int) cell {
		return jsonCell(p.Balanced[0] != nil, func(b []byte) []byte { return appendBalanced(b, p.Balanced) })
	}},
	{name: "propensity", kind: flat.Real, cell: func(p *Page, _ int) cell { return numberCell(p.Propensity, p.Propensity == 0) }},
	{name: "propensities", kind: flat.Real, read: (*table).propensity, cell: func(p *Page, r int) cell { return listCell(p.Propensities, r) }},
	{name: "swapped", cell: func(p *Page, _ int) cell {
		return jsonCell(p.Swapped != [2]int{}, func(b []byte) []byte { return appendInts(b, p.Swapped[:], 1) })
	}},
	{name: "swap", cell: func(p *Page, _ int) cell {
		if p.Swapped == [2]int{} {
			return cell{none: true}
		}
		return textCell(strconv.FormatBool(p.Swap))
	}},
	{name: "pairs", kind: flat.Whole, cell: func(p *Page, _ int) cell { return numberCell(float64(p.Pairs), p.Pairs == 0) }},
	{name: "exchanged", cell: func(p *Page, _ int) cell {
		return jsonCell(p.Pairs != 0, func(b []byte) []byte { return appendInts(b, p.Exchanged, 1) })
	}},
	{name: "shuffled", kind: flat.Whole, cell: func(p *Page, _ int) cell { return numberCell(float64(p.Shuffled), p.Shuffled == 0) }},
	{name: "candidates", cell: func(p *Page, _ int) cell {
		return jsonCell(p.Candidates != nil, func(b []byte) []byte { return appendStrings(b, p.Candidates) })
	}},
	{name: "orders", cell: func(p *Page, _ int) cell {
		return jsonCell(p.Orders != nil, func(b []byte) []byte { return appendOrders(b, p.Orders) })
	}},
	{name: "weight", kind: flat.Real, cell: func(p *Page, _ int) cell { return numberCell(p.Weight, p.Weight == 1) }},
}

func listCell[T int | float64](list []T, r int) cell {
	if list == nil {
		return cell{none: true}
	}
	return numberCell(float64(list[r]), false)
}

func jsonCell(is bool, text func(b []byte) []byte) cell {
	if !is {
		return cell{none: true}
	}
	return textCell(string(text(nil)))
}

// bare are the columns of pages whose cells are text as it is. Other cells are JSON.
var bare = map[string]func(p *Page) *string{
	"page": func(p *Page) *string { return &p.ID }, "user": func(p *Page) *string { return &p.User }, "query": func(p *Page) *string { return &p.Query },
	"experiment": func(p *Page) *string { return &p.Experiment }, "arm": func(p *Page) *string { return &p.Arm }, "version": func(p *Page) *string { return &p.Version },
}

// table makes pages of the rows of a table.
type table struct {
	*intake

	uses  []column
	page  int // the cell with the id of the page, -1 if there is none
	ranks int // the cell with the rank, -1 if there is none

	current Page
	first   []string // cells of its first row
	values  batch    // reads cells

	swap, exchanged bool // the page has a cell of swap, of exchanged

	ended  int  // pages that ended
	rows   int  // of each of these
	uneven bool // but they do not have the same number of rows
}

// choose returns the indices of the columns to read.
func (t *table) choose(names []string) (chosen []int, err error) {
	t.page, t.ranks = -1, -1
	for i, name := range names {
		name = strings.TrimSpace(name)
		k := slices.IndexFunc(columns, func(c column) bool {
			return c.name == name || c.alias == name && name != "" || c.name == "clicks" && name == "clicked"
		})
		if k < 0 {
			t.ignored([]string{name})
			continue
		}
		if slices.ContainsFunc(t.uses, func(c column) bool { return c.name == columns[k].name }) {
			return nil, bad("the column "+columns[k].name+" a second time", "it once")
		}
		switch columns[k].name {
		case "page":
			t.page = len(chosen)
		case "rank":
			t.ranks = len(chosen)
		}
		t.uses, chosen = append(t.uses, columns[k]), append(chosen, i)
	}
	for _, name := range []string{"query", "docs"} {
		if !slices.ContainsFunc(t.uses, func(c column) bool { return c.name == name }) {
			return nil, bad("the columns "+suggest.Quote([]byte(strings.Join(names, ", "))), "a column "+name)
		}
	}
	if t.page < 0 && t.ranks < 0 {
		return nil, bad("neither a column page nor a column rank", "one of them, which tells where a page begins")
	}
	return chosen, nil
}

// add adds a row.
func (t *table) add(row int64, cells []string) error {
	line := int(row)
	p := &t.current
	if t.ranks < 0 && cells[t.page] == "" {
		return located(bad("no id in column page", "an id in each row, or a column rank"), t.name, line)
	}
	switch {
	case len(p.Docs) == 0 || t.begins(cells):
		if err := t.end(); err != nil {
			return err
		}
		t.begin(line)
		t.first = append(t.first[:0], cells...)
		for i, c := range t.uses {
			if c.read == nil && cells[i] != "" {
				if err := t.member(c.name, cells[i]); err != nil {
					return located(err, t.name, line)
				}
			}
		}
	default:
		for i, c := range t.uses {
			if c.read == nil && cells[i] != t.first[i] {
				return located(bad(fmt.Sprintf("%s %q in row %d of a page", c.name, cells[i], len(p.Docs)+1), strconv.Quote(t.first[i])+", as in its first row"), t.name, line)
			}
		}
	}
	if err := t.checkRank(cells); err != nil {
		return located(err, t.name, line)
	}
	for i, c := range t.uses {
		if c.read == nil || cells[i] == "" && c.name != "docs" {
			continue
		}
		if err := c.read(t, cells[i]); err != nil {
			return located(err, t.name, line)
		}
	}
	if len(p.Docs) > MaxDocs {
		return located(p.Check(), t.name, line)
	}
	return nil
}

// begins reports whether a row begins another page than the current one.
func (t *table) begins(cells []string) bool {
	if t.page >= 0 && (cells[t.page] != "" || t.current.ID != "") {
		return cells[t.page] != t.current.ID
	}
	return t.ranks < 0 || cells[t.ranks] == "1"
}

// begin begins a page.
func (t *table) begin(line int) {
	p := &t.current
	t.current = Page{
		Docs: p.Docs[:0], Slots: p.Slots[:0], Clicks: p.Clicks[:0], Team: p.Team[:0], Propensities: p.Propensities[:0],
		Weight: 1, Line: line,
	}
	t.swap, t.exchanged = false, false
	b := &t.values
	b.strings, b.ints, b.floats = b.strings[:0], b.ints[:0], b.floats[:0]
}

// end passes the current page on.
func (t *table) end() error {
	p := &t.current
	n := len(p.Docs)
	if n == 0 {
		return nil
	}
	used := *p // the lists of the current page are reused
	for _, f := range []struct {
		name string
		len  int
		drop func()
	}{
		{"slots", len(p.Slots), func() { used.Slots = nil }}, {"clicks", len(p.Clicks), func() { used.Clicks = nil }},
		{"team", len(p.Team), func() { used.Team = nil }}, {"propensities", len(p.Propensities), func() { used.Propensities = nil }},
	} {
		switch f.len {
		case n:
		case 0:
			f.drop()
		default:
			return located(bad(fmt.Sprintf("%s in %d of %d rows of a page", f.name, f.len, n), "all rows or none"), t.name, p.Line)
		}
	}
	if err := cmp.Or(used.whether(t.swap, t.exchanged), used.Check()); err != nil {
		return located(err, t.name, p.Line)
	}
	t.uneven = t.uneven || t.ended > 0 && n != t.rows
	t.ended, t.rows = t.ended+1, n
	return t.intake.page(&used)
}

// last passes the last page on. It may be cut off if its last row has no line feed, or if it has fewer rows than all
// other pages, which have the same number.
func (t *table) last(open bool) error {
	const some = 5 // pages; fewer may have the same number of rows by chance
	if open || t.ended >= some && !t.uneven && len(t.current.Docs) < t.rows {
		t.Tally.Doubtful++
	}
	return t.end()
}

// member reads the cell of a member of the page.
func (t *table) member(name, text string) error {
	p, b := &t.current, &t.values
	if of, ok := bare[name]; ok {
		*of(p) = text
		return nil
	}
	if name == "time" {
		var err error
		if strings.Contains(text, ":") {
			p.Time, err = parseTime(text)
		} else {
			p.Time, err = unixTime(text)
		}
		return err
	}
	switch name {
	case "swap":
		text, t.swap = strings.ToLower(text), true
	case "exchanged":
		t.exchanged = true
	}
	t.json(text)
	next, err := members[placeOf(name)].read(b, p, 0)
	return t.whole(next, name, err)
}

// json begins to read the text of a cell.
func (t *table) json(text string) {
	b := &t.values
	b.line = text
	b.scanner.Reset(unsafe.Slice(unsafe.StringData(text), len(text))) // the scanner changes no text
}

// whole returns err, or an error if more text follows the value of a cell.
func (t *table) whole(next int, name string, err error) error {
	if err == nil && next < len(t.values.line) {
		err = bad(suggest.Quote([]byte(t.values.line))+" in "+name, "a value without more text")
	}
	return err
}

// checkRank returns an error unless a row has the rank of the next document.
func (t *table) checkRank(cells []string) error {
	if want := len(t.current.Docs) + 1; t.ranks >= 0 && cells[t.ranks] != strconv.Itoa(want) {
		return bad("rank "+suggest.Quote([]byte(cells[t.ranks])), fmt.Sprintf("%d: the rows of a page are together, from top to bottom", want))
	}
	return nil
}

func (t *table) doc(text string) error {
	t.current.Docs = append(t.current.Docs, text)
	return nil
}

func (t *table) slot(text string) error {
	t.current.Slots = append(t.current.Slots, text)
	return nil
}

func (t *table) click(text string) error { return t.count("clicks", text, &t.current.Clicks) }

func (t *table) team(text string) error { return t.count("team", text, &t.current.Team) }

func (t *table) count(name, text string, to *[]int) error {
	t.json(text)
	v, next, err := t.values.count(0, name)
	*to = append(*to, v)
	return t.whole(next, name, err)
}

func (t *table) propensity(text string) error {
	t.json(text)
	v, next, err := t.values.number(0, "propensities")
	t.current.Propensities = append(t.current.Propensities, v)
	return t.whole(next, "propensities", err)
}

// readDelimited reads CSV or TSV.
func (t *table) readDelimited(ctx context.Context, text io.Reader, delimiter rune) error {
	f := &fuse{Reader: text, most: max(freeChunk, int(min(longestLine, t.Mem.Limit()/4)))}
	r := csv.NewReader(f)
	r.Comma, r.ReuseRecord = delimiter, true
	names, err := r.Read()
	if err != nil {
		return t.csvFault(err)
	}
	names[0] = strings.TrimPrefix(names[0], "\ufeff")
	chosen, err := t.choose(names)
	if err != nil {
		return located(err, t.name, 1)
	}
	cells := make([]string, len(chosen))
	for n := 0; ; n++ {
		if n%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		f.burnt = 0
		record, err := r.Read()
		if errors.Is(err, io.EOF) {
			return t.last(f.last != '\n')
		}
		if err != nil {
			if cut, ok := errors.AsType[*csv.ParseError](err); ok && f.last != '\n' && cut.StartLine == cut.Line {
				if _, end := r.Read(); errors.Is(end, io.EOF) { // the last row is cut off, and so is the last page
					t.Tally.Incomplete++
					return nil
				}
			}
			return t.csvFault(err)
		}
		for i, c := range chosen {
			cells[i] = record[c]
		}
		line, _ := r.FieldPos(0)
		if err := t.add(int64(line), cells); err != nil {
			return err
		}
	}
}

// csvFault returns the error about text that is no table.
func (k *intake) csvFault(err error) error {
	if p, ok := errors.AsType[*csv.ParseError](err); ok {
		found, expected := "a wrong quote", `cells with quotes as "…", doubled inside`
		if errors.Is(p.Err, csv.ErrFieldCount) {
			found, expected = "a row of another number of cells", "as many as the first line has"
		}
		return &dataset.SyntaxError{File: k.name, Line: p.Line, Found: found, Expected: expected, Err: err}
	}
	return located(err, k.name, 0)
}

// fuse is a text whose rows must not be too long.
type fuse struct {
	io.Reader

	most, burnt int
	last        byte // read
}

func (f *fuse) Read(p []byte) (int, error) {
	if f.burnt > f.most {
		return 0, bad("a row longer than "+strconv.Itoa(f.most)+" bytes", "a table")
	}
	n, err := f.Reader.Read(p)
	if n > 0 {
		f.burnt += n
		f.last = p[n-1]
	}
	return n, err
}
