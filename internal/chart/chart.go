// Package chart draws the plots of reports, figures and reproduced experiments: line charts, scatter
// plots and histograms on linear or logarithmic axes. It writes SVG files, which are small and follow
// the reader's light or dark color scheme, and PDF files, whose fonts are embedded.
//
// Start reading at [Plot]. The same plot gives the same bytes. SVG files have no ids, scripts, fonts
// or links, so that one HTML page can contain any number of them. layout.go places the parts of a plot
// and chooses the ticks. draw.go draws them on a surface. svg.go and pdf.go are the surfaces. The
// package must not depend on the data that plots show.
package chart

import (
	"fmt"
	"io"
	"math"
)

// Plot is a chart. Its zero value is an empty chart.
type Plot struct {
	Title  string // broken into lines if it is too long
	X, Y   Axis
	Series []Series // drawn in this order, the last on top

	Width, Height int // in CSS pixels; 0 means 640 and 400

	// Inline leaves out the style sheet. The page that contains the plot must have [Style].
	Inline bool
}

// Axis describes one axis of a plot.
type Axis struct {
	Label string
	Log   bool // logarithmic: values ≤ 0 are not drawn

	// Min and Max are the ends of the axis. If they are equal, the plot chooses ends that show all
	// data. Data outside the axis are not drawn.
	Min, Max float64

	// Zero draws a line at 0, across the plot. It is for the x axis.
	Zero bool

	// Ticks, if not nil, replace the ticks that the plot would choose. Ticks outside the axis are
	// not drawn.
	Ticks []Tick
}

// Tick is a labeled position on an axis.
type Tick struct {
	Value float64
	Label string
}

// Kind is the kind of marks that a series is drawn with.
type Kind int

// The kinds of series.
const (
	Line        Kind = iota // a line through the points
	LineMarkers             // a line with a marker at every point
	Scatter                 // markers only
	Bars                    // bar i covers X[i] to X[i+1] and is Y[i] high
)

// Series is one set of data in a plot.
type Series struct {
	Name string // for the legend; a series without a name is not in the legend
	Kind Kind

	// X and Y are the points' coordinates. For Bars, X are the edges in increasing order, one more
	// than bars. A point with a NaN or infinite coordinate is not drawn and interrupts a line.
	X, Y []float64

	// Low and High, if not nil, are the ends of an interval at each point. They are drawn as a band around a line, and
	// as a bar at a marker of Scatter. Bars have none. An interval with a NaN or infinite end is not drawn.
	Low, High []float64

	// Across means that Low and High are ends of horizontal intervals. The series must be of the kind Scatter.
	Across bool
}

// Histogram returns a Bars series that counts the values in equal intervals between lo and hi. An
// interval includes its lower edge, and the last one both edges. Values outside are not counted.
func Histogram(name string, values []float64, lo, hi float64, bins int) Series {
	if bins < 1 || !(lo < hi) {
		panic(fmt.Sprintf("chart: histogram of %d intervals between %v and %v", bins, lo, hi))
	}
	s := Series{Name: name, Kind: Bars, X: make([]float64, bins+1), Y: make([]float64, bins)}
	for i := range s.X {
		s.X[i] = lo + (hi-lo)*float64(i)/float64(bins)
	}
	for _, v := range values {
		if v >= lo && v <= hi {
			i := min(int((v-lo)/(hi-lo)*float64(bins)), bins-1)
			// The edges decide, not the rounded quotient.
			for i > 0 && v < s.X[i] {
				i--
			}
			for i < bins-1 && v >= s.X[i+1] {
				i++
			}
			s.Y[i]++
		}
	}
	return s
}

// Write draws the plot as SVG. If X and Y of a series do not match or an axis is invalid, it returns
// an error and writes nothing.
func (p *Plot) Write(w io.Writer) error {
	l, err := p.checked()
	if err != nil {
		return err
	}
	var s svg
	p.draw(&s, l)
	_, err = w.Write(s.Bytes())
	return err
}

// WritePDF draws the plot as a PDF file of one page, on a white background. It returns the errors of
// [Plot.Write]. A CSS pixel is 3/4 of a point. The embedded font has the Latin, Greek and Cyrillic
// letters and the usual signs. Any other character is drawn as an empty box.
func (p *Plot) WritePDF(w io.Writer) error {
	l, err := p.checked()
	if err != nil {
		return err
	}
	f := newPDF()
	p.draw(f, l)
	if err := f.Output(w); err != nil {
		return fmt.Errorf("plot %q: %w", p.Title, err)
	}
	return nil
}

// checked returns the layout of a plot without mistakes.
func (p *Plot) checked() (*layout, error) {
	err := p.check()
	var l *layout
	if err == nil {
		l, err = p.layout()
	}
	if err != nil {
		return nil, fmt.Errorf("plot %q: %w", p.Title, err)
	}
	return l, nil
}

func (p *Plot) check() error {
	if p.Width < 0 || p.Height < 0 {
		return fmt.Errorf("size %d × %d, expected positive numbers", p.Width, p.Height)
	}
	for _, s := range p.Series {
		want := len(s.X)
		switch s.Kind {
		case Line, LineMarkers, Scatter:
		case Bars:
			want = max(0, want-1)
		default:
			return fmt.Errorf("series %q: unknown kind %d", s.Name, s.Kind)
		}
		if len(s.Y) != want {
			return fmt.Errorf("series %q: %d values of X and %d of Y, expected %d", s.Name, len(s.X), len(s.Y), want)
		}
		if (s.Low != nil || s.High != nil) && (s.Kind == Bars || len(s.Low) != want || len(s.High) != want) {
			return fmt.Errorf("series %q: %d and %d ends of intervals, expected %d, and none for bars", s.Name, len(s.Low), len(s.High), want)
		}
		if s.Across && s.Kind != Scatter {
			return fmt.Errorf("series %q: horizontal intervals of kind %d, expected Scatter", s.Name, s.Kind)
		}
		for i := range s.Y {
			if s.Kind == Bars && !(s.X[i] < s.X[i+1]) {
				return fmt.Errorf("series %q: edge %v after %v, expected increasing edges", s.Name, s.X[i+1], s.X[i])
			}
		}
	}
	for i, a := range []Axis{p.X, p.Y} {
		if a.Min > a.Max || !finite(a.Min) || !finite(a.Max) || (a.Log && a.Min != a.Max && a.Min <= 0) {
			return fmt.Errorf("%c axis from %v to %v, expected increasing finite numbers, positive if logarithmic", "xy"[i], a.Min, a.Max)
		}
	}
	return nil
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
