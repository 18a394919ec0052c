package interchange

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/listwise/listwise/model"
)

// single converts v to float32, the type with which many engines compute. If v is out of range, it
// returns an error, in which what is the name of v.
func single(what string, v float64) (float32, error) {
	f := float32(v)
	if math.IsInf(float64(f), 0) {
		return 0, fmt.Errorf("found %s %v, expected one within the range of float32, in which the engine computes", what, v)
	}
	return f, nil
}

// needZeroForMissing returns an error unless missing values go to the same side as 0 in every node.
// Writers call it for engines that treat missing features as 0.
func (e *ensemble) needZeroForMissing() error {
	for k, t := range e.trees {
		for i, n := range t.nodes {
			if n.Categories == nil && n.MissingLeft != (0 <= n.Threshold) {
				return fmt.Errorf("found that a missing value of feature %d goes %s in node %d of tree %d, where 0 goes %s: the engine takes missing values as 0; train with --missing zero",
					n.Feature+1, side(n.MissingLeft), i+1, k+1, side(!n.MissingLeft))
			}
		}
	}
	return nil
}

// needThresholds returns an error if a tree has nodes with categories.
func (e *ensemble) needThresholds() error {
	for k, t := range e.trees {
		for i, n := range t.nodes {
			if n.Categories != nil {
				return fmt.Errorf("found categories of feature %d in node %d of tree %d, expected thresholds alone: the engine has no categories", n.Feature+1, i+1, k+1)
			}
		}
	}
	return nil
}

// shiftSingle sets the constant so that no score is negative, even if an engine adds in float32.
func (e *ensemble) shiftSingle() {
	var size float64
	for _, t := range e.trees {
		for _, v := range t.values {
			size = max(size, math.Abs(v))
		}
	}
	n := float64(len(e.trees) + 1)
	e.shift()
	e.constant += float64(n * n * size * 0x1p-24)
}

// listed returns the features that a file lists by name: those with influence, or all if o.AllFeatures
// is set. An engine computes every listed feature of every document. It lists at least one feature,
// since engines accept no empty list. used says which features have influence.
func (o WriteOptions) listed(used []bool) (listed []bool, notes []string) {
	listed = slices.Clone(used)
	if len(used) > 0 && !slices.Contains(used, true) {
		listed[0] = true
	}
	if o.AllFeatures {
		listed = slices.Repeat([]bool{true}, len(used))
	}
	n := 0
	for _, is := range listed {
		if is {
			n++
		}
	}
	if n < len(used) {
		notes = append(notes, fmt.Sprintf("%d of %d features written; the others do not change a score (--all-features writes them)", n, len(used)))
	}
	return listed, notes
}

// only returns the elements of list whose feature is listed.
func only[T any](list []T, listed []bool) []T {
	var rest []T
	for j, v := range list {
		if listed[j] {
			rest = append(rest, v)
		}
	}
	return rest
}

func side(left bool) string {
	if left {
		return "left"
	}
	return "right"
}

// engineNames returns the names of the features in an engine: o.Names, otherwise the model's names,
// otherwise feature_1, feature_2 and so on.
func engineNames(m *model.Model, o WriteOptions) ([]string, error) {
	n := m.Scorer.NumFeatures()
	names := o.Names
	if names == nil {
		names = m.FeatureNames
	}
	if names != nil && len(names) != n {
		return nil, fmt.Errorf("found %d names of features, expected the model's %d", len(names), n)
	}
	if names == nil && n > mostNames {
		return nil, fmt.Errorf("found a model of %d features without names, expected at most %d of these", n, mostNames)
	}
	seen := make(map[string]bool, n)
	for _, name := range names {
		if seen[name] {
			return nil, fmt.Errorf("found the feature name %q twice, expected different ones", name)
		}
		seen[name] = true
	}
	if names != nil {
		return names, nil
	}
	return unnamed(n), nil
}

// unnamedPrefix begins the names of n features without names, which unnamed returns: feature_1,
// feature_2 and so on.
const unnamedPrefix = "feature_"

func unnamed(n int) []string {
	names := make([]string, n)
	for j := range names {
		names[j] = unnamedPrefix + strconv.Itoa(j+1)
	}
	return names
}

// mostNames is the largest number of unnamed features for which engineNames generates names.
const mostNames = 1 << 22
