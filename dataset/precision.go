package dataset

import (
	"fmt"
	"math"
	"strconv"
)

// ExactWhole is 2²⁴: float32, the type of features, represents all whole numbers up to it.
const ExactWhole = 1 << 24

// Rounds reports whether float32 changes a number by at least 0.5. It detects whole numbers beyond ExactWhole,
// such as ids and times in seconds, several of which become one float32. It returns false beyond ±2⁶³, since
// such numbers are neither ids nor times. It also returns false for the shortest decimal of a float32, since
// the value probably was a float32 before.
func Rounds(v float64) bool {
	size := math.Abs(v)
	if size <= ExactWhole || size >= 1<<63 || math.Abs(v-float64(float32(v))) < 0.5 {
		return false
	}
	shortest, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'g', -1, 32), 64) // cannot fail
	return v != shortest
}

// CollapsedWarning returns the warning that different numbers of some features become equal as float32. a and
// b are two such numbers of the first feature.
func CollapsedWarning(file string, features []string, a, b float64) string {
	return fmt.Sprintf("%s: %s: different numbers become equal, such as %s and %s, because float32 has about seven digits; subtract an offset",
		file, someFeatures(features), whole(a), whole(b))
}

// someFeatures names the first of the features.
func someFeatures(features []string) string {
	what := "feature "
	if len(features) > 1 {
		what = "features "
	}
	return what + listed(features, func(name string) string { return name })
}

// RoundedWarning returns the warning that float32 rounds whole numbers of some features. example is such a
// number of the first feature.
func RoundedWarning(file string, features []string, example float64) string {
	return fmt.Sprintf("%s: %s: numbers are rounded, such as %s to %s, because float32 is exact for whole numbers up to %d only; subtract an offset, use an age instead of a time, or exclude ids",
		file, someFeatures(features), whole(example), whole(float64(float32(example))), ExactWhole)
}

func whole(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
