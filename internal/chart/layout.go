package chart

import (
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/listwise/listwise/internal/elementary"
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
		ends := &ys
		if s.Across {
			ends = &xs
		}
		*ends = slices.Concat(*ends, s.Low, s.High)
		if s.Kind == Bars {
			bars = true
			if !p.Y.Log {
				ys = append(ys, 0)
			}
		}
	}
	if p.X.Zero {
		xs = append(xs, 0)
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

// placeLegend places the legend in rows between title and plot, where it cannot cover data.
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

// placeY chooses the y ticks and reserves space for them at the left.
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

// placeX chooses the x ticks so that their labels do not overlap. If the ticks are given and overlap,
// it tilts their labels. It reserves space below and at the right.
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

// fit sets the right end of the plotting area so that the last x tick label is within the picture.
// It reports whether the labels do not overlap.
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

func widest(ticks []Tick) float64 {
	w := 0.0
	for _, t := range ticks {
		w = math.Max(w, textWidth(t.Label, tickSize))
	}
	return w
}

// textWidth estimates the width of text in a sans-serif font. The estimate tends to be too large.
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

// scale maps values of an axis to pixels.
type scale struct {
	log      bool
	min, max float64 // of the axis, as logarithms to base 10 if log
	from, to float64 // the pixels of min and max
}

// at returns the pixel of v. ok is false if v has no place on the axis, such as NaN or a number
// that is not positive on a logarithmic axis.
func (s *scale) at(v float64) (px float64, ok bool) {
	t := s.units(v)
	return s.from + float64((t-s.min)/(s.max-s.min)*(s.to-s.from)), finite(t)
}

func (s *scale) units(v float64) float64 {
	if s.log {
		if v <= 0 {
			return math.NaN()
		}
		return elementary.Log10(v)
	}
	return v
}

// newScale returns the scale of an axis for the given values. If zero is true, the axis has bars
// and must include 0.
func newScale(a Axis, values []float64, zero bool) (scale, error) {
	s := scale{log: a.Log, min: math.Inf(1), max: math.Inf(-1)}
	if a.Min != a.Max {
		s.min, s.max = s.units(a.Min), s.units(a.Max)
		return s, nil
	}
	for _, v := range values {
		if t := s.units(v); finite(t) {
			s.min, s.max = math.Min(s.min, t), math.Max(s.max, t)
		}
	}
	if s.min > s.max {
		s.min, s.max = 0, 1
	}
	if s.min == s.max {
		margin := 0.5
		if !s.log {
			margin = math.Max(margin, math.Abs(s.min)*0.1)
		}
		s.min, s.max = s.min-margin, s.max+margin
	}
	low, high, margin := s.min, s.max, float64(0.04*(s.max-s.min))
	s.min, s.max = low-margin, high+margin
	// Space below zero would suggest negative values.
	if !s.log && low >= 0 && (zero || s.min < 0) {
		s.min = 0
	}
	if !s.log && zero && high <= 0 {
		s.max = 0
	}
	if !finite(s.max - s.min) {
		return s, errors.New("the values of an axis are too far apart")
	}
	return s, nil
}

// ticks returns about n ticks at round values on the axis, at least two.
func (s *scale) ticks(n int) []Tick {
	n = max(n, 2)
	var t []Tick
	first, last := math.Ceil(s.min-1e-9), math.Floor(s.max+1e-9)
	switch decades := last - first + 1; {
	case !s.log:
		t = s.within(linearTicks(s.min, s.max, n))
	case decades >= 2 && 3*decades > float64(n):
		t = s.within(decadeTicks(int(first), int(last), n))
	default:
		t = s.within(roundTicks(s.min, s.max))
		if len(t) < 2 {
			t = s.within(linearTicks(elementary.Pow(10, s.min), elementary.Pow(10, s.max), n))
		}
	}
	if len(t) < 2 && n < 20 {
		return s.ticks(n + 1)
	}
	return t
}

// roundTicks returns ticks at 1, 2 and 5 times the powers of ten from 10^low to 10^high.
func roundTicks(low, high float64) (t []Tick) {
	for d := math.Floor(low); d <= high; d++ {
		for _, m := range []float64{1, 2, 5} {
			v := m * elementary.Pow(10, d)
			format, digits := byte('f'), max(0, int(-d))
			if v < 0.9e-4 || v > 0.9e6 {
				format, digits = 'e', 0
			}
			t = append(t, Tick{v, number(strconv.FormatFloat(v, format, digits, 64))})
		}
	}
	return t
}

// linearTicks returns about n ticks at multiples of 1, 2 or 5 times a power of ten.
func linearTicks(low, high float64, n int) []Tick {
	raw := (high - low) / float64(n)
	power := math.Floor(elementary.Log10(raw))
	unit := elementary.Pow(10, power)
	step := 10 * unit
	decimals := -int(power) - 1
	for _, m := range []float64{5, 2, 1} {
		if m*unit >= raw*(1-1e-9) {
			step, decimals = m*unit, -int(power)
		}
	}
	format, digits := byte('f'), max(decimals, 0)
	if biggest := math.Max(math.Abs(low), math.Abs(high)); biggest >= 1e6 || decimals > 5 {
		format, digits = 'e', max(0, int(math.Floor(elementary.Log10(biggest)))+decimals)
	}
	var t []Tick
	for k := math.Ceil(low/step - 1e-9); k <= high/step+1e-9 && len(t) <= 2*n+2; k++ {
		label := strconv.FormatFloat(k*step, format, digits, 64)
		if k == 0 {
			label = "0"
		}
		t = append(t, Tick{k * step, number(label)})
	}
	return t
}

// decadeTicks returns about n ticks at powers of ten, whose exponents are multiples of one step.
func decadeTicks(first, last, n int) []Tick {
	every := (last-first)/n + 1
	short := first >= -4 && last <= 5
	var t []Tick
	for d := first; d <= last; d++ {
		if d%every != 0 {
			continue
		}
		v := elementary.Pow(10, float64(d))
		label := "10" + superscript.Replace(strconv.Itoa(d))
		if short {
			label = strconv.FormatFloat(v, 'f', -1, 64)
		}
		t = append(t, Tick{v, label})
	}
	return t
}

var superscript = strings.NewReplacer("-", "⁻", "0", "⁰", "1", "¹", "2", "²", "3", "³", "4", "⁴",
	"5", "⁵", "6", "⁶", "7", "⁷", "8", "⁸", "9", "⁹")

// number returns the number s in the form for readers: with the minus sign −, and without plus
// signs and leading zeros in exponents.
func number(s string) string {
	mantissa, exponent, found := strings.Cut(s, "e")
	if found {
		sign := ""
		if exponent[0] == '-' {
			sign = "-"
		}
		mantissa += "e" + sign + strings.TrimLeft(exponent, "+-0")
		mantissa = strings.TrimSuffix(mantissa, "e")
	}
	return strings.ReplaceAll(mantissa, "-", "−")
}

func (s *scale) within(ticks []Tick) []Tick {
	var t []Tick
	slack := float64(1e-9 * (s.max - s.min))
	for _, tick := range ticks {
		if u := s.units(tick.Value); u >= s.min-slack && u <= s.max+slack {
			t = append(t, tick)
		}
	}
	return t
}
