package papers

import (
	"bytes"
	"embed"
	"html/template"
	"io"
)

//go:embed page
var pageFiles embed.FS

var allPage = template.Must(template.New("all.gohtml").Funcs(template.FuncMap{
	"verdict": func(v Verdict) string { return verdictClass[v] },
}).ParseFS(pageFiles, "page/all.gohtml"))

// verdictClass is the class of a verdict's cells.
var verdictClass = map[Verdict]string{Reproduced: "same", Better: "better", Worse: "worse", OrderChanged: "turned", NotInformative: "not", NotComparable: "not"}

// htmlPage is what the template gets.
type htmlPage struct {
	Facts    []Fact
	Shares   []verdictShare
	Scatter  template.HTML
	About    []string
	Summary  Table
	Outcomes []htmlOutcome
}

type htmlOutcome struct {
	*Outcome
	Facts   []Fact
	Counts  string
	Orders  string // "" without claims of orders
	Claims  Table
	Bases   []string
	Reasons []string
	Main    []Table
	Rest    []Table // not on the Markdown page
	Plots   []template.HTML
	Notes   []string
}

// Verdict returns that of a line of the claims' table.
func (o htmlOutcome) Verdict(line int) Verdict { return o.Report.Claims[line].Verdict }

// WriteHTML writes the page, with plots and all tables in it.
func (a *All) WriteHTML(w io.Writer) error {
	scatter, err := a.scatter()
	if err != nil {
		return err
	}
	p := htmlPage{Facts: a.Facts, Shares: a.shares(), Scatter: scatter, About: aboutVerdicts, Summary: a.Summary()}
	for i := range a.Outcomes {
		o := htmlOutcome{Outcome: &a.Outcomes[i]}
		if r := o.Report; r != nil {
			o.Facts = o.facts()
			o.Counts, o.Bases, o.Main, o.Notes = countsText(r.Claims), bases(r.Claims), o.mainTables(), r.Notes
			o.Claims, o.Reasons = claimTable(r.Claims)
			if len(r.Orders) > 0 {
				o.Orders = ordersText(r.Orders)
			}
			for _, t := range r.Tables {
				if !t.Main {
					o.Rest = append(o.Rest, t)
				}
			}
			for k := range r.Plots {
				var svg bytes.Buffer
				if err := r.Plots[k].Write(&svg); err != nil {
					return err
				}
				o.Plots = append(o.Plots, template.HTML(svg.String())) //nolint:gosec // our own drawing, which escapes its texts
			}
		}
		p.Outcomes = append(p.Outcomes, o)
	}
	return allPage.Execute(w, p)
}
