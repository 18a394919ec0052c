package tree

import (
	"fmt"
	"math"
	"slices"
)

// bounds are the least and the largest value that a leaf may have.
type bounds struct{ lower, upper float64 }

func unbounded() bounds { return bounds{math.Inf(-1), math.Inf(1)} }

func (b bounds) clamp(v float64) float64 { return min(max(v, b.lower), b.upper) }

// checkConstraints returns an error if the constraints do not fit the features.
func (o *Options) checkConstraints(b *Bins) error {
	features := b.Features()
	if n := len(o.Monotone); n != 0 && n != features {
		return fmt.Errorf("found %d signs, expected one for each of %d features, or none", n, features)
	}
	for f, sign := range o.Monotone {
		if sign != 0 && b.categories[f] != nil {
			return fmt.Errorf("found a sign for feature %d, expected none: it is categorical, and its values have no order", f+1)
		}
	}
	for i, group := range o.Interactions {
		for _, f := range group {
			if f < 0 || f >= features {
				return fmt.Errorf("found feature %d in group %d of interactions, expected one from 1 to %d", f+1, i+1, features)
			}
		}
	}
	return nil
}

// sign returns that of a feature.
func (o *Options) sign(feature int) int8 {
	if o.Monotone == nil {
		return 0
	}
	return o.Monotone[feature]
}

// value is the Newton step of these sums, within bounds.
func (o *Options) value(g, h float64, within bounds) float64 {
	v := 0.0
	if h += o.L2; h > 0 {
		v = o.soft(g) / h
	}
	return within.clamp(v)
}

// strengthAt is what a leaf of these sums takes off twice the objective's approximation with
// a value: strength is that of the best.
func (o *Options) strengthAt(g, h, v float64) float64 {
	return 2*g*v - (h+o.L2)*v*v - 2*o.L1*math.Abs(v)
}

// bind gives the parts of a leaf their bounds: those of the whole, and where the split's feature
// has a sign, both sides keep to their side of the middle between their values, so that
// whatever is divided below keeps the order (LightGBM's basic method).
func (g *Grower) bind(whole, left, right *leaf, feature int) {
	left.bounds, right.bounds = whole.bounds, whole.bounds
	sign := g.sign(feature)
	if sign == 0 {
		return
	}
	middle := (g.leafValue(left) + g.leafValue(right)) / 2
	if sign > 0 {
		left.upper, right.lower = middle, middle
	} else {
		left.lower, right.upper = middle, middle
	}
}

func (g *Grower) leafValue(l *leaf) float64 {
	return g.value(float64(l.total.gradient())*g.unit.gradient, float64(l.total.curvature())*g.unit.curvature, l.bounds)
}

// Clamp brings values of the leaves of the tree grown last to the nearest that keep the order
// of constrained features. [Grower.Values] has done so.
func (g *Grower) Clamp(values []float64) {
	for i := range values {
		values[i] = g.leaves[i].clamp(values[i])
	}
}

// interaction is what a path's features leave of the groups of features that may interact.
type interaction struct {
	groups []int  // those that have all of them
	barred []bool // features that may not join them; nil for none
}

// after returns what is left when a feature joins the path.
func (g *Grower) after(above interaction, feature int) interaction {
	if len(g.Interactions) == 0 {
		return above
	}
	var below interaction
	below.barred = make([]bool, g.matrix.bins.Features())
	for f := range below.barred {
		below.barred[f] = f != feature
	}
	for i, group := range g.Interactions {
		if !slices.Contains(group, feature) || above.barred != nil && !slices.Contains(above.groups, i) {
			continue
		}
		below.groups = append(below.groups, i)
		for _, f := range group {
			below.barred[f] = false
		}
	}
	return below
}

// bars reports whether a feature must not divide a leaf.
func (g *Grower) bars(l *leaf, feature int) bool {
	return g.barred != nil && g.barred[feature] || l.barred != nil && l.barred[feature]
}
