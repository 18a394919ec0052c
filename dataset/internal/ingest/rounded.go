package ingest

import (
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/listwise/listwise/dataset"
)

// Rounded notes a number of a feature, counted from 0, if float32 rounds a whole number of it.
// Of each feature the largest is kept, so that the workers' shares do not matter. Numbers of
// at most seven digits before the point need not be told.
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

// roundedWarning says which features of a file are rounded, by the names that they have; "" if
// none is.
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

// featureNames returns what features, counted from 0, are called: their names, or their numbers.
func featureNames(features []int, names []string) []string {
	called := make([]string, len(features))
	for i, f := range features {
		if called[i] = strconv.Itoa(f + 1); names != nil {
			called[i] = names[f]
		}
	}
	return called
}
