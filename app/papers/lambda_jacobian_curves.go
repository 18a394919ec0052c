package papers

import (
	"math"
	"slices"

	"github.com/listwise/listwise/internal/elementary"
	"github.com/listwise/listwise/internal/random"
	"github.com/listwise/listwise/internal/svg"
	"github.com/listwise/listwise/learn/loss"
)

// workCurves are the circulations of some fields, bound to three documents graded
// 0, 1 and 2, on a family of circles.
type workCurves struct {
	axis   string
	x      []float64
	circle func(float64) loss.Circle
	named  []string // the λ functions
	labels svg.Plot
	sizes  bool // plot |∮ λ·ds| on a logarithmic axis

	names  []string
	curves [][]float64
}

// curves are circles of growing radius around the tie of the three, and circles of
// radius 0.5 that are moved over it.
func (j jacobian) curves(findings []lambdaFinding, seed uint64) ([]workCurves, error) {
	all := []workCurves{{
		axis: "radius", x: radii(), circle: tripleTie, sizes: true,
		named: []string{"RankNet", "logistic", "step", "spring", "logistic-nearest", "step-nearest", "spring-nearest", "difference"},
		labels: svg.Plot{
			Title: "Work of ΔNDCG-scaled forces around the tie of three documents (RankNet's is 0)",
			X:     svg.Axis{Label: "radius of the circle", Log: true},
			Y:     svg.Axis{Label: "|∮ λ·ds|", Log: true},
		},
	}, {
		axis: "distance", x: distances(), circle: nearTripleTie,
		named: []string{"RankNet", "logistic", "step", "spring", "logistic-nearest", "difference"},
		labels: svg.Plot{
			Title: "Work around a circle of radius 0.5 that is moved over the tie",
			X:     svg.Axis{Label: "gap between neighbouring scores in its centre; negative: best document first"},
			Y:     svg.Axis{Label: "∮ λ·ds"},
		},
	}}
	for k := range all {
		w := &all[k]
		for i := range findings {
			f := &findings[i].field
			if f.measure != "" && f.measure != "ndcg" || !slices.Contains(w.named, f.name) {
				continue
			}
			if err := w.add(f, j.steps, seed); err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}

// add integrates a field.
func (w *workCurves) add(f *lambdaField, steps int, seed uint64) error {
	b, err := f.loss.Bind([]float64{0, 1, 2}, random.Stream(seed, "lambda jacobian", w.axis))
	if err != nil {
		return err
	}
	values := make([]float64, len(w.x))
	for k, v := range w.x {
		values[k] = loss.Circulation(b, w.circle(v), steps)
	}
	w.names, w.curves = append(w.names, f.name), append(w.curves, values)
	return nil
}

func (w *workCurves) sheet() Sheet {
	s := Sheet{Name: w.axis, Columns: []string{w.axis, "lambda", "circulation"}}
	for i, name := range w.names {
		for k, v := range w.x {
			s.Rows = append(s.Rows, []any{v, name, w.curves[i][k]})
		}
	}
	return s
}

// plot leaves out a curve of rounding errors if sizes are drawn.
func (w *workCurves) plot() Plot {
	p := Plot{w.axis, w.labels}
	for i, n := range w.names {
		s := svg.Series{Name: n, X: w.x, Y: slices.Clone(w.curves[i])}
		largest := 0.0
		for k, v := range s.Y {
			largest = max(largest, math.Abs(v))
			if w.sizes {
				s.Y[k] = math.Abs(v)
			}
		}
		if largest > netZero || !w.sizes {
			p.Series = append(p.Series, s)
		}
	}
	return p
}

// radii are eight a decade from 0.01 to 10.
func radii() (x []float64) {
	for k := range 25 {
		x = append(x, 0.01*elementary.Pow(10, float64(k)/8))
	}
	return x
}

func distances() (x []float64) {
	for k := range 121 {
		x = append(x, float64(k-60)/48)
	}
	return x
}

// nearTripleTie is the circle of radius 0.5 about scores that lie a gap apart.
func nearTripleTie(gap float64) loss.Circle {
	c := tripleTie(0.5)
	c.Center = []float64{gap, 0, -gap}
	return c
}
