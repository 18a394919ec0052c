package papers

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// WriteText writes title, facts, tables and notes to be read in a terminal.
func (r *Report) WriteText(w io.Writer) error {
	var b bytes.Buffer
	fmt.Fprintln(&b, r.Title)
	width := 0
	for _, f := range r.Facts {
		width = max(width, utf8.RuneCountInString(f.Name))
	}
	for _, f := range r.Facts {
		fmt.Fprintf(&b, "  %s  %s\n", pad(f.Name, width, true), f.Value)
	}
	for i := range r.Tables {
		b.WriteByte('\n')
		r.Tables[i].write(&b)
	}
	for _, line := range r.Closing() {
		fmt.Fprintln(&b, line)
	}
	_, err := w.Write(b.Bytes())
	return err
}

// Closing returns the lines that stand below the tables.
func (r *Report) Closing() []string {
	var lines []string
	if len(r.Claims) > 0 {
		lines = append(lines, "", fmt.Sprintf("against the published numbers: %s; see %s-claims.csv", countsText(r.Claims), r.Name))
	}
	if len(r.Orders) > 0 {
		lines = append(lines, "", fmt.Sprintf("orders that the paper claims: %s; see %s-orders.csv", ordersText(r.Orders), r.Name))
	}
	if len(r.Notes) > 0 {
		lines = append(lines, "")
	}
	for _, n := range r.Notes {
		lines = append(lines, "- "+n)
	}
	return lines
}

func (t *Table) write(b *bytes.Buffer) {
	fmt.Fprintln(b, t.Title)
	widths := make([]int, len(t.Columns))
	for _, row := range append([][]string{t.Columns}, t.Rows...) {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	t.line(b, t.Columns, widths)
	rule := make([]string, len(widths))
	for i, n := range widths {
		rule[i] = strings.Repeat("─", n)
	}
	t.line(b, rule, widths)
	for _, row := range t.Rows {
		t.line(b, row, widths)
	}
}

func (t *Table) line(b *bytes.Buffer, cells []string, widths []int) {
	parts := make([]string, len(cells))
	for i, cell := range cells {
		parts[i] = pad(cell, widths[i], i < t.Left)
	}
	fmt.Fprintln(b, strings.TrimRight("  "+strings.Join(parts, "  "), " "))
}

// pad fills a text with blanks up to a width, behind it or, for numbers, before.
func pad(s string, width int, left bool) string {
	blanks := strings.Repeat(" ", max(0, width-utf8.RuneCountInString(s)))
	if left {
		return s + blanks
	}
	return blanks + s
}
