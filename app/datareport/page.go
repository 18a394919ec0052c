package datareport

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
	"strings"
	"sync"

	"github.com/listwise/listwise/app/report"
	"github.com/listwise/listwise/dataset"
)

//go:embed page.gohtml
var source string

// page is parsed when a page is written, because most commands write none.
var page = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("page").Funcs(template.FuncMap{
		"short": short, "percent": percent, "bars": bars, "share": shareBar, "grade": dataset.FormatGrade, "count": report.Count, "four": func(v float64) string { return strconv.FormatFloat(v, 'f', 4, 64) },
	}).Parse(source))
})

type content struct {
	*Report
	Title, Source, Against string
	Convention             string
	Style                  template.CSS
	Policy                 string
	Rows                   []row
	Left                   int // number of omitted features
	Docs                   int // number of documents in the largest group of grades
	Longest                int // number of queries in the largest group of lengths
	PairRows               []pairRow
	CopyRows               []string
}

type row struct {
	*Feature
	Moved *Moved // nil without other data
}

// Label returns the feature's name. A long name is cut.
func (r row) Label() string { return r.label() }

type pairRow struct {
	A, B        string
	Correlation float64
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

// Size returns the size of the page in bytes, and the number of features on it.
func (r *Report) Size() (size, features int, err error) {
	text, err := r.page()
	return len(text), bytes.Count(text, []byte(`<tr class="feature">`)), err
}

// page returns the page within the size limit.
func (r *Report) page() ([]byte, error) {
	rows := r.rows()
	return report.Fit(r.config.MaxBytes, len(rows), "features", func(b *bytes.Buffer, n int) error {
		return page().Execute(b, r.content(rows[:n]))
	})
}

// rows returns all features: suspect features first, then features with a changed distribution,
// then the other features. Within each group, features that rank better come first.
func (r *Report) rows() []row {
	rows := make([]row, len(r.Features))
	for j := range rows {
		rows[j].Feature = &r.Features[j]
		if r.Drift != nil {
			rows[j].Moved = &r.Drift.Features[j]
		}
	}
	class := func(r row) int {
		switch {
		case r.Suspect != "":
			return 0
		case r.Moved != nil && r.Moved.Holm < movedLevel:
			return 1
		}
		return 2
	}
	slices.SortStableFunc(rows, func(a, b row) int { return cmp.Or(class(a)-class(b), cmp.Compare(b.best(), a.best())) })
	return rows
}

func (r *Report) content(rows []row) content {
	c := content{
		Report: r, Title: r.config.Title, Source: r.config.Source, Against: r.config.Against, Convention: r.config.Convention.Name(),
		Style: template.CSS(report.Style() + ownStyle), Policy: report.StylePolicy(report.Style() + ownStyle), //nolint:gosec // the program's own
		Rows: rows, Left: len(r.Features) - len(rows),
	}
	for _, g := range r.Info.Grades {
		c.Docs = max(c.Docs, g.Documents)
	}
	for _, b := range r.Info.DocumentsPerQuery.Histogram {
		c.Longest = max(c.Longest, b.Queries)
	}
	for _, p := range r.Pairs {
		c.PairRows = append(c.PairRows, pairRow{r.Features[p.A-1].label(), r.Features[p.B-1].label(), p.Correlation})
	}
	for _, group := range r.Copies[:min(mostPairs, len(r.Copies))] {
		var list []string
		for _, j := range group {
			list = append(list, r.Features[j-1].label())
		}
		c.CopyRows = append(c.CopyRows, report.Names(list))
	}
	return c
}

const ownStyle = report.FindingsStyle + `.histogram { width: 100px; height: 22px; display: block; } .histogram .own { fill: var(--c5); opacity: .45; } .histogram .other { fill: none; stroke: var(--c1); stroke-width: 1.5; }
.facts .against { white-space: normal; overflow-wrap: anywhere; } @media print { .scroll th[scope=row] { min-width: 4rem; } }
th[scope=row] { overflow-wrap: anywhere; min-width: 7rem; } .suspect { color: var(--worse); display: block; font-size: .8rem; max-width: 16rem; white-space: normal; }
`

func short(v float64) string {
	text := strconv.FormatFloat(v, 'g', 4, 64)
	return strings.ReplaceAll(text, "-", "−")
}

func percent(v float64) string {
	switch {
	case v == 0:
		return "0"
	case v < 0.001:
		return "<0.1"
	}
	return strconv.FormatFloat(100*v, 'f', 1, 64)
}

// shareBar draws the number n as a bar, where most has full length.
func shareBar(n, most int) template.HTML {
	width := 0.0
	if most > 0 {
		width = 160 * float64(n) / float64(most)
	}
	return template.HTML(fmt.Sprintf(`<svg class="share" viewBox="0 0 160 10" aria-hidden="true"><path d="M0 0H%.1fV10H0z"/></svg>`, width)) //nolint:gosec // numbers alone
}

// bars draws the histogram of a feature, and over it the histogram of the other data.
func bars(r row) template.HTML {
	var b strings.Builder
	b.WriteString(`<svg class="histogram" viewBox="0 0 100 22" aria-hidden="true"><path class="own" d="`)
	outline(&b, r.histogram, true)
	b.WriteString(`"/>`)
	if r.Moved != nil {
		b.WriteString(`<path class="other" d="`)
		outline(&b, r.Moved.histogram, false)
		b.WriteString(`"/>`)
	}
	b.WriteString(`</svg>`)
	return template.HTML(b.String()) //nolint:gosec // numbers alone
}

// outline draws the outline of a histogram. Heights are square roots of counts, so that small
// counts are visible.
func outline(b *strings.Builder, counts [bins]int, closed bool) {
	most := max(1, slices.Max(counts[:]))
	height := func(n int) string {
		return strconv.FormatFloat(22-float64(20*math.Sqrt(float64(n)/float64(most))), 'f', 1, 64)
	}
	b.WriteString("M0 22")
	for i, n := range counts {
		fmt.Fprintf(b, "V%sH%d", height(n), 100/bins*(i+1))
	}
	if closed {
		b.WriteString("V22z")
	}
}
