package papers

import (
	"bytes"
	"fmt"
	"io"
	"path"
	"strings"
)

// WriteMarkdown writes the page in GitHub's Markdown. Its plots are linked as
// FIGURES/NAME.svg, with the names that Report.Write gives them.
func (a *All) WriteMarkdown(w io.Writer, figures string) error {
	b := &markdown{figures: figures}
	b.line("# The papers' results, reproduced")
	b.line("The command below writes this page. Do not edit it.")
	b.facts(a.Facts)
	for _, text := range aboutVerdicts {
		b.line("%s", escape(text))
	}
	summary := a.Summary()
	b.table(&summary)
	for i := range a.Outcomes {
		b.outcome(&a.Outcomes[i])
	}
	_, err := w.Write(b.Bytes())
	return err
}

type markdown struct {
	bytes.Buffer
	figures string
}

// line writes a paragraph.
func (b *markdown) line(format string, args ...any) {
	if b.Len() > 0 {
		b.WriteByte('\n')
	}
	fmt.Fprintf(b, format+"\n", args...)
}

func (b *markdown) list(items []string, mark func(i int) string) {
	if len(items) > 0 {
		b.WriteByte('\n')
	}
	for i, text := range items {
		fmt.Fprintf(b, "%s %s\n", mark(i), escape(text))
	}
}

func bullet(int) string     { return "-" }
func numbered(i int) string { return fmt.Sprintf("%d.", i+1) }

func (b *markdown) facts(facts []Fact) {
	items := make([]string, len(facts))
	for i, f := range facts {
		items[i] = f.Name + ": " + f.Value
	}
	b.list(items, bullet)
}

func (b *markdown) outcome(o *Outcome) {
	b.line("## %s", o.Name)
	b.line("%s. It shows %s.", escape(o.Title), escape(o.Shows))
	if o.Report == nil {
		b.line("Not run: %s", escape(o.Why))
		return
	}
	r := o.Report
	b.facts(o.facts())
	if len(r.Claims) > 0 {
		t, reasons := claimTable(r.Claims)
		b.line("Verdicts on the published numbers: %s.", countsText(r.Claims))
		b.table(&t)
		if list := bases(r.Claims); len(list) > 0 {
			b.line("Intervals: %s.", escape(strings.Join(list, "; ")))
		}
		if len(reasons) > 0 {
			b.line("Reasons for verdicts, by the number in brackets:")
			b.list(reasons, numbered)
		}
	}
	if len(r.Orders) > 0 {
		b.line("Orders that the paper claims: %s.", ordersText(r.Orders))
	}
	for _, t := range o.mainTables() {
		b.table(&t)
	}
	for i := range r.Plots {
		b.line("![%s](%s)", escape(r.Plots[i].Title), path.Join(b.figures, r.plotName(i)))
	}
	b.list(r.Notes, bullet)
}

// capitalised is a title with a capital; one that begins with a symbol, such as β, keeps it.
func capitalised(title string) string {
	if c := title[0]; 'a' <= c && c <= 'z' {
		return string(c-'a'+'A') + title[1:]
	}
	return title
}

func (b *markdown) table(t *Table) {
	if t.Title != "" {
		b.line("%s:", escape(capitalised(t.Title)))
	}
	b.WriteByte('\n')
	row := func(cells []string) {
		for _, c := range cells {
			b.WriteString("| " + escape(c) + " ")
		}
		b.WriteString("|\n")
	}
	row(t.Columns)
	for i := range t.Columns {
		if i < t.Left {
			b.WriteString("|---")
		} else {
			b.WriteString("|---:")
		}
	}
	b.WriteString("|\n")
	for _, cells := range t.Rows {
		row(cells)
	}
}

// escape takes their meaning from characters that have one in Markdown.
var escape = strings.NewReplacer("|", `\|`, "*", `\*`, "<", "&lt;", "`", "\\`", "[", `\[`, `\`, `\\`, "\n", " ", " _", ` \_`).Replace
