package tune

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/listwise/listwise/internal/elementary"
	"github.com/listwise/listwise/internal/random"
	"github.com/listwise/listwise/learn/method"
)

// NewRandomEntryOf is NewEntryOf with the given number of settings, drawn by the seed from the ranges of
// the grids. A number is drawn between the least and the largest value, by its logarithm if all are
// positive; integers are rounded. Other hyperparameters get one of their values. Equal settings are drawn
// again, and there are fewer if the ranges have no more.
func NewRandomEntryOf(m *method.Method, kind string, override map[string][]string, settings int, seed uint64) (Entry, error) {
	e, err := NewEntryOf(m, kind, override)
	if err != nil {
		return e, err
	}
	of, err := m.For(kind)
	if err != nil {
		return e, err
	}
	grid := e.Settings
	e.Settings, e.Drawn = nil, true
	rng := random.Stream(seed, "random settings", e.Name)
	known := make(map[string]bool)
	for tries := 0; len(e.Settings) < settings && tries < 100*settings; tries++ {
		set := make(map[string]string)
		for _, h := range of.Hyperparameters {
			set[h.Name] = drawValue(grid, h, rng.Float64())
		}
		v, err := of.Values(set)
		if err != nil {
			return e, fmt.Errorf("a setting drawn from the ranges of the grids: %w", err)
		}
		if !known[v.String()] {
			known[v.String()] = true
			e.Settings = append(e.Settings, v)
		}
	}
	return e, nil
}

// drawValue returns the value of a hyperparameter for a number u from 0 to 1.
func drawValue(grid []Setting, h method.Hyperparameter, u float64) string {
	var values []string
	for _, s := range grid {
		if !slices.Contains(values, s.Text(h.Name)) {
			values = append(values, s.Text(h.Name))
		}
	}
	low, high := math.Inf(1), math.Inf(-1)
	for _, text := range values {
		n, err := strconv.ParseFloat(text, 64)
		if err != nil || len(values) == 1 || h.Kind != method.Number && h.Kind != method.Integer {
			return values[int(u*float64(len(values)))]
		}
		low, high = min(low, n), max(high, n)
	}
	drawn := low + float64(u*(high-low))
	if low > 0 {
		drawn = low * elementary.Pow(high/low, u)
	}
	if h.Kind == method.Integer {
		return strconv.FormatFloat(math.Round(drawn), 'f', -1, 64)
	}
	const digits = 4 // of what is drawn, which are enough for any hyperparameter
	return strconv.FormatFloat(drawn, 'g', digits, 64)
}
