package app

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	page "github.com/listwise/listwise/app/report"
	"github.com/listwise/listwise/eval/slicing"
	"github.com/listwise/listwise/eval/stats"
)

// marks contains the markup of a format.
type marks struct {
	super func(letters string) string
	bold  func(string) string
	text  func(string) string // escapes a user's text
	minus string
}

var plainMarks = marks{
	bold:  func(s string) string { return s },
	text:  func(s string) string { return s },
	minus: "-",
}

// sheets returns the tables of the text form: for each measure a table of systems, a table of
// pairs, and tables of slices.
func (c *comparison) sheets() []report {
	var all []report
	for i := range c.measured {
		m := &c.measured[i]
		systems, pairs := c.systemSheet(m, plainMarks), c.pairSheet(m, plainMarks)
		systems.title = m.name + ": " + c.heading(m)
		systems.notes = []string{""}
		pairs.notes = []string{"", m.Finding(m.name, namesOf(c.systems))}
		if slices.ContainsFunc(m.Pairs, func(p stats.Pair) bool { return stats.Significant(p.Randomization.Holm) }) {
			pairs.notes = append(pairs.notes, starLegend)
		}
		if m.slices != nil {
			pairs.notes = append(pairs.notes, "")
		}
		all = append(all, systems, pairs)
		all = append(all, c.sliceSheets(m, plainMarks)...)
		if m.depths != nil {
			all[len(all)-1].notes = append(all[len(all)-1].notes, "")
			all = append(all, depthSheet(m, plainMarks))
		}
		if last := &all[len(all)-1]; i < len(c.measured)-1 {
			last.notes = append(last.notes, "")
		}
	}
	last := &all[len(all)-1]
	last.notes = append(last.notes, c.remarks()...)
	for i := range all {
		all[i].alignNumbers()
	}
	return all
}

// paper returns the tables for papers. The first table shows the means of all systems and measures.
// Its letters name the systems that are significantly worse. A table of pairs follows for each
// measure.
func (c *comparison) paper(k marks) []report {
	overview := report{columns: []string{"", "system"}, keys: 2}
	several := c.severalRuns()
	for i, s := range c.systems {
		row := []any{letter(i), k.text(s.name)}
		if several {
			row = append(row, strconv.Itoa(len(s.runs)))
		}
		overview.rows = append(overview.rows, row)
	}
	if several {
		overview.columns = append(overview.columns, "runs")
	}
	for i := range c.measured {
		m := &c.measured[i]
		overview.columns = append(overview.columns, m.name, "95 % interval")
		best := bestOf(m)
		for j, s := range m.Systems {
			mean := fmt.Sprintf("%.4f", s.Mean)
			if j == best {
				mean = k.bold(mean)
			}
			if letters := betterThan(m, j); letters != "" {
				mean += k.super(letters)
			}
			overview.rows[j] = append(overview.rows[j], mean, bounds(s.Interval, k))
		}
		if several {
			overview.columns = append(overview.columns, "sd of runs")
			for j := range m.Systems {
				overview.rows[j] = append(overview.rows[j], decimals(m.deviations[j], 4))
			}
		}
		if heading := c.heading(m); i == 0 || heading != c.heading(&c.measured[i-1]) {
			overview.notes = append(overview.notes, heading+".")
		}
		overview.notes = append(overview.notes, m.Finding(m.name, namesOf(c.systems)))
	}
	overview.notes = append(overview.notes, "Letters: significantly better than the system with that letter.")
	overview.notes = append(overview.notes, c.remarks()...)
	all := []report{overview}
	for i := range c.measured {
		m := &c.measured[i]
		pairs := c.pairSheet(m, k)
		pairs.title = m.name
		all = append(all, pairs)
	}
	all[len(all)-1].notes = []string{legend(c.measured[0].Exact)}
	for i := range c.measured {
		for _, s := range c.sliceSheets(&c.measured[i], k) {
			s.title = c.measured[i].name + ", " + s.title
			all = append(all, s)
		}
		if c.measured[i].depths != nil {
			s := depthSheet(&c.measured[i], k)
			s.title = c.measured[i].name + ", " + s.title
			all = append(all, s)
		}
	}
	return all
}

func (c *comparison) heading(m *measured) string {
	data := ""
	if c.folds > 0 {
		data = fmt.Sprintf(" of %d test folds", c.folds)
	}
	if m.weighted {
		data += ", weighted"
	}
	return fmt.Sprintf("%d queries%s; convention %s, ties %s; %s sign flips, %s bootstrap samples, seed %d",
		m.Queries, data, conventionText(c.convention), c.ties, page.Flips(m.Comparison), page.Thousands(c.resamples), c.seed)
}

func (c *comparison) systemSheet(m *measured, k marks) report {
	s := report{columns: []string{"", "system", "mean", "95 % interval"}, keys: 2}
	several := c.severalRuns()
	if several {
		s.columns = append(s.columns, "runs", "sd of runs")
	}
	s.columns = append(s.columns, "better than")
	for i, x := range m.Systems {
		row := []any{letter(i), k.text(c.systems[i].name), fmt.Sprintf("%.4f", x.Mean), bounds(x.Interval, k)}
		if several {
			row = append(row, strconv.Itoa(len(c.systems[i].runs)), decimals(m.deviations[i], 4))
		}
		s.rows = append(s.rows, append(row, betterThan(m, i)))
	}
	return s
}

func (c *comparison) severalRuns() bool {
	return slices.ContainsFunc(c.systems, func(s *contestant) bool { return len(s.runs) > 1 })
}

func (c *comparison) pairSheet(m *measured, k marks) report {
	s := report{
		columns: []string{"a", "b", "a " + k.minus + " b", "95 % interval", "t", "bootstrap", "randomization", "Holm", "", "max-T", "d", "W/T/L", "detectable"},
		keys:    2,
	}
	for _, p := range m.Pairs {
		s.rows = append(s.rows, []any{
			k.text(c.systems[p.A].name), k.text(c.systems[p.B].name),
			signed(p.Difference, k), bounds(p.Interval, k),
			probability(p.T.P), probability(p.Bootstrap.P), probability(p.Randomization.P),
			probability(p.Randomization.Holm), stars(p.Randomization.Holm), probability(p.Randomization.MaxT),
			strings.ReplaceAll(decimals(p.CohenD, 2), "-", k.minus), fmt.Sprintf("%d/%d/%d", p.Wins, p.Ties, p.Losses), decimals(p.Detectable, 4),
		})
	}
	return s
}

func depthSheet(m *measured, k marks) report {
	return rerankSheet(m.depths, "system", func(d *reranked) string { return d.system }, k)
}

const starLegend = "* below 0.05, ** 0.01, *** 0.001 after Holm"

func legend(exact bool) string {
	flips := "randomization test"
	if exact {
		flips = "exact randomization test"
	}
	return "p-values: paired t-test (t), bootstrap-shift test (bootstrap), " + flips + " (randomization), and its corrections for several pairs by Holm's method (Holm) and by Westfall and Young's maximum statistic (max-T). " +
		starLegend + ". 95 % interval: differences that the randomization test does not reject at 0.05, without correction. d: Cohen's effect size. W/T/L: queries on which a wins, ties, loses. detectable: smallest difference detected at level 0.05 with power 0.8."
}

// runRemarks returns remarks about the claim of the p values and the number of runs.
func (c *comparison) runRemarks() []string {
	var few []string
	for i, s := range c.systems {
		if n := len(s.runs); n > 1 && n < 5 && c.varies(i) {
			few = append(few, fmt.Sprintf("%s (%d)", s.name, n))
		}
	}
	notes := []string{c.claim()}
	if few != nil {
		notes = append(notes, "Fewer than five runs: "+strings.Join(few, ", ")+".")
	}
	return notes
}

func (c *comparison) remarks() []string {
	notes := c.runRemarks()
	var counted []int
	for i := range c.measured {
		counted = append(counted, c.measured[i].Queries)
		for _, s := range c.measured[i].slices {
			counted = append(counted, s.Means[0].Counted)
		}
	}
	if note := fewNote(counted); note != "" {
		notes = append(notes, note)
	}
	if slices.ContainsFunc(c.measured, func(m measured) bool {
		return unbounded(m.Pairs) || slices.ContainsFunc(m.slices, func(s slicing.Compared) bool { return unbounded(pairsOf(s)) })
	}) {
		notes = append(notes, unboundedNote)
	}
	return notes
}

// varies reports whether the runs of system i differ by some measure.
func (c *comparison) varies(i int) bool {
	return slices.ContainsFunc(c.measured, func(m measured) bool { return m.deviations[i] > stats.Same })
}

const unboundedNote = "A difference has no interval if the randomization test cannot reject at 0.05, as with fewer than six queries."

func unbounded(pairs []stats.Pair) bool {
	return slices.ContainsFunc(pairs, func(p stats.Pair) bool { return p.Interval == stats.Unbounded })
}

func (c *comparison) claim() string {
	if !c.severalRuns() {
		return "p-values generalize to other queries, not to other random seeds (--seeds)."
	}
	text := "p-values generalize to other queries and other random seeds."
	var single []string
	for _, s := range c.systems {
		if len(s.runs) == 1 {
			single = append(single, s.name)
		}
	}
	if single != nil {
		text += " Systems with one run count as deterministic: " + strings.Join(single, ", ") +
			". If such a system depends on a random seed, its differences hold for that run only (tune --seeds)."
	}
	return text
}

// betterThan returns the letters of the systems that are significantly worse than system i.
func betterThan(m *measured, i int) string {
	var letters []string
	for _, p := range m.Pairs {
		if !stats.Significant(p.Randomization.Holm) {
			continue
		}
		if p.A == i && p.Difference > 0 {
			letters = append(letters, letter(p.B))
		} else if p.B == i && p.Difference < 0 {
			letters = append(letters, letter(p.A))
		}
	}
	if len(m.Systems) > 26 {
		return strings.Join(letters, ",")
	}
	return strings.Join(letters, "")
}

// letter is the short name of system i: a … z, aa, ab, …
func letter(i int) string {
	s := string(rune('a' + i%26))
	if i >= 26 {
		return letter(i/26-1) + s
	}
	return s
}

func bestOf(m *measured) int {
	best := 0
	for i, s := range m.Systems {
		if s.Mean > m.Systems[best].Mean {
			best = i
		}
	}
	return best
}

func stars(p float64) string {
	switch {
	case p < 0.001:
		return "***"
	case p < 0.01:
		return "**"
	case stats.Significant(p):
		return "*"
	}
	return ""
}

func probability(p float64) string {
	if p < 0.0001 {
		return "<0.0001"
	}
	return decimals(p, 4)
}

func decimals(v float64, n int) string {
	if math.IsNaN(v) {
		return ""
	}
	s := strconv.FormatFloat(v, 'f', n, 64)
	if strings.Trim(s, "-0.") == "" {
		return strings.TrimPrefix(s, "-") // no sign for a value that rounds to 0
	}
	return s
}

// signed formats a difference with its sign, unless it rounds to 0.
func signed(v float64, k marks) string {
	s := decimals(v, 4)
	if v > 0 && strings.Trim(s, "0.") != "" {
		return "+" + s
	}
	return strings.Replace(s, "-", k.minus, 1)
}

// bounds formats an interval. An unbounded interval is empty.
func bounds(i stats.Interval, k marks) string {
	if i == stats.Unbounded {
		return ""
	}
	return "[" + strings.ReplaceAll(decimals(i.Low, 4)+", "+decimals(i.High, 4), "-", k.minus) + "]"
}

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

func markdown(tables []report) string {
	var b strings.Builder
	for i, t := range tables {
		if i > 0 {
			b.WriteByte('\n')
		}
		if t.title != "" {
			fmt.Fprintf(&b, "**%s**\n\n", escapeMarkdown(t.title))
		}
		fmt.Fprintf(&b, "| %s |\n|%s%s\n", strings.Join(t.headings(escapeMarkdown), " | "), strings.Repeat("---|", t.keys), strings.Repeat("---:|", len(t.columns)-t.keys))
		for _, row := range t.rows {
			cells := make([]string, len(row))
			for c, cell := range row {
				if cells[c] = fmt.Sprint(cell); strings.Trim(cells[c], "*") == "" { // stars of significance, not bold text
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

// latexCell escapes a name. A leading * or [ gets the prefix {}, because the \\ before a row would
// take it as an argument.
func latexCell(name string) string {
	if name = escapeLatex(name); strings.HasPrefix(name, "*") || strings.HasPrefix(name, "[") {
		return "{}" + name
	}
	return name
}

// latexGroups returns the line above the column names, with the names of groups of columns and rules below them.
func (r *report) latexGroups() string {
	if r.groups == nil {
		return ""
	}
	cells := []string{strings.Repeat("& ", r.keys-1)}
	var rules []string
	for from := r.keys; from < len(r.columns); {
		to := from + 1
		for to < len(r.columns) && r.groups[to] == r.groups[from] {
			to++
		}
		cells = append(cells, fmt.Sprintf("\\multicolumn{%d}{c}{%s}", to-from, escapeLatex(r.groups[from])))
		rules = append(rules, fmt.Sprintf("\\cmidrule(lr){%d-%d}", from+1, to))
		from = to
	}
	return strings.Join(cells, " & ") + " \\\\\n" + strings.Join(rules, "") + "\n"
}

func escapeLatex(s string) string {
	s = visible(s)
	return strings.NewReplacer(
		`\`, `\textbackslash{}`, "&", `\&`, "%", `\%`, "$", `\$`, "#", `\#`, "_", `\_`, "{", `\{`, "}", `\}`,
		"~", `\textasciitilde{}`, "^", `\textasciicircum{}`, "<", `$<$`, ">", `$>$`,
		better, `$^{\dagger}$`, worse, `$^{\ddagger}$`, "×", `$\times$`,
	).Replace(s)
}

// latex returns a table environment for each table, with the rules of booktabs. Titles and notes
// become captions. The first table gets the label, the following ones the label with -2, -3 and so on.
func latex(tables []report, label string) string {
	var b strings.Builder
	b.WriteString("% needs \\usepackage{booktabs} and \\usepackage{graphicx}\n")
	for i, t := range tables {
		caption := t.notes
		if t.title != "" {
			caption = append([]string{"Pairs by " + t.title + "."}, caption...)
		}
		fmt.Fprintf(&b, "\\begin{table}\n\\caption{%s}\n", escapeLatex(strings.Join(caption, " ")))
		switch {
		case label != "" && i == 0:
			fmt.Fprintf(&b, "\\label{%s}\n", label)
		case label != "":
			fmt.Fprintf(&b, "\\label{%s-%d}\n", label, i+1)
		}
		align := "r"
		if b.WriteString("\\centering\n"); t.compact {
			b.WriteString("\\small\n\\setlength{\\tabcolsep}{4pt}\n")
			align = "l" // daggers after the numbers would shift their digits
		}
		b.WriteString("\\resizebox{\\ifdim\\width>\\linewidth\\linewidth\\else\\width\\fi}{!}{%\n")
		fmt.Fprintf(&b, "\\begin{tabular}{%s%s}\n\\toprule\n%s", strings.Repeat("l", t.keys), strings.Repeat(align, len(t.columns)-t.keys), t.latexGroups())
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
