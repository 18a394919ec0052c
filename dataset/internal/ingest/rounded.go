package ingest

import (
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/listwise/listwise/dataset"
)

// Rounded records that a feature has a whole number v that float32 rounds. Features are counted from 0.
// The largest number of each feature is kept, so the result does not depend on which worker read it.
// Rounded need not be called for numbers with at most seven digits before the decimal point.
func (c *Collector) Rounded(feature int, v float64) {
	old := c.rounded[feature]
	if larger := math.Abs(v) > math.Abs(old) || v == -old && v > 0; !larger || !dataset.Rounds(v) {
		return
	}
	if c.rounded == nil {
		c.rounded = make(map[int]float64)
	}
	c.rounded[feature] = v
}

// roundedWarning returns a warning with the names of the features that are rounded, or "" if there are
// none.
func roundedWarning(file string, names []string, collectors []*Collector) string {
	all := new(Collector)
	for _, c := range collectors {
		for feature, v := range c.rounded {
			all.Rounded(feature, v)
		}
	}
	if len(all.rounded) == 0 {
		return ""
	}
	features := slices.Sorted(maps.Keys(all.rounded))
	return dataset.RoundedWarning(file, featureNames(features, names), all.rounded[features[0]])
}

// featureNames returns the names of features, which are counted from 0. Without names it returns their
// numbers, from 1.
func featureNames(features []int, names []string) []string {
	called := make([]string, len(features))
	for i, f := range features {
		if called[i] = strconv.Itoa(f + 1); names != nil {
			called[i] = names[f]
		}
	}
	return called
}
