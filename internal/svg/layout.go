package svg

import (
	"math"
	"strings"
)

// Sizes in pixels.
const (
	titleSize  = 15.0
	labelSize  = 12.0
	tickSize   = 11.0
	lineHeight = 1.35 // of text, in font sizes
	margin     = 12.0
	sample     = 26.0 // the width of a legend's line sample
	gap        = 6.0
	tilt       = 0.6 // sine and, near enough, slope of tilted tick labels (37°)
)

// layout is where everything goes.
type layout struct {
	width, height            float64
	left, right, top, bottom float64 // of the plotting area
	title                    []string
	titleY                   float64 // the first baseline
	legend                   []entry
	x, y                     scale
	xTicks, yTicks           []Tick
	tilted                   bool // x tick labels do not fit side by side
}

// entry is a series in the legend.
type entry struct {
	series int
	name   string
	kind   Kind
	x, y   float64 // the left end and the middle
}

func (p *Plot) layout() (*layout, error) {
	l := &layout{width: float64(p.Width), height: float64(p.Height)}
	if p.Width == 0 {
		l.width = 640
	}
	if p.Height == 0 {
		l.height = 400
	}
	if err := l.scales(p); err != nil {
		return nil, err
	}
	l.top = margin
	l.placeTitle(p.Title)
	l.placeLegend(p.Series)
	l.top += tickSize / 2
	l.placeY(p.Y)
	l.placeX(p.X)
	if l.right-l.left < 20 || l.bottom-l.top < 20 {
		return nil, errTooSmall
	}
	l.x.from, l.x.to = l.left, l.right
	l.y.from, l.y.to = l.bottom, l.top
	return l, nil
}

func (l *layout) scales(p *Plot) error {
	var xs, ys []float64
	bars := false
	for _, s := range p.Series {
		xs, ys = append(xs, s.X...), append(ys, s.Y...)
		if s.Kind == Bars {
			bars = true
			if !p.Y.Log {
				ys = append(ys, 0)
			}
		}
	}
	var err error
	if l.x, err = newScale(p.X, xs, false); err != nil {
		return err
	}
	l.y, err = newScale(p.Y, ys, bars)
	return err
}

func (l *layout) placeTitle(title string) {
	l.title = wrap(title, l.width-2*margin, 1.12*titleSize) // bold
	l.titleY = l.top + titleSize
	if len(l.title) > 0 {
		l.top += float64(float64(len(l.title))*titleSize*lineHeight) + gap
	}
}

// placeLegend puts the legend in rows between title and plot, where it cannot
// cover any data.
func (l *layout) placeLegend(series []Series) {
	x, height := margin, labelSize*lineHeight+2
	for i, s := range series {
		if s.Name == "" {
			continue
		}
		width := sample + gap + textWidth(s.Name, labelSize)
		if x > margin && x+width > l.width-margin {
			x = margin
			l.top += height
		}
		l.legend = append(l.legend, entry{i, s.Name, s.Kind, x, l.top + height/2})
		x += width + 3*gap
	}
	if len(l.legend) > 0 {
		l.top += height + gap
	}
}

// placeY chooses the y ticks and what room they need at the left.
func (l *layout) placeY(a Axis) {
	l.yTicks = l.y.within(a.Ticks)
	if a.Ticks == nil {
		l.yTicks = l.y.ticks(int((l.height - l.top - 50) / 45))
	}
	l.left = margin + widest(l.yTicks) + gap
	if a.Label != "" {
		l.left += labelSize*lineHeight + gap
	}
}

// placeX chooses the x ticks so that their labels do not meet, or tilts those
// that are given, and finds the room they need below and at the right.
func (l *layout) placeX(a Axis) {
	below := tickSize*lineHeight + gap
	if a.Ticks != nil {
		l.xTicks = l.x.within(a.Ticks)
		if l.tilted = !l.fit(); l.tilted {
			widest := widest(l.xTicks)
			below += float64(tilt * widest)
			l.left = math.Max(l.left, margin+float64(widest*0.8))
			l.right = l.width - margin
		}
	} else {
		for n := 10; n >= 2; n-- {
			l.xTicks = l.x.ticks(n)
			if l.fit() {
				break
			}
		}
		for len(l.xTicks) > 2 && !l.fit() {
			l.xTicks = everyOther(l.xTicks)
		}
	}
	l.bottom = l.height - margin - below
	if a.Label != "" {
		l.bottom -= labelSize * lineHeight
	}
}

// fit ends the plotting area so that the last x tick label is within the picture
// and reports whether the labels keep a distance side by side.
func (l *layout) fit() bool {
	l.right = l.width - margin
	if n := len(l.xTicks); n > 0 {
		l.right = math.Min(l.right, l.width-gap-float64(textWidth(l.xTicks[n-1].Label, tickSize)/2))
	}
	s := l.x
	s.from, s.to = l.left, l.right
	end := math.Inf(-1)
	for _, t := range l.xTicks {
		at, _ := s.at(t.Value)
		half := float64(textWidth(t.Label, tickSize) / 2)
		if at-half < end+10 {
			return false
		}
		end = at + half
	}
	return true
}

func everyOther(ticks []Tick) (kept []Tick) {
	for i := 0; i < len(ticks); i += 2 {
		kept = append(kept, ticks[i])
	}
	return kept
}

// widest returns the width of the widest label.
func widest(ticks []Tick) float64 {
	w := 0.0
	for _, t := range ticks {
		w = math.Max(w, textWidth(t.Label, tickSize))
	}
	return w
}

// textWidth estimates, rather too wide than too narrow, the width of text in a
// sans-serif font.
func textWidth(s string, size float64) float64 {
	ems := 0.0
	for _, r := range s {
		switch {
		case strings.ContainsRune(" ijlrtfI.,:;|()[]'/⁻", r):
			ems += 0.4
		case r >= 'A' && r <= 'Z' || strings.ContainsRune("mw@%_Δ≈", r):
			ems += 0.74
		case r >= 0x2e80: // ideographs
			ems++
		default:
			ems += 0.62
		}
	}
	return ems * size
}

// wrap breaks text into lines at spaces.
func wrap(text string, width, size float64) []string {
	var lines []string
	for _, word := range strings.Fields(text) {
		if n := len(lines); n > 0 && textWidth(lines[n-1]+" "+word, size) <= width {
			lines[n-1] += " " + word
		} else {
			lines = append(lines, word)
		}
	}
	return lines
}
