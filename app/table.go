package app

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/listwise/listwise/eval/slicing"
	"github.com/listwise/listwise/internal/atomicfile"
	"github.com/listwise/listwise/internal/rows"
)

// report is a command's result: rows for people and spreadsheets, and a value
// whose JSON form scripts rely on.
type report struct {
	title   string
	columns []string
	rows    [][]any      // string, list, int, float64, pValue or nil; a float prints with 4 decimals as text and in full as CSV
	align   []text.Align // of the columns; nil: by what their cells are
	keys    int          // number of columns, from the first, that begin every part of a table too wide for one; 0: it becomes a list
	wrap    int          // width of the last column beyond which text goes on in the next line; 0: any
	notes   []string
	json    any
	slices  *slicedMeans                                       // of the queries; nil without --by
	hidden  []string                                           // systems that the tables of slices leave out
	sliceIn func(system, measure string, m slicing.Mean) []any // the cells of the columns for a slice
	written bool                                               // of a file that was written: as text, nothing under --quiet
}

// print writes the report to standard output in the format asked for; notes
// belong to the text form alone.
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
		return rows.WriteCSV(env.stdout, r.columns, r.rows)
	}
	if r.written && env.quiet {
		return nil
	}
	return env.printText(textOf(append([]report{r}, r.slices.tables(r.hidden)...), "\n", env.width()))
}

func (env *environment) printJSON(v any) error { return atomicfile.JSON(v)(env.stdout) }

// text returns the report at most width wide, 0 for any width.
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

// textOf returns the texts of reports with something between them.
func textOf(reports []report, between string, width int) string {
	return strings.Join(mapped(reports, func(r report) string { return r.text(width) }), between)
}

// alignNumbers aligns all columns right but the key columns and those of words.
func (r *report) alignNumbers() {
	r.align = make([]text.Align, len(r.columns))
	for i, name := range r.columns {
		if r.align[i] = text.AlignRight; i < r.keys || name == "" || name == "better than" {
			r.align[i] = text.AlignLeft
		}
	}
}

// cellsOf returns a row of texts as a report's.
func cellsOf(row []string) []any { return mapped(row, func(cell string) any { return cell }) }

// mapped returns what of makes of every element.
func mapped[T, U any](list []T, of func(T) U) []U {
	out := make([]U, len(list))
	for i, e := range list {
		out[i] = of(e)
	}
	return out
}

// render draws the table, whose columns give way to the width.
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

// pValue is a cell with a p value, as text "<0.0001" where it is less.
type pValue float64

// list is a cell with a list, of which a text has the beginning: a table is as wide as its widest cell. CSV has all of it.
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

// alignment is right for columns of numbers, unless the report says otherwise.
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
