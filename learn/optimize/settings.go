package optimize

import (
	"fmt"
	"math"
)

// setting is a solver's setting and its name in errors.
type setting[T int | float64] struct {
	name  string
	value T
}

// checkCounts returns an error for a number of things that is below 0.
func checkCounts(counts ...setting[int]) error {
	for _, c := range counts {
		if c.value < 0 {
			return fmt.Errorf("%s %d, expected a positive number or 0 for the default", c.name, c.value)
		}
	}
	return nil
}

// checkTolerances returns an error for a tolerance, which may be negative, that is NaN.
func checkTolerances(tolerances ...setting[float64]) error {
	for _, v := range tolerances {
		if math.IsNaN(v.value) {
			return fmt.Errorf("%s tolerance NaN, expected a number", v.name)
		}
	}
	return nil
}

// checkConvexity returns an error for what is no modulus of strong convexity.
func checkConvexity(mu float64) error {
	return checkFactor("strong convexity", mu, "unknown")
}

// checkFactor returns an error for what is neither a finite positive number nor 0, which
// stands for otherwise.
func checkFactor(name string, value float64, otherwise string) error {
	if !(value >= 0) || !finite(value) {
		return fmt.Errorf("%s %v, expected a finite positive number or 0 for %s", name, value, otherwise)
	}
	return nil
}

func defaultTo[T int | float64](v *T, value T) {
	if *v == 0 {
		*v = value
	}
}
