package clickreport

import (
	"bytes"
	"cmp"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"math"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/listwise/listwise/app/report"
	"github.com/listwise/listwise/click"
	"github.com/listwise/listwise/click/propensity"
	"github.com/listwise/listwise/internal/chart"
)

//go:embed page.gohtml
var source string

// page is parsed when a page is written, because most commands write none.
var page = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("page").Funcs(template.FuncMap{
		"short": short, "brief": brief, "percent": percent, "count": report.Count, "bar": bar, "label": report.Label, "sentence": sentence, "number": number, "between": between, "ends": func(low, high float64) string { return between(&low, &high) }, "day": day, "hundred": func(share float64) float64 { return 100 * share },
	}).Parse(source))
})

const (
	// mostRows is the largest number of ranks, slots and arms in plots and tables.
	mostRows = 50
	// width and height of plots. On a phone, text of a wider plot would be too small.
	width, height = 400, 300
)

type content struct {
	*Report
	Title, Source, Valid string
	Share                float64
	Style                template.CSS
	Policy               string

	ByRank      template.HTML
	Ranks       []click.RankInfo
	ByClicks    []clicksRow
	MostPages   int
	ArmRows     []armRow
	Curves      template.HTML     // of propensities
	Told        []propensity.Told // with an estimate
	SlotRows    []slotRow
	Perplexity  template.HTML
	Conditional template.HTML
	RankRows    []rankRow
	Best        string
	Queries     []Query // on the page
	Left        int     // number of omitted queries
	Satisfies   bool
	MostRows    int
	Resamples   int
	Why         string
}

type clicksRow struct{ Clicks, Pages int }

type armRow struct {
	click.ArmInfo
	Together string
}

// PerPage and Share are numbers of clicked documents and of pages with a click, per page.
func (a armRow) PerPage() float64 { return ratio(a.Clicks, a.Weight) }

// Share is the share of pages with a click.
func (a armRow) Share() float64 { return ratio(a.Clicked, a.Weight) }

type slotRow struct {
	Slot  string
	Rate  float64
	Cells []*propensity.Slot // nil if the method does not tell the slot
}

type rankRow struct {
	Rank  int
	Cells []Rank
}

// Write writes the HTML page.
func (r *Report) Write(w io.Writer) error {
	text, err := r.page()
	if err != nil {
		return err
	}
	_, err = w.Write(text)
	return err
}

// page returns the page within the size limit.
func (r *Report) page() ([]byte, error) {
	c, err := r.content()
	if err != nil {
		return nil, err
	}
	all := c.Queries
	return report.Fit(r.config.MaxBytes, len(all), "queries", func(b *bytes.Buffer, n int) error {
		c.Queries, c.Left = all[:n], len(all)-n
		return page().Execute(b, c)
	})
}

func (r *Report) content() (c *content, err error) {
	style := report.Style() + chart.Style() + ownStyle
	c = &content{
		Report: r, Title: r.config.Title, Source: r.config.Source, Valid: r.config.Valid, Share: r.config.Share, Resamples: r.config.Resamples, MostRows: mostRows,
		Style: template.CSS(style), Policy: report.StylePolicy(style), //nolint:gosec // the program's own
		Ranks: r.Info.Ranks[:min(mostRows, len(r.Info.Ranks))],
	}
	for n, pages := range r.Info.ByClicks[:min(mostRows, len(r.Info.ByClicks))] {
		c.ByClicks, c.MostPages = append(c.ByClicks, clicksRow{n, pages}), max(c.MostPages, pages)
	}
	c.ArmRows = r.armRows()
	for _, curve := range r.Propensities {
		if curve.Estimate != nil {
			c.Told = append(c.Told, curve)
		}
	}
	c.SlotRows = slotRows(c.Told)
	if c.ByRank, err = r.byRank(c.Ranks); err != nil {
		return nil, err
	}
	if c.Curves, err = curves(c.Told, c.SlotRows); err != nil {
		return nil, err
	}
	if e := r.Examples; e != nil {
		c.Queries, c.Satisfies = e.Queries, e.satisfy
	}
	if m := r.Models; m != nil && m.Pages > 0 {
		c.Best = m.Best
		if c.Perplexity, err = m.plot("Perplexity by rank", func(k Rank) Estimate { return k.Perplexity }); err != nil {
			return nil, err
		}
		if c.Conditional, err = m.plot("Conditional perplexity by rank", func(k Rank) Estimate { return k.Conditional }); err != nil {
			return nil, err
		}
		c.RankRows = m.rankRows()
	} else if m != nil {
		c.Why = m.why
	}
	return c, nil
}

// armRows returns the arms, none if the log names none.
func (r *Report) armRows() (rows []armRow) {
	if i := r.Info; len(i.Arms) == 1 && i.Arms[0].Arm == "" {
		return nil
	}
	for k, a := range r.Info.Arms[:min(mostRows, len(r.Info.Arms))] {
		rows = append(rows, armRow{a, together(r.Info, k)})
	}
	return rows
}

// slotRows returns the slots of curves, from top to bottom. The first curve with the most slots gives their order.
func slotRows(told []propensity.Told) (rows []slotRow) {
	var most []propensity.Slot
	for _, c := range told {
		if len(c.Estimate.Slots) > len(most) {
			most = c.Estimate.Slots
		}
	}
	for _, s := range most[:min(mostRows, len(most))] {
		row := slotRow{Slot: s.Slot, Rate: ratio(s.Clicks, s.Impressions), Cells: make([]*propensity.Slot, len(told))}
		for i, c := range told {
			for k := range c.Estimate.Slots {
				if own := &c.Estimate.Slots[k]; own.Slot == s.Slot {
					row.Cells[i] = own
				}
			}
		}
		rows = append(rows, row)
	}
	return rows
}

func (m *Models) rankRows() (rows []rankRow) {
	for k := range m.Models[0].Measures.Ranks[:min(mostRows, len(m.Models[0].Measures.Ranks))] {
		row := rankRow{Rank: k + 1}
		for _, f := range m.Models {
			row.Cells = append(row.Cells, f.Measures.Ranks[k])
		}
		rows = append(rows, row)
	}
	return rows
}

// drawn returns a plot for the page.
func drawn(p *chart.Plot) (template.HTML, error) {
	p.Width, p.Height, p.Inline = width, height, true
	var b bytes.Buffer
	err := p.Write(&b)
	return template.HTML(b.String()), err //nolint:gosec // text is escaped
}

// byRank draws the click rates of the ranks with their intervals.
func (r *Report) byRank(ranks []click.RankInfo) (template.HTML, error) {
	s := chart.Series{Kind: chart.Scatter, Low: []float64{}, High: []float64{}}
	top := 0.0
	for _, k := range ranks {
		if k.Shown > 0 {
			s.X, s.Y, s.Low, s.High = append(s.X, float64(k.Rank)), append(s.Y, k.Rate), append(s.Low, k.Low), append(s.High, k.High)
			top = max(top, k.High)
		}
	}
	p := &chart.Plot{Title: "Click rate by rank", X: chart.Axis{Label: "rank"}, Y: chart.Axis{Label: "click rate"}, Series: []chart.Series{s}}
	p.X.Ticks, p.X.Min, p.X.Max = rankAxis(len(ranks))
	if top > 0 {
		p.Y.Max = min(1, 1.04*top)
	}
	return drawn(p)
}

// rankAxis returns the ticks and the ends of an axis of n ranks.
func rankAxis(n int) (ticks []chart.Tick, low, high float64) {
	step := (n + 9) / 10
	for k := 1; k <= n; k += step {
		ticks = append(ticks, chart.Tick{Value: float64(k), Label: strconv.Itoa(k)})
	}
	return ticks, 0.5, float64(max(n, 1)) + 0.5
}

// curves draws propensities, and click rates relative to the first slot.
func curves(told []propensity.Told, rows []slotRow) (template.HTML, error) {
	if len(told) == 0 {
		return "", nil
	}
	p := &chart.Plot{Title: "Propensity by slot", X: chart.Axis{Label: "slot"}, Y: chart.Axis{Label: "relative to the first slot", Log: true}}
	for i, c := range told {
		s := chart.Series{Name: string(c.Method), Kind: chart.LineMarkers, Low: []float64{}, High: []float64{}}
		for k, row := range rows {
			low, high, theta := math.NaN(), math.NaN(), math.NaN()
			if own := row.Cells[i]; own != nil {
				theta = own.Theta
				if own.Low != nil && own.High != nil {
					low, high = *own.Low, *own.High
				} else if k == 0 {
					low, high = theta, theta // the first slot has no error
				}
			}
			s.X, s.Y, s.Low, s.High = append(s.X, float64(k+1)), append(s.Y, theta), append(s.Low, low), append(s.High, high)
		}
		p.Series = append(p.Series, s)
	}
	rates := chart.Series{Name: "click rate", Kind: chart.Line}
	for k, row := range rows {
		rates.X, rates.Y = append(rates.X, float64(k+1)), append(rates.Y, ratio(row.Rate, rows[0].Rate))
	}
	p.Series = append(p.Series, rates)
	p.X.Ticks, p.X.Min, p.X.Max = rankAxis(len(rows))
	for k := range p.X.Ticks {
		p.X.Ticks[k].Label = report.Label(rows[int(p.X.Ticks[k].Value)-1].Slot)
	}
	p.Y.Ticks = powers(p.Series)
	return drawn(p)
}

// powers returns the ticks 1, 0.5, 0.2, 0.1, … of an axis down to the least value of the series, nil if they would be too
// many.
func powers(series []chart.Series) (ticks []chart.Tick) {
	least := 1.0
	for _, s := range series {
		for _, v := range slices.Concat(s.Y, s.Low) {
			if v > 0 {
				least = min(least, v)
			}
		}
	}
	for _, v := range []float64{2, 1, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01} {
		ticks = append(ticks, chart.Tick{Value: v, Label: strconv.FormatFloat(v, 'f', -1, 64)})
		if v <= least {
			return ticks
		}
	}
	return nil
}

const (
	// mostPlotted is the number of colors of plots.
	mostPlotted = 8
	// coin is the perplexity of a guess. Higher ones are not drawn.
	coin = 2
)

// plotted reports which models are in plots: the best by log-likelihood.
func (m *Models) plotted() []bool {
	order, is := make([]int, len(m.Models)), make([]bool, len(m.Models))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(*m.Models[b].Measures.LogLikelihood.Value, *m.Models[a].Measures.LogLikelihood.Value)
	})
	for _, i := range order[:min(mostPlotted, len(order))] {
		is[i] = true
	}
	return is
}

// plot draws a perplexity of models by rank.
func (m *Models) plot(title string, of func(Rank) Estimate) (template.HTML, error) {
	n := min(mostRows, len(m.Models[0].Measures.Ranks))
	p := &chart.Plot{Title: title, X: chart.Axis{Label: "rank"}, Y: chart.Axis{Label: "perplexity (1 is perfect)"}}
	low, high := coin*1.0, 1.0
	is := m.plotted()
	for i, f := range m.Models {
		if !is[i] {
			continue
		}
		s := chart.Series{Name: f.Model, Kind: chart.LineMarkers}
		for k, rank := range f.Measures.Ranks[:n] {
			v := math.NaN()
			if e := of(rank); e.Value != nil {
				v = *e.Value
				low, high = min(low, v), max(high, min(v, coin))
			}
			s.X, s.Y = append(s.X, float64(k+1)), append(s.Y, v)
		}
		p.Series = append(p.Series, s)
	}
	p.X.Ticks, p.X.Min, p.X.Max = rankAxis(n)
	margin := float64(0.05 * max(high-low, 0.02))
	p.Y.Min, p.Y.Max = low-margin, high+margin
	return drawn(p)
}

const ownStyle = report.FindingsStyle + `.plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(22rem, 100%), 1fr)); gap: .4rem 2rem; } .plots > * { min-width: 0; } .figure { max-width: 34rem; } .lw-back { fill: none; } .lw-plot { color: var(--ink); }
.short { width: 60px; height: 10px; } h3 { overflow-wrap: anywhere; } td.time { white-space: nowrap; } th[scope=row] { overflow-wrap: anywhere; min-width: 4rem; } .document { display: block; min-width: 6rem; max-width: 18rem; white-space: normal; overflow-wrap: anywhere; }
`

// number formats a value of an estimate.
func number(v *float64) string {
	if v == nil {
		return "–"
	}
	return short(*v)
}

func between(low, high *float64) string { return interval(low, high, "", "") }

func day(t *time.Time) string {
	if t == nil {
		return "–"
	}
	return t.UTC().Format("2006-01-02 15:04")
}

// bar draws v as a bar, where most has full length.
func bar(class string, v, most any) template.HTML {
	full := 160.0
	if class == "short" {
		full = 60
	}
	return template.HTML(fmt.Sprintf(`<svg class="share %s" viewBox="0 0 %v 10" aria-hidden="true"><path d="M0 0H%.1fV10H0z"/></svg>`, class, full, full*ratio(float(v), float(most)))) //nolint:gosec // numbers alone
}

func float(v any) float64 {
	switch v := v.(type) {
	case int:
		return float64(v)
	case *float64:
		return *v
	}
	return v.(float64)
}

func ratio(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}
