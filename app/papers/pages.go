package papers

import (
	"bytes"
	"cmp"
	"embed"
	"fmt"
	"html/template"
	"io"
	"math"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/listwise/listwise/internal/chart"
)

// WriteMarkdown writes the page in GitHub's Markdown. The page links plots as figures/NAME.svg,
// where NAME is the file name from Report.Write.
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

// capitalised returns a title with a capital first letter. It does not change a title that begins
// with a symbol, such as β.
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

// escape escapes characters with a meaning in Markdown.
var escape = strings.NewReplacer("|", `\|`, "*", `\*`, "<", "&lt;", "`", "\\`", "[", `\[`, `\`, `\\`, "\n", " ", " _", ` \_`).Replace

//go:embed page
var pageFiles embed.FS

// allPage is parsed when the page is written, because most commands write none.
var allPage = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("all.gohtml").Funcs(template.FuncMap{
		"verdict": func(v Verdict) string { return verdictClass[v] },
	}).ParseFS(pageFiles, "page/all.gohtml"))
})

// verdictClass maps verdicts to the CSS class of their cells.
var verdictClass = map[Verdict]string{Reproduced: "same", Better: "better", Worse: "worse", OrderChanged: "turned", NotInformative: "not", NotComparable: "not"}

// htmlPage is the data of the template.
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
	Orders  string // "" if no claim is about an order of systems
	Claims  Table
	Bases   []string
	Reasons []string
	Main    []Table
	Rest    []Table // not on the Markdown page
	Plots   []template.HTML
	Notes   []string
}

// Verdict returns the verdict in a row of the table of claims.
func (o htmlOutcome) Verdict(line int) Verdict { return o.Report.Claims[line].Verdict }

// WriteHTML writes the page as HTML, including all plots and tables.
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
	return allPage().Execute(w, p)
}

// verdictShare is a segment of the bar at the top of the page.
type verdictShare struct {
	Verdict Verdict
	Count   int
	Percent string // share of all claims in the bar
}

// shares returns the segments of the bar, one for each verdict of the claims.
func (a *All) shares() []verdictShare {
	n, all := counts(a.claims()), 0
	for _, v := range Verdicts() {
		all += n[v]
	}
	var parts []verdictShare
	for _, v := range Verdicts() {
		if n[v] > 0 {
			parts = append(parts, verdictShare{v, n[v], fmt.Sprintf("%.0f %%", 100*float64(n[v])/float64(all))})
		}
	}
	return parts
}

// scatter returns a scatter plot of our numbers over the published ones, with a series for each
// verdict. It shows each published number once, and only values from 0 to 1, such as measures and
// shares. It returns "" if there are no such numbers.
func (a *All) scatter() (template.HTML, error) {
	p := chart.Plot{
		Title: "Ours over the published numbers: on the line they agree", Width: 640, Height: 480,
		X: chart.Axis{Label: "published", Min: 0, Max: 1}, Y: chart.Axis{Label: "ours", Min: 0, Max: 1},
	}
	drawn := false
	for _, v := range scatterOrder {
		if v == "" {
			p.Series = append(p.Series, chart.Series{Kind: chart.Line, X: []float64{0, 1}, Y: []float64{0, 1}})
			continue
		}
		s := chart.Series{Name: string(v), Kind: chart.Scatter}
		for _, c := range a.claims() {
			if c.Verdict == v && c.Repeats == "" && share(c.Published) && share(c.Ours) {
				s.X, s.Y = append(s.X, c.Published), append(s.Y, c.Ours)
			}
		}
		if s.X == nil {
			s.Name = "" // keep the empty series, because its position determines the colors of the following series
		}
		p.Series, drawn = append(p.Series, s), drawn || s.X != nil
	}
	if !drawn {
		return "", nil
	}
	var b bytes.Buffer
	if err := p.Write(&b); err != nil {
		return "", err
	}
	return template.HTML(b.String()), nil //nolint:gosec // our own drawing, which escapes its texts
}

// scatterOrder is the order of the series in the scatter plot. The palette assigns colors by
// position. With this order each verdict has the same color as elsewhere on the page: blue, orange,
// green, purple. The verdict "" stands for the diagonal line.
var scatterOrder = []Verdict{Reproduced, Worse, Better, OrderChanged, "", NotInformative, NotComparable}

// share reports whether v is a number from 0 to 1.
func share(v float64) bool { return !math.IsNaN(v) && v >= 0 && v <= 1 }

// verdictMeanings contains the verdicts on claims and their meanings, in the order of the page.
var verdictMeanings = []struct {
	verdict FindVerdict
	meaning string
}{
	{ClaimHeld, "Our results support the claim. Differences are significant."},
	{ClaimPartly, "It held in some cases, or with a restriction. The evidence names them. It failed in none."},
	{ClaimMixed, "It held in some cases and failed in others."},
	{ClaimFailedPartly, "It failed in some cases and held in none. The others are undecided."},
	{ClaimFailed, "Our results contradict the claim. Differences are significant, or lie within the margin."},
	{ClaimUndecided, "The differences may be due to chance."},
	{ClaimTrivial, "Our results agree, but a trivial system does as well: the best single feature, the order of the file or a random order. For times it is a count of multiply-adds."},
	{ClaimOpen, "The numbers that it needs are not public."},
	{ClaimOnce, "It held on one synthetic data set. Another draw may differ."},
	{ClaimFailedOnce, "It failed on one synthetic data set. Another draw may differ."},
	{ClaimNotTested, "A definition, a motivation, an opinion or a claim about related work. The line says why no experiment decides it."},
}

// sectionInClaim matches the reference to a section of the paper in the text of a claim: "(5.3.1)",
// "(6.3.2, 6.4; remark)", "(section 2)", "(slide 7)", "(slide Results)", "(theorem)", "(chart)". It
// does not match a number without a dot, which refers to an equation.
var sectionInClaim = regexp.MustCompile(` ?\((?:sections? (\d[\d., and]*)|(\d+(?:\.\d+)+(?:(?:, | and )\d+(?:\.\d+)*)*|(?:last )?[Ss]lides?(?: [^,;:()]*)?|(?:[Ff]igures?|[Tt]ables?) \d[^,;:()]*|[Tt]heorem(?: \d+)?|chart|abstract))(?:([,;:]) ([^()]*))?\)`)

// splitSection moves the last reference to a section from the text of the claim to Section. Other
// words in the same parentheses remain in the text.
func (f *Finding) splitSection() {
	all := sectionInClaim.FindAllStringSubmatchIndex(f.Claim, -1)
	if len(all) == 0 || f.Section != "" {
		return
	}
	at := all[len(all)-1]
	group := func(i int) string {
		if at[2*i] < 0 {
			return ""
		}
		return f.Claim[at[2*i]:at[2*i+1]]
	}
	rest := group(4)
	if group(3) == ":" {
		rest = "paper: " + rest
	}
	if rest != "" {
		rest = " (" + rest + ")"
	}
	f.Section, f.Claim = group(1)+group(2), f.Claim[:at[0]]+rest+f.Claim[at[1]:]
}

// compareSections orders sections as a paper does: sections with numbers first, by number, then
// sections with names. The empty section is last.
func compareSections(a, b string) int {
	if a == "" || b == "" {
		return strings.Compare(b, a)
	}
	first, second := numbersIn(a), numbersIn(b)
	if len(first) == 0 || len(second) == 0 {
		return cmp.Or(cmp.Compare(len(second), len(first)), strings.Compare(a, b))
	}
	return cmp.Or(slices.Compare(first, second), strings.Compare(a, b))
}

// numbersIn returns the numbers of the first section in the text, such as 5, 3, 1 for "5.3.1".
func numbersIn(section string) []int {
	var found []int
	first, _, _ := strings.Cut(section, ",")
	for _, digits := range regexp.MustCompile(`\d+`).FindAllString(first, -1) {
		n, err := strconv.Atoi(digits)
		if err != nil {
			return nil // a number that overflows is not a section
		}
		found = append(found, n)
	}
	return found
}

// heldLine is a row of the page that WriteHeld writes: a claim, and the command of its experiment.
type heldLine struct {
	Finding
	command string
}

// WriteHeld writes the page of verdicts on claims in GitHub's Markdown. It contains a table for
// each paper with a row for each claim, and a list of the published tables.
func (a *All) WriteHeld(w io.Writer) error {
	var papers []string
	lines := make(map[string][]heldLine)
	count := make(map[FindVerdict]int)
	for i := range a.Outcomes {
		o := &a.Outcomes[i]
		if o.Report == nil {
			continue
		}
		for _, f := range o.Report.findings() {
			paper := cmp.Or(f.Paper, o.Paper, "Other experiments")
			if lines[paper] == nil {
				papers = append(papers, paper)
				lines[paper] = untestedLines(paper)
				count[ClaimNotTested] += len(lines[paper])
			}
			if f.Rule != "" {
				f.Figure += "; to hold, by our rule: " + f.Rule
			}
			if o.Untrained != "" && !f.trained && f.Verdict != ClaimTrivial {
				f.Figure += "; no trivial system: " + o.Untrained
			}
			lines[paper] = append(lines[paper], heldLine{f, "reproduce " + o.Name})
			count[f.Verdict]++
		}
	}
	b := &markdown{}
	b.line("# What held and what did not")
	b.line("`%s` writes this page. Do not edit it.", a.fact("command"))
	b.line("Each line is a claim of a paper. A claim may have a line for every data set and measure. Lines are in the order of the paper's sections. The command of a line, `listwise reproduce NAME`, prints the tables behind it.")
	b.line("Differences are paired over test queries and random seeds. Brackets hold 95 %% confidence intervals. Significance is corrected by Holm's method over the differences of a line, so an interval that excludes 0 may belong to an undecided line. \"A > B in 26 of 32\" means that the paper counts A above B in 26 of 32 cells, where a cell is a data set and a measure.")
	b.line("Published numbers, one by one, are judged on the page of all experiments.")
	b.line("Two methods are alike, or one brings no improvement, only if the intervals lie within a margin. The line states the margin. A difference that is not significant does not suffice.")
	b.line("Trivial systems in place of the trained models hold no claim: a test puts the best single feature, the order of the file and a random order there. Where that is not possible the line says why. Other limits of a verdict are ours, not the paper's. They stand on its line, after \"to hold, by our rule\". A claim that no paper states in so many words is marked \"our reading\".")
	b.line("One rule combines cases. Within a comparison of two methods, one significant measure decides if none contradicts it, and the cells of an order are one comparison. A line of several comparisons, data sets or methods held, or did not hold, if all of them agree. It held, or failed, in part if some do and the others are undecided. It is mixed if they disagree.")
	b.line("A claim over several data sets is judged on those that are here, by the same rule for counts and for averages. A claim about a data set that is not here is judged on data in its place. Either line names the data. One synthetic set decides at most on one draw. A claim cannot be known if the paper gives no number to hold it against.")
	verdicts := Table{Left: 3, Columns: []string{"verdict", "lines", "meaning"}}
	for _, v := range verdictMeanings {
		verdicts.Rows = append(verdicts.Rows, []string{string(v.verdict), strconv.Itoa(count[v.verdict]), v.meaning})
	}
	b.table(&verdicts)
	for _, paper := range papers {
		b.line("## %s", paper)
		slices.SortStableFunc(lines[paper], func(a, b heldLine) int { return compareSections(a.Section, b.Section) })
		t := Table{Left: 5, Columns: []string{"section", "claim", "verdict", "evidence", "command"}}
		for _, l := range lines[paper] {
			t.Rows = append(t.Rows, []string{l.Section, l.Claim, string(l.Verdict), l.Figure, l.command})
		}
		b.table(&t)
	}
	b.line("## Published tables")
	b.line("How many numbers of each published table the page of all experiments judges. The others are of data sets that are not here, or of methods that are not.")
	reaches := a.reaches()
	b.table(&reaches)
	_, err := w.Write(b.Bytes())
	return err
}

// reaches returns a table with a row for every published table and picture of the experiments that
// ran.
func (a *All) reaches() Table {
	t := Table{Left: 2, Columns: []string{"paper", "table", "numbers", "judged", "not judged", "command"}}
	for i := range a.Outcomes {
		o := &a.Outcomes[i]
		if o.Report == nil {
			continue
		}
		paper, command := cmp.Or(o.Paper, "Other experiments"), "reproduce "+o.Name
		for _, n := range o.Report.Reaches {
			t.Rows = append(t.Rows, []string{paper, n.Table, strconv.Itoa(n.Numbers), strconv.Itoa(n.Judged), n.Lacking, command})
		}
		if o.Picture != "" {
			t.Rows = append(t.Rows, []string{paper, o.Picture, "none", "", "a picture without numbers", command})
		}
	}
	return t
}
