package app

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/internal/chart"
	"github.com/listwise/listwise/internal/suggest"
	"github.com/listwise/listwise/model/explain"
)

const (
	// mostPoints is the largest number of documents plotted for a feature. The documents are evenly
	// spaced.
	mostPoints = 400
	// mostLabel is the largest length of a feature name at an axis.
	mostLabel = 30
	// rowHeight is the height of a feature in a drawing.
	rowHeight = 26
)

func (e *explaining) writePlot(p *chart.Plot) error { return writeFigure("svg", e.svg, p) }

// drawSet plots the contributions of the most important features, or the contributions of one
// feature over its values.
func (e *explaining) drawSet(set *explain.Set) error {
	if set == nil {
		return usageErrorf("--svg plots contributions: %w", e.refused)
	}
	if e.dependence != "" {
		return e.drawDependence(set)
	}
	terms, order := e.explainer.Terms(), bySize(set.Sizes())
	if e.top > 0 {
		order = order[:min(e.top, len(order))]
	}
	p := &rowsPlot{chart.Plot{Title: "Contributions to scores, a point a document", X: chart.Axis{Label: "contribution"}}}
	series := []chart.Series{{Name: "low values"}, {Name: "middle values"}, {Name: "high values"}, {Name: "no value"}}
	for place, k := range order {
		points := e.points(set, k)
		third := thirds(points)
		p.Y.Ticks = append(p.Y.Ticks, chart.Tick{Value: -float64(place), Label: shortLabel(terms[k].Name)})
		for i, offset := range swarm(points) {
			s := &series[third[i]]
			s.X, s.Y = append(s.X, points[i].contribution), append(s.Y, offset-float64(place))
		}
	}
	for _, s := range series {
		if len(s.X) > 0 {
			s.Kind = chart.Scatter
			p.Series = append(p.Series, s)
		}
	}
	p.rows(len(order))
	return e.writePlot(&p.Plot)
}

// point is a document's value of a feature and its contribution. The value is NaN if it is missing.
type point struct{ value, contribution float64 }

// points returns the values and contributions of a term for evenly spaced documents.
func (e *explaining) points(set *explain.Set, term int) []point {
	column := e.explainer.Terms()[term].Column
	n := min(mostPoints, len(set.Docs))
	points := make([]point, n)
	for i := range points {
		at := i * len(set.Docs) / n
		points[i] = point{math.NaN(), set.Row(at)[term]}
		if column >= 0 {
			place := set.Docs[at]
			points[i].value = float64(e.data.Queries[place.Query].Row(place.Row)[column])
		}
	}
	return points
}

// thirds returns for each point whether its value is in the lowest (0), middle (1) or highest third
// (2), or missing (3). Equal values are in the same third.
func thirds(points []point) []int {
	var values []float64
	for _, p := range points {
		if !math.IsNaN(p.value) {
			values = append(values, p.value)
		}
	}
	slices.Sort(values)
	in := make([]int, len(points))
	for i, p := range points {
		if in[i] = 3; !math.IsNaN(p.value) {
			low, _ := slices.BinarySearch(values, p.value)
			high := low
			for high < len(values) && values[high] == p.value {
				high++
			}
			in[i] = min(2, 3*(low+high)/(2*len(values)))
		}
	}
	return in
}

// swarm returns the vertical offset of each point from its feature's line, so that close points do
// not cover each other. Offsets are at most 0.4.
func swarm(points []point) []float64 {
	low, high := math.Inf(1), math.Inf(-1)
	for _, p := range points {
		low, high = min(low, p.contribution), max(high, p.contribution)
	}
	const bins = 60
	bin := func(p point) int {
		if high == low {
			return 0
		}
		return min(bins-1, int(bins*(p.contribution-low)/(high-low)))
	}
	var count, seen [bins]int
	most := 1
	for _, p := range points {
		count[bin(p)]++
		most = max(most, count[bin(p)])
	}
	offsets := make([]float64, len(points))
	for i, p := range points {
		b := bin(p)
		offsets[i] = 0.8 * (float64(seen[b]) - float64(float64(count[b]-1)/2)) / float64(max(most, 8))
		seen[b]++
	}
	return offsets
}

func shortLabel(name string) string {
	if r := []rune(name); len(r) > mostLabel {
		return string(r[:mostLabel-1]) + "…"
	}
	return name
}

func (e *explaining) drawDependence(set *explain.Set) error {
	terms := e.explainer.Terms()
	names := mapped(terms, func(t explain.Term) string { return t.Name })
	k := slices.Index(names, e.dependence)
	if k < 0 || !e.explainer.ByFeature() {
		return usageErrorf("--dependence %s: found no contributions of this feature%s", e.dependence, suggest.Or(e.dependence, names, "; there are contributions of "+someOf(names, strings.ToLower(e.termWord())+"s")))
	}
	s := chart.Series{Kind: chart.Scatter}
	for _, p := range e.points(set, k) {
		if !math.IsNaN(p.value) {
			s.X, s.Y = append(s.X, p.value), append(s.Y, p.contribution)
		}
	}
	return e.writePlot(&chart.Plot{Title: "Contributions of " + e.dependence + " by its values, a point a document",
		X: chart.Axis{Label: e.dependence}, Y: chart.Axis{Label: "contribution"}, Series: []chart.Series{s}})
}

func (e *explaining) drawDocument(q *dataset.Query, x *explain.Query, doc int) error {
	title := fmt.Sprintf("Query %s, document %s: score %s, base %s", q.ID, documentName(q, doc), e.significant(x.Scores[doc]), e.significant(x.Base))
	return e.drawParts(title, "contribution", x.Row(doc))
}

func (e *explaining) drawPair(q *dataset.Query, parts []float64) error {
	return e.drawParts(fmt.Sprintf("Query %s: %s against %s", q.ID, e.above, e.below), "difference of contributions", parts)
}

type rowsPlot struct{ chart.Plot }

func (p *rowsPlot) rows(n int) {
	p.Y.Min, p.Y.Max = 0.5-float64(n), 0.5
	p.Height = 110 + rowHeight*n
}

// drawParts plots the largest values as horizontal lines that start at 0.
func (e *explaining) drawParts(title, label string, values []float64) error {
	p := &rowsPlot{chart.Plot{Title: title, X: chart.Axis{Label: label}}}
	raise, lower := chart.Series{Name: "raises", Kind: chart.LineMarkers}, chart.Series{Name: "lowers", Kind: chart.LineMarkers}
	add := func(name string, v float64) {
		y := -float64(len(p.Y.Ticks))
		p.Y.Ticks = append(p.Y.Ticks, chart.Tick{Value: y, Label: shortLabel(name)})
		s := &raise
		if v < 0 {
			s = &lower
		}
		s.X, s.Y = append(s.X, 0, v, math.NaN()), append(s.Y, y, y, math.NaN())
	}
	terms := e.explainer.Terms()
	shown, rest, others := e.shown(values)
	for _, k := range shown {
		add(terms[k].Name, values[k])
	}
	if others > 0 {
		add(fmt.Sprintf("%d others", others), rest)
	}
	for _, s := range []chart.Series{raise, lower} {
		if len(s.X) > 0 {
			p.Series = append(p.Series, s)
		}
	}
	p.rows(max(1, len(p.Y.Ticks)))
	return e.writePlot(&p.Plot)
}
