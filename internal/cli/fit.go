package cli

import (
	"os"
	"strconv"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"
	"golang.org/x/term"
)

// width is that of the terminal that standard output is, or COLUMNS says; 0 where it is
// none: what a program reads does not depend on the size of a window.
func (env *environment) width() int {
	w := env.stdout
	if o, ok := w.(output); ok {
		w = o.Writer
	}
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
		if alignment(r.rows, i) == text.AlignRight {
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

func longestWord(s string) int {
	n := 0
	for word := range strings.FieldsSeq(s) {
		n = max(n, text.StringWidthWithoutEscSequences(word))
	}
	return n
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
