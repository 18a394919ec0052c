package cli

import (
	"bufio"
	"fmt"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"
)

// The writers below leave errors to w, which keeps the first.

// report is the sheet as text.
func (s *sheet) report() report {
	r := report{title: s.above, columns: s.columns, notes: s.below, keys: s.left, align: leftColumns(s.columns, s.left)}
	for i, name := range s.columns {
		if name == "" || name == "better than" {
			r.align[i] = text.AlignLeft
		}
	}
	for _, row := range s.rows {
		r.rows = append(r.rows, cellsOf(row))
	}
	return r
}

// leftColumns aligns the first columns left, the others right.
func leftColumns(columns []string, left int) []text.Align {
	align := make([]text.Align, len(columns))
	for i := range align {
		if align[i] = text.AlignRight; i < left {
			align[i] = text.AlignLeft
		}
	}
	return align
}

func cellsOf(row []string) []any {
	cells := make([]any, len(row))
	for i, c := range row {
		cells[i] = c
	}
	return cells
}

var markdownMarks = marks{
	super: func(mean, letters string) string {
		if letters == "" {
			return mean
		}
		return mean + " <sup>" + letters + "</sup>"
	},
	bold:  func(s string) string { return "**" + s + "**" },
	text:  escapeMarkdown,
	minus: "−",
}

func escapeMarkdown(s string) string {
	return strings.NewReplacer(`\`, `\\`, "|", `\|`, "*", `\*`, "_", `\_`, "<", `\<`, "`", "\\`").Replace(s)
}

// writeMarkdown writes tables in GitHub's dialect.
func writeMarkdown(w *bufio.Writer, sheets []sheet) {
	for i, s := range sheets {
		if i > 0 {
			fmt.Fprintln(w)
		}
		if s.above != "" {
			fmt.Fprintf(w, "**%s**\n\n", s.above)
		}
		fmt.Fprintf(w, "| %s |\n|", strings.Join(s.columns, " | "))
		for c := range s.columns {
			if c < s.left {
				fmt.Fprint(w, "---|")
			} else {
				fmt.Fprint(w, "---:|")
			}
		}
		fmt.Fprintln(w)
		for _, row := range s.rows {
			cells := make([]string, len(row))
			for c, cell := range row {
				if cells[c] = cell; strings.Trim(cell, "*") == "" { // stars, not bold
					cells[c] = escapeMarkdown(cell)
				}
			}
			fmt.Fprintf(w, "| %s |\n", strings.Join(cells, " | "))
		}
		if len(s.below) > 0 {
			fmt.Fprintf(w, "\n%s\n", escapeMarkdown(strings.Join(s.below, " ")))
		}
	}
}

var latexMarks = marks{
	super: func(mean, letters string) string {
		if letters == "" {
			return mean
		}
		return mean + "$^{" + letters + "}$"
	},
	bold:  func(s string) string { return `\textbf{` + s + "}" },
	text:  escapeLatex,
	minus: "$-$",
}

func escapeLatex(s string) string {
	return strings.NewReplacer(
		`\`, `\textbackslash{}`, "&", `\&`, "%", `\%`, "$", `\$`, "#", `\#`, "_", `\_`, "{", `\{`, "}", `\}`,
		"~", `\textasciitilde{}`, "^", `\textasciicircum{}`, "<", `$<$`, ">", `$>$`,
	).Replace(s)
}

// writeLatex writes one table environment a table, with booktabs' rules and what
// stands around it as the caption.
func writeLatex(w *bufio.Writer, sheets []sheet) {
	fmt.Fprintln(w, `% needs \usepackage{booktabs} and \usepackage{graphicx}`)
	for _, s := range sheets {
		caption := s.below
		if s.above != "" {
			caption = append([]string{"Pairs by " + s.above + "."}, caption...)
		}
		fmt.Fprintf(w, "\\begin{table}\n\\caption{%s}\n\\centering\n\\resizebox{\\ifdim\\width>\\linewidth\\linewidth\\else\\width\\fi}{!}{%%\n", escapeLatex(strings.Join(caption, " ")))
		fmt.Fprintf(w, "\\begin{tabular}{%s%s}\n\\toprule\n", strings.Repeat("l", s.left), strings.Repeat("r", len(s.columns)-s.left))
		header := make([]string, len(s.columns))
		for c, name := range s.columns {
			if header[c] = escapeLatex(name); strings.Contains(name, latexMarks.minus) {
				header[c] = name
			}
		}
		fmt.Fprintf(w, "%s \\\\\n\\midrule\n", strings.Join(header, " & "))
		for _, row := range s.rows {
			cells := make([]string, len(row))
			for c, cell := range row {
				cells[c] = strings.Replace(cell, "<0", "$<$0", 1)
			}
			fmt.Fprintf(w, "%s \\\\\n", strings.Join(cells, " & "))
		}
		fmt.Fprint(w, "\\bottomrule\n\\end{tabular}}\n\\end{table}\n")
	}
}
