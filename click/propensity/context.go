package propensity

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/listwise/listwise/internal/elementary"
)

// shrunk estimates each part of the log alone and shrinks the logarithms to those of the whole log. The distance from
// the whole has a normal prior with standard deviation s, which maximises the marginal likelihood.
func (l *Log) shrunk(ctx context.Context, names []string, whole *fitted, o Options) (s float64, parts []Part, err error) {
	if whole.errors == nil {
		return 0, nil, errors.New("found no standard errors, expected them to shrink the estimates of parts")
	}
	alone := make([]*fitted, len(l.values))
	var off, variance []float64
	values := slices.Sorted(slices.Values(l.values))
	for i, v := range values {
		part := l.parts[v]
		order := part.orderOf(names)
		if order == nil {
			continue
		}
		own := o
		own.harvest = nil // that of the whole
		f, _, err := part.fit(ctx, order, &own)
		if err != nil && !isRefusal(err) {
			return 0, nil, err
		}
		if err != nil || f.errors == nil || slices.ContainsFunc(f.errors, func(e float64) bool { return known(e) == nil }) {
			continue
		}
		alone[i] = f
		for k := 1; k < len(names); k++ {
			off = append(off, f.logs[k]-whole.logs[k])
			variance = append(variance, float64(f.errors[k]*f.errors[k]))
		}
	}
	square := betweenParts(off, variance)
	for i, v := range values {
		part := l.parts[v]
		p := Part{Value: v, Pages: part.Pages, Alone: alone[i] != nil}
		f := &fitted{logs: make([]float64, len(names)), errors: make([]float64, len(names))}
		for k := range names {
			f.logs[k] = whole.logs[k]
			variance := square
			if alone[i] != nil {
				e := alone[i].errors[k]
				if total := square + float64(e*e); total > 0 {
					f.logs[k] += float64(square / total * (alone[i].logs[k] - whole.logs[k]))
					variance = square / total * float64(e*e)
				}
				p.Own = append(p.Own, Value{elementary.Exp(alone[i].logs[k]), known(elementary.Exp(alone[i].logs[k]) * e)})
			}
			if k > 0 {
				// What the whole does not know, the part does not know either.
				share := 1.0
				if alone[i] != nil && square+float64(alone[i].errors[k]*alone[i].errors[k]) > 0 {
					share = alone[i].errors[k] * alone[i].errors[k] / (square + float64(alone[i].errors[k]*alone[i].errors[k]))
				}
				f.errors[k] = math.Sqrt(variance + float64(share*share*whole.errors[k]*whole.errors[k]))
			}
		}
		q := quantile(max(1, part.groupCount()-1))
		at := part.orderOf(names)
		for k, name := range names {
			s := slot(name, f, k, q)
			if at != nil {
				t := part.slots[at[k]]
				s.Impressions, s.Clicks, s.Interventions = t.shown, t.clicks, t.drawn
			}
			p.Slots = append(p.Slots, s)
		}
		parts = append(parts, p)
	}
	return math.Sqrt(square), parts, nil
}

func isRefusal(err error) bool { _, ok := errors.AsType[*Refusal](err); return ok }

// orderOf returns the slots of the given names, nil if one is missing.
func (l *Log) orderOf(names []string) []int {
	order := make([]int, len(names))
	for i, name := range names {
		if order[i] = l.index.LookupSlot(name); order[i] < 0 {
			return nil
		}
	}
	return order
}

// betweenParts returns the variance s² that maximises the likelihood of distances, which are normal with variances s² + v.
func betweenParts(off, variance []float64) float64 {
	slope := func(s float64) (sum float64) {
		for i, d := range off {
			v := s + variance[i]
			if v > 0 {
				sum += float64(d*d/v/v) - 1/v
			}
		}
		return sum
	}
	high := 0.0
	for _, d := range off {
		high = max(high, float64(d*d))
	}
	if slope(0) <= 0 {
		return 0
	}
	const halvings = 200
	low := 0.0
	for range halvings { // the slope is positive at low and not at high
		if middle := float64((low + high) / 2); slope(middle) > 0 {
			low = middle
		} else {
			high = middle
		}
	}
	return low
}
