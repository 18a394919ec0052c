package papers

import (
	"strconv"
	"strings"

	"github.com/listwise/listwise/internal/svg"
)

// perSet is a plot for every set; the first has the report's name, the others their sets'.
type perSet func(s *results, c *column) svg.Plot

func (f perSet) add(s *results, r *Report) {
	for i, c := range s.columnsOf(0) {
		p := Plot{Plot: f(s, c)}
		if i > 0 {
			p.Name = strings.ToLower(c.name)
		}
		r.Plots = append(r.Plots, p)
	}
}

// ndcgCurves shows NDCG by the rank it is cut off at: of our rows, but those unplotted, and
// of some published ones.
type ndcgCurves struct {
	title     string // with %s for the set
	x, y      string // the axes' labels
	published []string
	word      string // behind a published row's name
}

func (n ndcgCurves) add(s *results, r *Report) { perSet(n.plot).add(s, r) }

func (n ndcgCurves) plot(s *results, c *column) svg.Plot {
	p := svg.Plot{Title: strings.ReplaceAll(n.title, "%s", c.name), X: svg.Axis{Label: n.x}, Y: svg.Axis{Label: n.y}}
	v := &c.views[0]
	line := func(name string, value func(m string) float64) {
		curve := svg.Series{Name: name, Kind: svg.LineMarkers}
		for _, m := range v.measures {
			if k, ok := strings.CutPrefix(m, "ndcg@"); ok {
				curve.X, curve.Y = append(curve.X, parse(k)), append(curve.Y, value(m))
			}
		}
		p.X.Ticks = rankTicks(len(curve.X))
		p.Series = append(p.Series, curve)
	}
	for i := range s.rows {
		if len(c.rows[i]) > 0 && !s.rows[i].unplotted {
			line(s.rows[i].name, func(m string) float64 { return v.mean(i, m) })
		}
	}
	for _, name := range n.published {
		if v.published[name] != nil {
			line(name+n.word, func(m string) float64 { return v.published.of(name, m) })
		}
	}
	return p
}

// rankTicks are those of an axis of ranks from 1 on.
func rankTicks(n int) []svg.Tick {
	ticks := make([]svg.Tick, n)
	for k := range ticks {
		ticks[k] = svg.Tick{Value: float64(k + 1), Label: strconv.Itoa(k + 1)}
	}
	return ticks
}
