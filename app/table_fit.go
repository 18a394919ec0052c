package app

import (
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"
	"golang.org/x/term"
)

// width is that of the terminal that standard output is; 0 where it is none: what a
// program reads does not depend on the size of a window.
func (env *environment) width() int {
	if o, ok := env.stdout.(output); ok {
		return terminalWidth(o.Writer)
	}
	return terminalWidth(env.stdout)
}

// terminalWidth is what COLUMNS says of a terminal's width, or what it has itself; 0 for
// what is no terminal.
func terminalWidth(w io.Writer) int {
	file, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return 0
	}
	if n, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && n > 0 {
		return n
	}
	if n, _, err := term.GetSize(int(file.Fd())); err == nil && n > 0 {
		return n
	}
	return 0
}

// narrowest is the width that a column of words may be pressed to.
const narrowest = 12

// padding is what a table puts around every cell.
const padding = 2

// fitColumns returns how wide each column may be so that the table is at most width
// wide, the widest columns of words giving way first; ok is false if they cannot. A
// width of 0 is no limit.
func (r *report) fitColumns(width int) (limits []int, ok bool) {
	limits = make([]int, len(r.columns))
	least := make([]int, len(r.columns))
	total := 0
	for i, name := range r.columns {
		cells := 0
		for _, row := range r.rows {
			if i < len(row) {
				cells = max(cells, text.LongestLineLen(readable(row[i])))
			}
		}
		limits[i] = max(cells, text.LongestLineLen(name))
		if r.wrap > 0 && i == len(r.columns)-1 {
			limits[i] = min(limits[i], r.wrap)
		}
		least[i] = longestWord(name)
		if r.alignment(i) == text.AlignRight {
			least[i] = max(least[i], cells)
		} else {
			least[i] = max(least[i], min(cells, narrowest))
		}
		total += limits[i] + padding
	}
	for width > 0 && total > width {
		widest := -1
		for i := range limits {
			if limits[i] > least[i] && (widest < 0 || limits[i] > limits[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			return limits, false
		}
		limits[widest]--
		total--
	}
	return limits, true
}

// narrow has the last column go on in further lines where the table would be wider than width.
func (r *report) narrow(width int) {
	limits, _ := r.fitColumns(0)
	last := len(limits) - 1
	for _, w := range limits[:last] {
		width -= w + padding
	}
	if room := width - padding; room >= narrowest && limits[last] > room {
		r.wrap = room
		r.align = slices.Repeat([]text.Align{text.AlignLeft}, len(limits))
	}
}

func longestWord(s string) int {
	n := 0
	for word := range strings.FieldsSeq(s) {
		n = max(n, text.StringWidthWithoutEscSequences(word))
	}
	return n
}

// parts returns the tables, each at most width wide if that can be, that show the
// report's: itself, or several that begin with the key columns, or a list.
func (r *report) parts(width int) []report {
	if _, ok := r.fitColumns(width); ok {
		return []report{*r}
	}
	if r.keys == 0 {
		return []report{r.asList()}
	}
	var parts []report
	for from := r.keys; from < len(r.columns); {
		var part report
		to := from
		for to < len(r.columns) {
			next := to + 1
			for next < len(r.columns) && r.columns[next] == "" { // a mark of the column before
				next++
			}
			more := r.part(from, next)
			if _, ok := more.fitColumns(width); !ok {
				break
			}
			part, to = more, next
		}
		if to == from {
			return []report{r.asList()}
		}
		parts, from = append(parts, part), to
	}
	return parts
}

// part is the table with the key columns and those from one up to another.
func (r *report) part(from, to int) report {
	p := report{}
	for i, name := range r.columns {
		if i < r.keys || from <= i && i < to {
			p.columns = append(p.columns, name)
			p.align = append(p.align, r.alignment(i))
		}
	}
	for _, row := range r.rows {
		p.rows = append(p.rows, slices.Concat(row[:r.keys], row[from:to]))
	}
	return p
}

// asList is the table with a line a cell, for screens that are too narrow for it: a
// column of names and one of values, with an empty line between rows.
func (r *report) asList() report {
	list := report{title: r.title, notes: r.notes, columns: []string{"what", "value"}}
	for k, row := range r.rows {
		if k > 0 {
			list.rows = append(list.rows, []any{"", ""})
		}
		for i, cell := range row {
			if cell != nil {
				list.rows = append(list.rows, []any{r.columns[i], readable(cell)})
			}
		}
	}
	return list
}

// folded breaks a text between words so that its lines are at most width wide; 0 is no
// limit.
func folded(s string, width int) string {
	if width <= 0 {
		return s
	}
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		if text.StringWidthWithoutEscSequences(line) > width {
			lines[i] = strings.TrimRight(text.WrapSoft(line, width), " \n")
		}
	}
	return strings.Join(lines, "\n")
}
