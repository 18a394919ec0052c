package chart

import (
	"errors"
	"math"
	"strconv"
	"strings"
)

var errTooSmall = errors.New("too small for its labels")

// colors can be distinguished by color-blind readers. They follow M. Okabe and K. Ito, slightly
// darkened. The second color of each pair is for dark backgrounds.
var colors = [][2]string{
	{"#0072b2", "#56b4e9"}, {"#d55e00", "#ff8c42"}, {"#009e73", "#2fd0a2"}, {"#b0579a", "#e39acb"},
	{"#9a7d0a", "#f0d04a"}, {"#555555", "#b5b5b5"}, {"#6a3d9a", "#b59ae0"}, {"#a52a2a", "#f08080"},
}

// textColor is the color of texts and axes on a white background.
const textColor = "#24292f"

// surface is a page on which a plot is drawn. Lengths are in CSS pixels, from the upper left
// corner. The file formats implement it.
type surface interface {
	open(l *layout, p *Plot)
	path(c class, data string) // data is the value of an SVG path's attribute d; [segments] lists the commands
	rect(c class, x, y, w, h float64)
	text(x, y, size float64, t textStyle, text string) // at its baseline

	// group begins marks in the color of a series, which end ends. The calls are not nested.
	group(series int)
	end()

	// clip begins a part of which only the inside of the rectangle is drawn. unclip ends it.
	clip(x, y, w, h float64)
	unclip()
	close()
}

// class is the style of a mark.
type class int

const (
	back class = iota // background of the plot
	axis              // thin line
	grid              // pale line
	line              // line of a series
	mark              // filled marker
	area              // pale band around a line
	bars              // bar of a histogram
)

// textStyle is the style of a text. turn is its clockwise rotation in degrees about its anchor.
type textStyle struct {
	anchor string // start, middle or end, as in SVG
	bold   bool
	turn   int
}

type canvas struct{ surface }

// draw draws the plot on a surface.
func (p *Plot) draw(on surface, l *layout) {
	c := canvas{on}
	c.open(l, p)
	c.heading(l)
	c.axes(l, p)
	c.data(l, p.Series)
	c.close()
}

func (c canvas) heading(l *layout) {
	for i, text := range l.title {
		c.text(l.width/2, l.titleY+float64(float64(i)*titleSize*lineHeight), titleSize, textStyle{anchor: "middle", bold: true}, text)
	}
	for _, e := range l.legend {
		c.group(e.series)
		switch e.kind {
		case Bars:
			c.rect(bars, e.x+gap, e.y-5, sample-2*gap, 10)
		case Line, LineMarkers:
			c.path(line, "M"+px(e.x)+" "+px(e.y)+"h"+px(sample))
		}
		if e.kind == LineMarkers || e.kind == Scatter {
			c.path(mark, marker(e.series, e.x+sample/2, e.y))
		}
		c.end()
		c.text(e.x+sample+gap, e.y+labelSize*0.36, labelSize, textStyle{anchor: "start"}, e.name)
	}
}

func (c canvas) axes(l *layout, p *Plot) {
	var lines, marks strings.Builder
	for _, t := range l.xTicks {
		x, _ := l.x.at(t.Value)
		lines.WriteString("M" + px(x) + " " + px(l.top) + "V" + px(l.bottom))
		marks.WriteString("M" + px(x) + " " + px(l.bottom) + "v4")
		if y := l.bottom + gap + tickSize*0.9; l.tilted {
			c.text(x, y-2, tickSize, textStyle{anchor: "end", turn: -37}, t.Label)
		} else {
			c.text(x, y, tickSize, textStyle{anchor: "middle"}, t.Label)
		}
	}
	for _, t := range l.yTicks {
		y, _ := l.y.at(t.Value)
		lines.WriteString("M" + px(l.left) + " " + px(y) + "H" + px(l.right))
		marks.WriteString("M" + px(l.left) + " " + px(y) + "h-4")
		c.text(l.left-gap, y+tickSize*0.36, tickSize, textStyle{anchor: "end"}, t.Label)
	}
	c.path(grid, lines.String())
	if p.X.Zero {
		if x, ok := l.x.at(0); ok && x >= l.left && x <= l.right {
			c.path(axis, "M"+px(x)+" "+px(l.top)+"V"+px(l.bottom))
		}
	}
	c.path(axis, "M"+px(l.left)+" "+px(l.top)+"V"+px(l.bottom)+"H"+px(l.right)+marks.String())
	if p.X.Label != "" {
		// Below the axis, unless a long label would then leave the picture.
		half := float64(textWidth(p.X.Label, labelSize) / 2)
		x := math.Max(math.Min((l.left+l.right)/2, l.width-gap-half), math.Min((l.left+l.right)/2, gap+half))
		c.text(x, l.height-margin, labelSize, textStyle{anchor: "middle"}, p.X.Label)
	}
	if p.Y.Label != "" {
		c.text(margin+labelSize*0.8, (l.top+l.bottom)/2, labelSize, textStyle{anchor: "middle", turn: -90}, p.Y.Label)
	}
}

// data draws intervals, lines and bars, clipped at the axes. It draws markers on top, without clipping.
func (c canvas) data(l *layout, series []Series) {
	c.clip(l.left, l.top-1, l.right-l.left, l.bottom-l.top+2)
	for i, s := range series {
		if s.Low == nil {
			continue
		}
		c.group(i)
		if s.Kind == Scatter {
			c.whiskers(l, s)
		} else {
			c.band(l, s)
		}
		c.end()
	}
	for i, s := range series {
		c.group(i)
		switch s.Kind {
		case Bars:
			c.bars(l, s)
		case Line, LineMarkers:
			c.line(l, s)
		}
		c.end()
	}
	c.unclip()
	for i, s := range series {
		if s.Kind == LineMarkers || s.Kind == Scatter {
			c.group(i)
			c.markers(l, i, s)
			c.end()
		}
	}
}

func (c canvas) line(l *layout, s Series) {
	var d strings.Builder
	op := "M"
	for i := range s.X {
		x, y, ok := l.place(s.X[i], s.Y[i])
		if !ok {
			op = "M"
			continue
		}
		d.WriteString(op + px(x) + " " + px(y))
		op = "L"
	}
	c.path(line, d.String())
}

// whiskers draws the intervals of a series as bars with short ends.
func (c canvas) whiskers(l *layout, s Series) {
	var d strings.Builder
	for i, x := range s.X {
		if s.Across {
			low, at, lowOK := l.place(s.Low[i], s.Y[i])
			high, _, highOK := l.place(s.High[i], s.Y[i])
			if lowOK && highOK {
				top := px(at - 3)
				d.WriteString("M" + px(low) + " " + top + "v6M" + px(low) + " " + px(at) + "H" + px(high) + "M" + px(high) + " " + top + "v6")
			}
			continue
		}
		at, low, lowOK := l.place(x, s.Low[i])
		_, high, highOK := l.place(x, s.High[i])
		if lowOK && highOK {
			left := px(at - 3)
			d.WriteString("M" + left + " " + px(low) + "h6M" + px(at) + " " + px(low) + "V" + px(high) + "M" + left + " " + px(high) + "h6")
		}
	}
	c.path(axis, d.String())
}

// band draws the intervals of a series as areas, which NaN and infinite ends interrupt.
func (c canvas) band(l *layout, s Series) {
	var d strings.Builder
	var below []string // the lower edge of the area, from left to right
	op := "M"
	end := func() {
		for i := len(below) - 1; i >= 0; i-- {
			d.WriteString("L" + below[i])
		}
		if len(below) > 0 {
			d.WriteString("z")
		}
		below, op = below[:0], "M"
	}
	for i, x := range s.X {
		at, low, lowOK := l.place(x, s.Low[i])
		_, high, highOK := l.place(x, s.High[i])
		if !lowOK || !highOK {
			end()
			continue
		}
		d.WriteString(op + px(at) + " " + px(high))
		below, op = append(below, px(at)+" "+px(low)), "L"
	}
	end()
	c.path(area, d.String())
}

func (c canvas) markers(l *layout, series int, s Series) {
	var d strings.Builder
	for i := range s.X {
		if x, y, ok := l.place(s.X[i], s.Y[i]); ok && l.holds(x, y) {
			d.WriteString(marker(series, x, y))
		}
	}
	c.path(mark, d.String())
}

func (c canvas) bars(l *layout, s Series) {
	base := l.bottom
	if zero, ok := l.y.at(0); ok {
		base = zero
	}
	var d strings.Builder
	for i, v := range s.Y {
		x0, y, ok0 := l.place(s.X[i], v)
		x1, _, ok1 := l.place(s.X[i+1], v)
		if ok0 && ok1 && y != base {
			d.WriteString("M" + px(x0) + " " + px(base) + "V" + px(y) + "H" + px(x1) + "V" + px(base) + "z")
		}
	}
	c.path(bars, d.String())
}

// place returns the pixel of a point, clamped to the range that viewers can draw. ok is false if a
// coordinate has no place on its axis, such as NaN or a number that is not positive on a
// logarithmic axis.
func (l *layout) place(x, y float64) (px, py float64, ok bool) {
	px, okX := l.x.at(x)
	py, okY := l.y.at(y)
	const far = 1e5
	return math.Max(-far, math.Min(far, px)), math.Max(-far, math.Min(far, py)), okX && okY
}

// holds reports whether a pixel is within the axes, up to rounding.
func (l *layout) holds(x, y float64) bool {
	return x > l.left-0.01 && x < l.right+0.01 && y > l.top-0.01 && y < l.bottom+0.01
}

// marker returns the path of a marker. Neighboring series have different shapes.
func marker(series int, x, y float64) string {
	at := func(dx, dy float64) string { return px(x+dx) + " " + px(y+dy) }
	switch series % 4 {
	case 0:
		return "M" + at(-3.2, 0) + "a3.2 3.2 0 1 0 6.4 0a3.2 3.2 0 1 0 -6.4 0z"
	case 1:
		return "M" + at(-2.9, -2.9) + "h5.8v5.8h-5.8z"
	case 2:
		return "M" + at(0, -4) + "l3.8 6.6h-7.6z"
	default:
		return "M" + at(0, -4.2) + "l4.2 4.2l-4.2 4.2l-4.2 -4.2z"
	}
}

// px formats a length to a hundredth of a pixel.
func px(v float64) string {
	return strconv.FormatFloat(math.Round(v*100)/100+0, 'f', -1, 64)
}
