package dataset

import (
	"fmt"
	"math"
	"strconv"
)

// ExactWhole is 2²⁴: float32, the type of features, represents all whole numbers up to it.
const ExactWhole = 1 << 24

// Rounds reports whether float32 changes a number by half or more: whole numbers beyond
// ExactWhole, such as ids and times in seconds, of which several become one. What is beyond
// ±2⁶³ is neither of these, and a decimal that is the shortest one of a float32 was one.
func Rounds(v float64) bool {
	size := math.Abs(v)
	if size <= ExactWhole || size >= 1<<63 || math.Abs(v-float64(float32(v))) < 0.5 {
		return false
	}
	shortest, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'g', -1, 32), 64) // it is a number
	return v != shortest
}

// CollapsedWarning says that different numbers of features of a file are one as float32, such as the
// two given of the first feature named.
func CollapsedWarning(file string, features []string, a, b float64) string {
	return fmt.Sprintf("%s: %s: different numbers become one, such as %s and %s: features are float32, which has some seven digits; subtract an offset",
		file, someFeatures(features), whole(a), whole(b))
}

// someFeatures names some of the features.
func someFeatures(features []string) string {
	what := "feature "
	if len(features) > 1 {
		what = "features "
	}
	return what + listed(features, func(name string) string { return name })
}

// RoundedWarning says that float32 rounds whole numbers of features of a file, one of which
// is the example, of the first feature named.
func RoundedWarning(file string, features []string, example float64) string {
	return fmt.Sprintf("%s: %s: numbers are rounded, such as %s to %s: features are float32, which has whole numbers up to %d alone; subtract an offset, take an age instead of a time, or leave ids out",
		file, someFeatures(features), whole(example), whole(float64(float32(example))), ExactWhole)
}

func whole(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
