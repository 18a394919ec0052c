package app

import (
	"math"
	"slices"

	"github.com/listwise/listwise/internal/chart"
	"github.com/listwise/listwise/internal/elementary"
)

// plot returns the figure: the measures against what varies, with a band or, without a numeric axis,
// an interval at each point.
func (a *ablation) plot() *chart.Plot {
	p := &chart.Plot{Width: columnWidth, Height: columnHeight, X: chart.Axis{Label: a.varies}, Y: chart.Axis{Label: "test measure"}}
	if len(a.measured) == 1 {
		p.Y.Label = a.measured[0].name
	}
	at, numeric := a.positions(&p.X)
	for k := range a.measured {
		m := &a.measured[k]
		s := chart.Series{Kind: chart.LineMarkers}
		if !numeric {
			s.Kind = chart.Scatter
		}
		if len(a.measured) > 1 {
			s.Name = m.name
		}
		for _, i := range a.order(at) {
			x := at[i]
			if !numeric { // side by side
				const apart = 0.15
				x += apart * (float64(k) - float64(len(a.measured)-1)/2)
			}
			s.X, s.Y = append(s.X, x), append(s.Y, m.Systems[i].Mean)
			s.Low, s.High = append(s.Low, m.Systems[i].Interval.Low), append(s.High, m.Systems[i].Interval.High)
		}
		p.Series = append(p.Series, s)
	}
	return p
}

// order returns the points from left to right.
func (a *ablation) order(at []float64) []int {
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

// positions returns the place of each point on the x axis, and sets the axis.
func (a *ablation) positions(x *chart.Axis) (at []float64, numeric bool) {
	at = mapped(a.points, func(p ablated) float64 { return p.at })
	numeric = !slices.ContainsFunc(at, math.IsNaN)
	if a.varies == varyFeatures {
		x.Label = ""
	}
	if !numeric {
		x.Min, x.Max = 0.5, float64(len(at))+0.5
	} else if a.varies == varyQueries {
		x.Label = "training queries"
	}
	x.Log = numeric && geometric(at)
	for i, p := range a.points {
		if !numeric {
			at[i] = float64(i + 1)
		}
		x.Ticks = append(x.Ticks, chart.Tick{Value: at[i], Label: shortLabel(p.label)})
	}
	return at, numeric
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
