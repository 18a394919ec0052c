package papers

import (
	"bytes"
	"fmt"
	"html/template"
	"math"

	"github.com/listwise/listwise/internal/svg"
)

// verdictShare is a part of the bar at the top of the page.
type verdictShare struct {
	Verdict Verdict
	Count   int
	Percent string // of all that count
}

// shares returns the parts of the bar: the claims that count, by verdict.
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

// scatter draws our numbers over the published ones, a series a verdict: those between 0 and 1, as
// measures and shares are, and not those that count elsewhere. It is empty without any.
func (a *All) scatter() (template.HTML, error) {
	p := svg.Plot{
		Title: "Ours over the published numbers: on the line they agree", Width: 640, Height: 480,
		X: svg.Axis{Label: "published", Min: 0, Max: 1}, Y: svg.Axis{Label: "ours", Min: 0, Max: 1},
	}
	drawn := false
	for _, v := range scatterOrder {
		if v == "" {
			p.Series = append(p.Series, svg.Series{Kind: svg.Line, X: []float64{0, 1}, Y: []float64{0, 1}})
			continue
		}
		s := svg.Series{Name: string(v), Kind: svg.Scatter}
		for _, c := range a.claims() {
			if c.Verdict == v && c.Repeats == "" && share(c.Published) && share(c.Ours) {
				s.X, s.Y = append(s.X, c.Published), append(s.Y, c.Ours)
			}
		}
		if s.X == nil {
			s.Name = "" // it keeps the place, and so the colours of the others
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

// scatterOrder is the order in which a drawing's colours are those of the verdicts elsewhere on the
// page: blue, orange, green, purple. "" stands for the line.
var scatterOrder = []Verdict{Reproduced, Worse, Better, OrderChanged, "", NotInformative, NotComparable}

// share reports whether v is a number from 0 to 1.
func share(v float64) bool { return !math.IsNaN(v) && v >= 0 && v <= 1 }
