package svg

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"math"
	"strconv"
)

var errTooSmall = errors.New("too small for its labels")

// colors can be distinguished by color-blind readers. They follow M. Okabe and K. Ito, slightly
// darkened. The second color of each pair is for dark backgrounds.
var colors = [][2]string{
	{"#0072b2", "#56b4e9"}, {"#d55e00", "#ff8c42"}, {"#009e73", "#2fd0a2"}, {"#b0579a", "#e39acb"},
	{"#9a7d0a", "#f0d04a"}, {"#555555", "#b5b5b5"}, {"#6a3d9a", "#b59ae0"}, {"#a52a2a", "#f08080"},
}

const style = `.lw-plot{color:#24292f;font-family:system-ui,sans-serif}
.lw-plot text{fill:currentColor}
.lw-back{fill:#fff}
.lw-axis{stroke:currentColor;fill:none}
.lw-grid{stroke:currentColor;stroke-opacity:.13;fill:none}
.lw-line{stroke:currentColor;stroke-width:1.8;fill:none;stroke-linejoin:round}
.lw-mark{fill:currentColor}
.lw-bars{stroke:currentColor;fill:currentColor;fill-opacity:.3}
`

type canvas struct{ *bytes.Buffer }

// Style returns the style sheet of plots, for pages with plots that are [Plot.Inline].
func Style() string {
	var b bytes.Buffer
	b.WriteString(style)
	for i, pair := range colors {
		fmt.Fprintf(&b, ".lw-%d{color:%s}\n", i, pair[0])
	}
	b.WriteString("@media(prefers-color-scheme:dark){.lw-plot{color:#d8dce2}.lw-back{fill:#16191d}\n")
	for i, pair := range colors {
		fmt.Fprintf(&b, ".lw-%d{color:%s}\n", i, pair[1])
	}
	b.WriteString("}\n")
	return b.String()
}

func (c canvas) open(l *layout, p *Plot) {
	c.printf(`<svg xmlns="http://www.w3.org/2000/svg" class="lw-plot" role="img" viewBox="0 0 %v %v" width="%v" height="%v">`+"\n",
		px(l.width), px(l.height), px(l.width), px(l.height))
	c.printf("<title>%s</title>\n", escaped(p.Title))
	if !p.Inline {
		c.printf("<style>\n%s</style>\n", Style())
	}
	c.printf(`<rect class="lw-back" width="%v" height="%v" rx="4"/>`+"\n", px(l.width), px(l.height))
}

func (c canvas) heading(l *layout) {
	for i, line := range l.title {
		c.text(l.width/2, l.titleY+float64(float64(i)*titleSize*lineHeight), titleSize, "middle", `font-weight="600"`, line)
	}
	for _, e := range l.legend {
		c.printf(`<g class="lw-%d">`, e.series%len(colors))
		switch e.kind {
		case Bars:
			c.printf(`<rect class="lw-bars" x="%v" y="%v" width="%v" height="10"/>`, px(e.x+gap), px(e.y-5), px(sample-2*gap))
		case Line, LineMarkers:
			c.printf(`<path class="lw-line" d="M%v %vh%v"/>`, px(e.x), px(e.y), px(sample))
		}
		if e.kind == LineMarkers || e.kind == Scatter {
			c.printf(`<path class="lw-mark" d="%s"/>`, marker(e.series, e.x+sample/2, e.y))
		}
		c.WriteString("</g>\n")
		c.text(e.x+sample+gap, e.y+labelSize*0.36, labelSize, "start", "", e.name)
	}
}

func (c canvas) axes(l *layout, p *Plot) {
	var grid, marks bytes.Buffer
	for _, t := range l.xTicks {
		x, _ := l.x.at(t.Value)
		fmt.Fprintf(&grid, "M%v %vV%v", px(x), px(l.top), px(l.bottom))
		fmt.Fprintf(&marks, "M%v %vv4", px(x), px(l.bottom))
		if y := l.bottom + gap + tickSize*0.9; l.tilted {
			turn := fmt.Sprintf(`transform="rotate(-37 %v %v)"`, px(x), px(y-2))
			c.text(x, y-2, tickSize, "end", turn, t.Label)
		} else {
			c.text(x, y, tickSize, "middle", "", t.Label)
		}
	}
	for _, t := range l.yTicks {
		y, _ := l.y.at(t.Value)
		fmt.Fprintf(&grid, "M%v %vH%v", px(l.left), px(y), px(l.right))
		fmt.Fprintf(&marks, "M%v %vh-4", px(l.left), px(y))
		c.text(l.left-gap, y+tickSize*0.36, tickSize, "end", "", t.Label)
	}
	c.printf(`<path class="lw-grid" d="%s"/>`+"\n", grid.Bytes())
	c.printf(`<path class="lw-axis" d="M%v %vV%vH%v%s"/>`+"\n", px(l.left), px(l.top), px(l.bottom), px(l.right), marks.Bytes())
	if p.X.Label != "" {
		c.text((l.left+l.right)/2, l.height-margin, labelSize, "middle", "", p.X.Label)
	}
	if p.Y.Label != "" {
		x, y := margin+labelSize*0.8, (l.top+l.bottom)/2
		c.text(x, y, labelSize, "middle", fmt.Sprintf(`transform="rotate(-90 %v %v)"`, px(x), px(y)), p.Y.Label)
	}
}

// data draws intervals, lines and bars in an inner viewport, which clips them at the axes. It draws markers
// on top, without clipping.
func (c canvas) data(l *layout, series []Series) {
	x, y, w, h := px(l.left), px(l.top-1), px(l.right-l.left), px(l.bottom-l.top+2)
	c.printf(`<svg x="%v" y="%v" width="%v" height="%v" viewBox="%v %v %v %v">`+"\n", x, y, w, h, x, y, w, h)
	for i, s := range series {
		if s.Low == nil {
			continue
		}
		c.printf(`<g class="lw-%d">`, i%len(colors))
		if s.Kind == Scatter {
			c.whiskers(l, s)
		} else {
			c.band(l, s)
		}
		c.WriteString("</g>\n")
	}
	for i, s := range series {
		c.printf(`<g class="lw-%d">`, i%len(colors))
		switch s.Kind {
		case Bars:
			c.bars(l, s)
		case Line, LineMarkers:
			c.line(l, s)
		}
		c.WriteString("</g>\n")
	}
	c.WriteString("</svg>\n")
	for i, s := range series {
		if s.Kind == LineMarkers || s.Kind == Scatter {
			c.printf(`<g class="lw-%d">`, i%len(colors))
			c.markers(l, i, s)
			c.WriteString("</g>\n")
		}
	}
}

func (c canvas) line(l *layout, s Series) {
	c.WriteString(`<path class="lw-line" d="`)
	op := byte('M')
	for i := range s.X {
		x, y, ok := l.place(s.X[i], s.Y[i])
		if !ok {
			op = 'M'
			continue
		}
		c.printf("%c%v %v", op, px(x), px(y))
		op = 'L'
	}
	c.WriteString(`"/>`)
}

// whiskers draws the intervals of a series as bars with short ends.
func (c canvas) whiskers(l *layout, s Series) {
	c.WriteString(`<path class="lw-axis" d="`)
	for i, x := range s.X {
		at, low, lowOK := l.place(x, s.Low[i])
		_, high, highOK := l.place(x, s.High[i])
		if lowOK && highOK {
			c.printf("M%v %vh6M%v %vV%vM%v %vh6", px(at-3), px(low), px(at), px(low), px(high), px(at-3), px(high))
		}
	}
	c.WriteString(`"/>`)
}

// band draws the intervals of a series as areas, which NaN and infinite ends interrupt.
func (c canvas) band(l *layout, s Series) {
	c.WriteString(`<path class="lw-mark" fill-opacity=".15" d="`)
	var back []string // the lower edge of the area, from left to right
	var op byte
	end := func() {
		for i := len(back) - 1; i >= 0; i-- {
			c.WriteString("L" + back[i])
		}
		if len(back) > 0 {
			c.WriteString("z")
		}
		back, op = back[:0], 'M'
	}
	end()
	for i, x := range s.X {
		at, low, lowOK := l.place(x, s.Low[i])
		_, high, highOK := l.place(x, s.High[i])
		if !lowOK || !highOK {
			end()
			continue
		}
		c.printf("%c%v %v", op, px(at), px(high))
		back, op = append(back, px(at)+" "+px(low)), 'L'
	}
	end()
	c.WriteString(`"/>`)
}

func (c canvas) markers(l *layout, series int, s Series) {
	c.WriteString(`<path class="lw-mark" d="`)
	for i := range s.X {
		if x, y, ok := l.place(s.X[i], s.Y[i]); ok && l.holds(x, y) {
			c.WriteString(marker(series, x, y))
		}
	}
	c.WriteString(`"/>`)
}

func (c canvas) bars(l *layout, s Series) {
	base := l.bottom
	if zero, ok := l.y.at(0); ok {
		base = zero
	}
	c.WriteString(`<path class="lw-bars" d="`)
	for i, v := range s.Y {
		x0, y, ok0 := l.place(s.X[i], v)
		x1, _, ok1 := l.place(s.X[i+1], v)
		if ok0 && ok1 && y != base {
			c.printf("M%v %vV%vH%vV%vz", px(x0), px(base), px(y), px(x1), px(base))
		}
	}
	c.WriteString(`"/>`)
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

// text draws a line of text at its baseline; attributes is XML.
func (c canvas) text(x, y, size float64, anchor, attributes, text string) {
	if attributes != "" {
		attributes = " " + attributes
	}
	c.printf(`<text x="%v" y="%v" font-size="%v" text-anchor="%s"%s>%s</text>`+"\n", px(x), px(y), px(size), anchor, attributes, escaped(text))
}

func (c canvas) printf(format string, args ...any) { fmt.Fprintf(c, format, args...) }

// px formats a length to a hundredth of a pixel.
func px(v float64) string {
	return strconv.FormatFloat(math.Round(v*100)/100+0, 'f', -1, 64)
}

// escaped returns text as XML. Characters that XML cannot contain are replaced.
func escaped(text string) string {
	var b bytes.Buffer
	_ = xml.EscapeText(&b, []byte(text)) // a bytes.Buffer never fails
	return b.String()
}
