package svg

import (
	"errors"
	"math"
	"strconv"
	"strings"

	"github.com/listwise/listwise/internal/elementary"
)

// scale maps values of an axis to pixels.
type scale struct {
	log      bool
	min, max float64 // of the axis, as logarithms to base 10 if log
	from, to float64 // the pixels of min and max
}

// at returns the pixel of v; ok is false if v has no place on the axis.
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

// newScale returns the scale of an axis whose data are the given values; zero is true if
// bars stand on it, so that 0 must be its end.
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
	// Room below zero would suggest that there could be negative values.
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

// roundTicks are 1, 2 and 5 times the powers of ten from 10^low to 10^high.
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

// linearTicks are multiples of 1, 2 or 5 times a power of ten.
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

// decadeTicks are powers of ten at a regular step that leaves about n of them.
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

// number makes a formatted number fit to read: a real minus sign, and exponents
// without plus and leading zeros.
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

// within returns the ticks that lie on the axis.
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
