package chart

import (
	"image/color"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"codeberg.org/go-fonts/liberation/liberationsansregular"
	"codeberg.org/go-pdf/fpdf"
)

const (
	points   = 0.75 // a CSS pixel in points
	fontName = "sans"

	gridGray  = 222 // of 255; opaque, for printers without transparency
	areaAlpha = 0.15
	barAlpha  = 0.3
)

// pdf is a surface that writes a PDF page.
type pdf struct {
	*fpdf.Fpdf
	color color.NRGBA // of the group, or of texts and axes
}

func newPDF() *pdf { return &pdf{color: parseColor(textColor)} }

func (f *pdf) open(l *layout, p *Plot) {
	f.Fpdf = fpdf.NewCustom(&fpdf.InitType{OrientationStr: "P", UnitStr: "pt", Size: fpdf.SizeType{Wd: l.width * points, Ht: l.height * points}})
	// The same plot gives the same bytes. The library writes the time of writing instead of the zero time.
	f.SetCreationDate(time.Unix(0, 0).UTC())
	f.SetModificationDate(time.Unix(0, 0).UTC())
	f.SetCatalogSort(true)
	f.SetProducer("listwise", false)
	f.SetTitle(basic(p.Title), true)
	f.SetMargins(0, 0, 0)
	f.SetAutoPageBreak(false, 0)
	f.AddUTF8FontFromBytes(fontName, "", liberationsansregular.TTF)
	f.AddPage()
	f.SetLineJoinStyle("round")
	f.setColor()
}

func (f *pdf) close() {}

func (f *pdf) group(series int) {
	f.color = parseColor(colors[series%len(colors)][0])
	f.setColor()
}

func (f *pdf) end() {
	f.color = parseColor(textColor)
	f.setColor()
}

func (f *pdf) setColor() {
	r, g, b := int(f.color.R), int(f.color.G), int(f.color.B)
	f.SetDrawColor(r, g, b)
	f.SetFillColor(r, g, b)
	f.SetTextColor(r, g, b)
}

func (f *pdf) clip(x, y, w, h float64) { f.ClipRect(x*points, y*points, w*points, h*points, false) }

func (f *pdf) unclip() { f.ClipEnd() }

func (f *pdf) rect(c class, x, y, w, h float64) {
	f.path(c, "M"+px(x)+" "+px(y)+"h"+px(w)+"v"+px(h)+"h"+px(-w)+"z")
}

func (f *pdf) path(c class, data string) {
	if data == "" {
		return
	}
	switch c {
	case grid:
		f.SetDrawColor(gridGray, gridGray, gridGray)
		f.outline(data, 1)
		f.setColor()
	case axis:
		f.outline(data, 1)
	case line:
		f.outline(data, 1.8)
	case mark:
		f.fill(data, 1)
	case area:
		f.fill(data, areaAlpha)
	case bars:
		f.fill(data, barAlpha)
		f.outline(data, 1)
	}
}

func (f *pdf) outline(data string, width float64) {
	f.SetLineWidth(width * points)
	f.trace(data)
	f.DrawPath("D")
}

func (f *pdf) fill(data string, alpha float64) {
	f.SetAlpha(alpha, "Normal")
	f.trace(data)
	f.DrawPath("F")
	f.SetAlpha(1, "Normal")
}

// trace adds the segments of an SVG path to the page's path.
func (f *pdf) trace(data string) {
	for _, s := range segments(data) {
		x, y := s.x*points, s.y*points
		switch s.kind {
		case 'M':
			f.MoveTo(x, y)
		case 'L':
			f.LineTo(x, y)
		case 'A':
			f.halfCircle(s.fromX*points, s.fromY*points, x, y)
		case 'z':
			f.ClosePath()
		}
	}
}

// halfCircle adds a half circle between two points, counterclockwise on the page, by two cubic curves.
func (f *pdf) halfCircle(x0, y0, x1, y1 float64) {
	const k = 0.5522847498 // distance of the control points of a quarter circle of radius 1
	cx, cy := float64((x0+x1)/2), float64((y0+y1)/2)
	rx, ry := float64((x1-x0)/2), float64((y1-y0)/2)
	topX, topY := cx-ry, cy+rx // a quarter turn from the start
	kx, ky := float64(k*rx), float64(k*ry)
	f.CurveBezierCubicTo(x0-ky, y0+kx, topX-kx, topY-ky, topX, topY)
	f.CurveBezierCubicTo(topX+kx, topY+ky, x1-ky, y1+kx, x1, y1)
}

// basic replaces what the library cannot write: characters beyond 16 bits, controls and invalid UTF-8.
func basic(text string) string {
	return strings.Map(func(r rune) rune {
		if r > 0xffff || r < ' ' {
			return utf8.RuneError
		}
		return r
	}, text)
}

func (f *pdf) text(x, y, size float64, t textStyle, text string) {
	text = basic(text)
	f.SetFont(fontName, "", size*points)
	x, y = float64(x*points), float64(y*points)
	left := x
	switch t.anchor {
	case "middle":
		left -= float64(f.GetStringWidth(text) / 2)
	case "end":
		left -= f.GetStringWidth(text)
	}
	if t.turn != 0 {
		f.TransformBegin()
		f.TransformRotate(float64(-t.turn), x, y)
		defer f.TransformEnd()
	}
	f.Text(left, y, text)
}

// parseColor returns a color written as #rrggbb.
func parseColor(hex string) color.NRGBA {
	v, err := strconv.ParseUint(hex[1:], 16, 24)
	if err != nil {
		panic("chart: color " + hex)
	}
	return color.NRGBA{uint8(v >> 16), uint8(v >> 8), uint8(v), 255} //nolint:gosec // bytes of a 24-bit number
}

// segment is a command of a path with absolute coordinates: M, L, z, or A for a half circle.
type segment struct {
	kind               byte
	fromX, fromY, x, y float64
}

// segments parses the SVG paths that the drawing code makes. The commands are M, L, H, V, l, h, v, z,
// and a with the radii of a half circle.
func segments(data string) (all []segment) {
	var x, y, startX, startY float64
	for i := 0; i < len(data); {
		command := data[i]
		end := i + 1
		for end < len(data) && !isCommand(data[end]) {
			end++
		}
		var n []float64
		for _, word := range strings.Fields(data[i+1 : end]) {
			v, err := strconv.ParseFloat(word, 64)
			if err != nil {
				panic("chart: path " + data[i:end])
			}
			n = append(n, v)
		}
		i = end
		s := segment{kind: 'L', fromX: x, fromY: y}
		switch command {
		case 'M':
			s.kind, x, y = 'M', n[0], n[1]
			startX, startY = x, y
		case 'L':
			x, y = n[0], n[1]
		case 'H':
			x = n[0]
		case 'V':
			y = n[0]
		case 'l':
			x, y = x+n[0], y+n[1]
		case 'h':
			x += n[0]
		case 'v':
			y += n[0]
		case 'a':
			s.kind, x, y = 'A', x+n[5], y+n[6]
		case 'z':
			s.kind, x, y = 'z', startX, startY
		}
		s.x, s.y = x, y
		all = append(all, s)
	}
	return all
}

func isCommand(c byte) bool { return c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' }
