package app

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"golang.org/x/term"

	"github.com/listwise/listwise/eval/slicing"
	"github.com/listwise/listwise/internal/atomicfile"
	"github.com/listwise/listwise/internal/rows"
)

// report is a command's result: a table for people and spreadsheets, and a value whose JSON form
// scripts rely on.
type report struct {
	title   string
	columns []string
	rows    [][]any      // string, list, int, float64, pValue or nil; a float prints with 4 decimals as text and in full as CSV
	align   []text.Align // of the columns; nil: chosen by the types of their cells
	groups  []string     // data set of each column, shown above or before its name; nil: none
	compact bool         // in LaTeX, with small type and narrow columns
	keys    int          // number of leading columns that each part repeats if the table is too wide; 0: such a table becomes a list
	wrap    int          // width at which the last column wraps; 0: no wrapping
	notes   []string
	json    any
	slices  *slicedMeans                                       // of the queries; nil without --by
	hidden  []string                                           // systems that the tables of slices leave out
	sliceIn func(system, measure string, m slicing.Mean) []any // the cells of the columns for a slice
	depths  []*reranked                                        // nil without --rerank
	written bool                                               // of a file that was written: as text, nothing under --quiet
}

// headings returns the names of the columns, with their groups before them. escape is for groups.
func (r *report) headings(escape func(string) string) []string {
	names := slices.Clone(r.columns)
	for i := range r.groups {
		if r.groups[i] != "" {
			names[i] = escape(r.groups[i]) + " " + names[i]
		}
	}
	return names
}

// print prints the report on standard output in the chosen format. Notes are in the text form only.
func (env *environment) print(r report) error {
	if env.take != nil {
		env.take(r.json)
		return nil
	}
	switch env.format {
	case "json":
		return env.printJSON(r.json)
	case "csv":
		if r.slices != nil {
			r.columns, r.rows = r.slices.csv(r.columns, r.rows, r.sliceIn)
		}
		r.columns, r.rows = depthsCSV(r.depths, r.columns, r.rows)
		return rows.WriteCSV(env.stdout, r.columns, r.rows)
	}
	if r.written && env.quiet {
		return nil
	}
	tables := append([]report{r}, r.slices.tables(r.hidden)...)
	if r.depths != nil {
		tables = append(tables, rerankSheet(r.depths, "measure", func(d *reranked) string { return d.measure }, plainMarks))
	}
	return env.printText(textOf(tables, "\n", env.width()))
}

func (env *environment) printJSON(v any) error { return atomicfile.JSON(v)(env.stdout) }

// text returns the report as text with at most width characters per line. A width of 0 is no limit.
func (r *report) text(width int) string {
	var b strings.Builder
	if r.title != "" {
		fmt.Fprintln(&b, folded(r.title, width))
	}
	for i, part := range r.parts(width) {
		if len(part.rows) == 0 {
			continue
		}
		if i > 0 {
			fmt.Fprintln(&b)
		}
		fmt.Fprintln(&b, part.render(width))
	}
	for _, n := range r.notes {
		fmt.Fprintln(&b, folded(n, width))
	}
	return b.String()
}

// textOf joins the text forms of reports with the separator between.
func textOf(reports []report, between string, width int) string {
	return strings.Join(mapped(reports, func(r report) string { return r.text(width) }), between)
}

// alignNumbers aligns all columns to the right, except key columns and columns of words.
func (r *report) alignNumbers() {
	r.align = make([]text.Align, len(r.columns))
	for i, name := range r.columns {
		if r.align[i] = text.AlignRight; i < r.keys || name == "" || name == "better than" {
			r.align[i] = text.AlignLeft
		}
	}
}

func cellsOf(row []string) []any { return mapped(row, func(cell string) any { return cell }) }

func mapped[T, U any](list []T, of func(T) U) []U {
	out := make([]U, len(list))
	for i, e := range list {
		out[i] = of(e)
	}
	return out
}

func (r *report) render(width int) string {
	limits, _ := r.fitColumns(width)
	t := table.NewWriter()
	t.SetStyle(table.StyleLight)
	t.Style().Format.Header = text.FormatDefault
	t.Style().Options = table.OptionsNoBordersAndSeparators
	t.Style().Options.SeparateHeader = true
	header := make(table.Row, len(r.columns))
	configs := make([]table.ColumnConfig, len(r.columns))
	for i, c := range r.columns {
		header[i] = c
		configs[i] = table.ColumnConfig{
			Number: i + 1, Align: r.alignment(i), AlignHeader: r.alignment(i),
			WidthMax: limits[i], WidthMaxEnforcer: text.WrapSoft,
		}
	}
	t.AppendHeader(header)
	t.SetColumnConfigs(configs)
	for _, row := range r.rows {
		cells := make(table.Row, len(row))
		for i, cell := range row {
			cells[i] = readable(cell)
		}
		t.AppendRow(cells)
	}
	return t.Render()
}

func readable(cell any) string {
	switch v := cell.(type) {
	case nil:
		return ""
	case float64:
		return strconv.FormatFloat(v, 'f', 4, 64)
	case pValue:
		return probability(float64(v))
	case list:
		return visible(v.short())
	case featureNumbers:
		return visible(list(v.counted()).short())
	}
	return visible(fmt.Sprint(cell))
}

// pValue is a cell with a p-value. The text form of a small value is "<0.0001".
type pValue float64

// list is a cell with a list. The text form shows its beginning only, because a table is as wide as
// its widest cell. CSV shows the whole list.
type list string

func (l list) short() string {
	const most = 2000
	if len(l) <= most {
		return string(l)
	}
	cut := most
	for !utf8.RuneStart(l[cut]) {
		cut--
	}
	return fmt.Sprintf("%s… and %d more bytes (see --format json and csv)", l[:cut], len(l)-cut)
}

// alignment returns the alignment that the report sets. By default, columns of numbers are aligned
// to the right.
func (r *report) alignment(column int) text.Align {
	if r.align != nil {
		return r.align[column]
	}
	for _, row := range r.rows {
		if column >= len(row) {
			continue
		}
		switch row[column].(type) {
		case string, list, featureNumbers:
			return text.AlignLeft
		case int, float64, pValue:
			return text.AlignRight
		}
	}
	return text.AlignLeft
}

// width returns the width of the terminal at standard output, or 0 if there is none.
func (env *environment) width() int {
	if o, ok := env.stdout.(output); ok {
		return terminalWidth(o.Writer)
	}
	return terminalWidth(env.stdout)
}

// terminalWidth returns the width of a terminal, or 0 if w is not a terminal. The environment
// variable COLUMNS overrides the width.
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

// narrowest is the least width of a column of words.
const narrowest = 12

const padding = 2

// fitColumns returns the widths of the columns for a table of at most the given width, 0 for no
// limit. The widest columns of words become narrower first. It returns false if they cannot become
// narrow enough.
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

// narrow wraps the last column if the table would be wider than width.
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

// parts splits the report into tables that fit into width. It returns the report itself if it fits,
// several tables that begin with the key columns, or a list.
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
			for next < len(r.columns) && r.columns[next] == "" { // a column without name marks the column before it
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

// part returns a table with the key columns and the columns from to to-1.
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

// asList returns the table as a list of names and values, for screens that are too narrow for the
// table. An empty line separates rows.
func (r *report) asList() report {
	list := report{title: r.title, notes: r.notes, columns: []string{"column", "value"}}
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

// folded wraps a text between words at width, 0 for no limit.
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

// Long output is shortened as text unless --long is given. JSON and CSV are always complete.

// shortLines is the number of lines shown without --long.
const shortLines = 10

// shortened returns the first shortLines lines. more states the number of omitted lines, and is
// empty if there are none.
func shortened[T any](lines []T, what string) (first []T, more string) {
	if len(lines) <= shortLines {
		return lines, ""
	}
	return lines[:shortLines], fmt.Sprintf("… and %d more %s (--long)", len(lines)-shortLines, what)
}

func (r *report) shorten(what string) {
	var more string
	if r.rows, more = shortened(r.rows, what); more != "" {
		r.notes = append(r.notes, more)
	}
}

// Names of files, queries and methods may contain control characters, which a terminal would
// execute. Text for people shows them escaped. JSON, CSV and data files keep them.

// visible returns text on one line. Control characters and invalid UTF-8 are escaped as in \x1b.
func visible(text string) string {
	if strings.IndexFunc(text, hidden) < 0 { // invalid UTF-8 decodes to RuneError, which is hidden
		return text
	}
	var b strings.Builder
	for len(text) > 0 {
		r, size := utf8.DecodeRuneInString(text)
		b.WriteString(shown(r, text[:size]))
		text = text[size:]
	}
	return b.String()
}

// message returns the text of an error or a note for printing. It escapes control characters, and
// cuts the middle out of a very long text.
func message(text string) string {
	const head, tail = 1000, 500
	r := []rune(visible(text))
	if len(r) <= head+tail {
		return string(r)
	}
	return string(r[:head]) + " … " + string(r[len(r)-tail:])
}

// hidden reports whether visible escapes the character: C0, DEL, C1, and the replacement character,
// which may come from invalid UTF-8.
func hidden(r rune) bool { return r < ' ' || r >= 0x7f && r < 0xa0 || r == utf8.RuneError }

// shown returns the escaped form of the character r, which bytes encodes. It returns a visible
// character unchanged.
func shown(r rune, bytes string) string {
	switch {
	case r == '\n':
		return `\n`
	case r == '\t':
		return `\t`
	case r == '\r':
		return `\r`
	case r == utf8.RuneError && len(bytes) == 1:
		return fmt.Sprintf(`\x%02x`, bytes[0])
	case r != utf8.RuneError && hidden(r):
		return fmt.Sprintf(`\x%02x`, r)
	}
	return bytes
}

// printText prints text on standard output. It keeps line feeds and escapes other control
// characters.
func (env *environment) printText(text string) error {
	_, err := io.WriteString(env.stdout, visibleLines(text))
	return err
}

// visibleLines escapes the control characters of text except line feeds.
func visibleLines(text string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = visible(lines[i])
	}
	return strings.Join(lines, "\n")
}
