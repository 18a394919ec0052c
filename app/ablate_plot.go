package app

import (
	"math"
	"slices"

	"github.com/listwise/listwise/internal/chart"
	"github.com/listwise/listwise/internal/elementary"
)

// mostTicks is the largest number of points that get a tick each.
const mostTicks = 8

// plot returns the figure. If what varies is a number, it shows the measures with a band. Otherwise it
// shows the differences from the baseline with their intervals, a point in each row.
func (a *ablation) plot() *chart.Plot {
	at := mapped(a.points, func(p ablated) float64 { return p.at })
	if slices.ContainsFunc(at, math.IsNaN) {
		return a.plotDifferences()
	}
	p := &chart.Plot{Width: columnWidth, Height: columnHeight, X: chart.Axis{Label: a.varies, Log: geometric(at)}, Y: chart.Axis{Label: a.labelOfMeasures()}}
	if a.varies == varyQueries {
		p.X.Label = "training queries"
	}
	if len(at) <= mostTicks { // else the plot chooses
		p.X.Ticks = mapped(order(at), func(i int) chart.Tick { return chart.Tick{Value: at[i], Label: a.points[i].label} })
	}
	for k := range a.measured {
		m := &a.measured[k]
		s := chart.Series{Kind: chart.LineMarkers, Name: a.legend(m)}
		for _, i := range order(at) {
			s.X, s.Y = append(s.X, at[i]), append(s.Y, m.Systems[i].Mean)
			s.Low, s.High = append(s.Low, m.Systems[i].Interval.Low), append(s.High, m.Systems[i].Interval.High)
		}
		p.Series = append(p.Series, s)
	}
	return p
}

// labelOfMeasures returns the label of the axis of measures.
func (a *ablation) labelOfMeasures() string {
	if len(a.measured) > 1 {
		return "test measure"
	}
	return a.measured[0].name
}

// legend returns the name of a measure for the legend, or "" if there is one measure.
func (a *ablation) legend(m *measured) string {
	if len(a.measured) > 1 {
		return m.name
	}
	return ""
}

func (a *ablation) plotDifferences() *chart.Plot {
	label := "change of " + a.labelOfMeasures() + " from " + a.points[a.baseline].label
	if a.varies == varyFeatures && a.baseline == 0 {
		label = "change of " + a.labelOfMeasures() + " without it"
	}
	p := &chart.Plot{Width: columnWidth, X: chart.Axis{Label: label, Zero: true}}
	const apart = 0.3 // of the measures in a row
	for k := range a.measured {
		m, row := &a.measured[k], 0.0
		s := chart.Series{Kind: chart.Scatter, Name: a.legend(m), Across: true}
		for i := range a.points {
			d, ci, _, ok := a.difference(m, i)
			if !ok {
				continue
			}
			if k == 0 {
				p.Y.Ticks = append(p.Y.Ticks, chart.Tick{Value: -row, Label: shortLabel(a.points[i].short())})
			}
			s.X, s.Y = append(s.X, d), append(s.Y, -row-float64(apart*(float64(k)-float64(float64(len(a.measured)-1)/2))))
			s.Low, s.High = append(s.Low, ci.Low), append(s.High, ci.High)
			row++
		}
		p.Series = append(p.Series, s)
	}
	rows := len(p.Y.Ticks)
	p.Y.Min, p.Y.Max = 0.5-float64(rows), 0.5
	p.Height = 84 + rowHeight*rows
	return p
}

// order returns the points from left to right.
func order(at []float64) []int {
	all := make([]int, len(at))
	for i := range all {
		all[i] = i
	}
	slices.SortStableFunc(all, func(i, j int) int {
		switch {
		case at[i] < at[j]:
			return -1
		case at[i] > at[j]:
			return 1
		}
		return 0
	})
	return all
}

// geometric reports whether the steps between numbers are more equal on a logarithmic axis than on a
// linear one.
func geometric(numbers []float64) bool {
	sorted := slices.Sorted(slices.Values(numbers))
	if len(sorted) < 3 || sorted[0] <= 0 { //nolint:mnd // two steps
		return false
	}
	unequal := func(of func(float64) float64) float64 {
		var steps []float64
		for i := 1; i < len(sorted); i++ {
			steps = append(steps, of(sorted[i])-of(sorted[i-1]))
		}
		sum := 0.0
		for _, s := range steps {
			sum += s
		}
		return deviationOf(steps) / (sum / float64(len(steps)))
	}
	return unequal(elementary.Log) < unequal(func(v float64) float64 { return v })
}
