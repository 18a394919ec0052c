package tree

import (
	"fmt"
	"math"
	"slices"
)

// bounds has the smallest and the largest value that monotone constraints allow for a leaf.
type bounds struct{ lower, upper float64 }

func unbounded() bounds { return bounds{math.Inf(-1), math.Inf(1)} }

func (b bounds) clamp(v float64) float64 { return min(max(v, b.lower), b.upper) }

// checkConstraints returns an error if Monotone or Interactions do not fit the number of features.
func (o *Options) checkConstraints(features int) error {
	if n := len(o.Monotone); n != 0 && n != features {
		return fmt.Errorf("found %d signs, expected one for each of %d features, or none", n, features)
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

// checkCategories returns an error if a categorical feature has a monotone constraint.
func (o *Options) checkCategories(b *Bins) error {
	for f, sign := range o.Monotone {
		if sign != 0 && b.categories[f] != nil {
			return fmt.Errorf("found a sign for feature %d, expected none: it is categorical, and its values have no order", f+1)
		}
	}
	return nil
}

// sign returns the monotone constraint of a feature: 1, −1 or 0.
func (o *Options) sign(feature int) int8 {
	if o.Monotone == nil {
		return 0
	}
	return o.Monotone[feature]
}

// value returns the Newton step of a leaf with the gradient g and the curvature h, clamped to the bounds within.
func (o *Options) value(g, h float64, within bounds) float64 {
	return within.clamp(o.Step(g, h))
}

// strengthAt returns twice the reduction of the objective's quadratic approximation by a leaf with the value v. The
// maximum over v is [Options.strength].
func (o *Options) strengthAt(g, h, v float64) float64 {
	return float64(2*g*v) - float64((h+o.L2)*v*v) - float64(2*o.L1*math.Abs(v))
}

// divided returns the bounds of the two parts of a leaf. Without a constraint (sign 0), they are the bounds of the
// leaf. Otherwise the mean of the parts' values becomes an upper bound of one part and a lower bound of the other part.
// So later splits of the parts cannot violate the constraint (LightGBM's basic method).
func (b bounds) divided(sign int8, leftValue, rightValue float64) (left, right bounds) {
	left, right = b, b
	middle := (leftValue + rightValue) / 2
	switch {
	case sign > 0:
		left.upper, right.lower = middle, middle
	case sign < 0:
		left.lower, right.upper = middle, middle
	}
	return left, right
}

// leafValue returns the Newton step of a leaf, clamped to the bounds.
func (g *Grower) leafValue(l *leaf, within bounds) float64 {
	return g.value(float64(float64(l.total.gradient())*g.unit.gradient), float64(float64(l.total.curvature())*g.unit.curvature), within)
}

// Clamp limits values, one for each leaf of the last tree, to the bounds of monotone constraints. The result of
// [Grower.Values] is already within these bounds.
func (g *Grower) Clamp(values []float64) {
	for i := range values {
		values[i] = g.leaves[i].clamp(values[i])
	}
}

// interaction describes the features by which a leaf may be split, given the groups of Options.Interactions and the
// features on the path to the leaf.
type interaction struct {
	groups []int  // indices of the groups that contain all features of the path
	barred []bool // marks the features that are in none of these groups; nil if every feature is allowed
}

// after returns the interaction of the two parts of a leaf after a split by feature. above is the interaction of the
// leaf, and features is the number of all features.
func (o *Options) after(above interaction, feature, features int) interaction {
	if len(o.Interactions) == 0 {
		return above
	}
	var below interaction
	below.barred = make([]bool, features)
	for f := range below.barred {
		below.barred[f] = f != feature
	}
	for i, group := range o.Interactions {
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

// bars reports whether a leaf must not be split by a feature, because of [Grower.Bar] or of interaction constraints.
func (g *Grower) bars(l *leaf, feature int) bool {
	return g.barred != nil && g.barred[feature] || l.barred != nil && l.barred[feature]
}
