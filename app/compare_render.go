package app

import (
	"fmt"
	"strings"
)

var markdownMarks = marks{
	super: func(letters string) string { return " <sup>" + letters + "</sup>" },
	bold:  func(s string) string { return "**" + s + "**" },
	text:  escapeMarkdown,
	minus: "−",
}

func escapeMarkdown(s string) string {
	return markdownEscapes.Replace(visible(s))
}

var markdownEscapes = strings.NewReplacer(`\`, `\\`, "|", `\|`, "*", `\*`, "_", `\_`, "<", `\<`, "`", "\\`", "[", `\[`, "]", `\]`, "&", `\&`, "$", `\$`, "~", `\~`)

// markdown returns tables in GitHub's dialect.
func markdown(tables []report) string {
	var b strings.Builder
	for i, t := range tables {
		if i > 0 {
			b.WriteByte('\n')
		}
		if t.title != "" {
			fmt.Fprintf(&b, "**%s**\n\n", escapeMarkdown(t.title))
		}
		fmt.Fprintf(&b, "| %s |\n|%s%s\n", strings.Join(t.columns, " | "), strings.Repeat("---|", t.keys), strings.Repeat("---:|", len(t.columns)-t.keys))
		for _, row := range t.rows {
			cells := make([]string, len(row))
			for c, cell := range row {
				if cells[c] = fmt.Sprint(cell); strings.Trim(cells[c], "*") == "" { // stars, not bold
					cells[c] = escapeMarkdown(cells[c])
				}
			}
			fmt.Fprintf(&b, "| %s |\n", strings.Join(cells, " | "))
		}
		if len(t.notes) > 0 {
			fmt.Fprintf(&b, "\n%s\n", escapeMarkdown(strings.Join(t.notes, " ")))
		}
	}
	return b.String()
}

var latexMarks = marks{
	super: func(letters string) string { return "$^{" + letters + "}$" },
	bold:  func(s string) string { return `\textbf{` + s + "}" },
	text:  latexCell,
	minus: "$-$",
}

// latexCell escapes a name that may begin a row: \\ before it would take * and [ for its own.
func latexCell(name string) string {
	if name = escapeLatex(name); strings.HasPrefix(name, "*") || strings.HasPrefix(name, "[") {
		return "{}" + name
	}
	return name
}

// escapeLatex returns text on one line that LaTeX prints as it is.
func escapeLatex(s string) string {
	s = visible(s)
	return strings.NewReplacer(
		`\`, `\textbackslash{}`, "&", `\&`, "%", `\%`, "$", `\$`, "#", `\#`, "_", `\_`, "{", `\{`, "}", `\}`,
		"~", `\textasciitilde{}`, "^", `\textasciicircum{}`, "<", `$<$`, ">", `$>$`,
	).Replace(s)
}

// latex returns one table environment a table, with booktabs' rules and what
// stands around it as the caption.
func latex(tables []report) string {
	var b strings.Builder
	b.WriteString("% needs \\usepackage{booktabs} and \\usepackage{graphicx}\n")
	for _, t := range tables {
		caption := t.notes
		if t.title != "" {
			caption = append([]string{"Pairs by " + t.title + "."}, caption...)
		}
		fmt.Fprintf(&b, "\\begin{table}\n\\caption{%s}\n\\centering\n\\resizebox{\\ifdim\\width>\\linewidth\\linewidth\\else\\width\\fi}{!}{%%\n", escapeLatex(strings.Join(caption, " ")))
		fmt.Fprintf(&b, "\\begin{tabular}{%s%s}\n\\toprule\n", strings.Repeat("l", t.keys), strings.Repeat("r", len(t.columns)-t.keys))
		header := make([]string, len(t.columns))
		for c, name := range t.columns {
			if header[c] = escapeLatex(name); strings.Contains(name, latexMarks.minus) {
				header[c] = name
			}
		}
		fmt.Fprintf(&b, "%s \\\\\n\\midrule\n", strings.Join(header, " & "))
		for _, row := range t.rows {
			cells := make([]string, len(row))
			for c, cell := range row {
				cells[c] = strings.Replace(fmt.Sprint(cell), "<0", "$<$0", 1)
			}
			fmt.Fprintf(&b, "%s \\\\\n", strings.Join(cells, " & "))
		}
		b.WriteString("\\bottomrule\n\\end{tabular}}\n\\end{table}\n")
	}
	return b.String()
}
