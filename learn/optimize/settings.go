package optimize

import (
	"errors"
	"fmt"
	"math"
)

// setting is a solver's setting with its name for errors.
type setting[T int | float64] struct {
	name  string
	value T
}

// checkCounts returns an error if a count is negative.
func checkCounts(counts ...setting[int]) error {
	for _, c := range counts {
		if c.value < 0 {
			return fmt.Errorf("%s %d, expected a positive number or 0 for the default", c.name, c.value)
		}
	}
	return nil
}

// checkTolerances returns an error if a tolerance is NaN. Tolerances may be negative.
func checkTolerances(tolerances ...setting[float64]) error {
	for _, v := range tolerances {
		if math.IsNaN(v.value) {
			return fmt.Errorf("%s tolerance NaN, expected a number", v.name)
		}
	}
	return nil
}

// checkConvexity returns an error unless mu is a modulus of strong convexity, or 0 for unknown.
func checkConvexity(mu float64) error {
	return checkFactor("strong convexity", mu, "unknown")
}

// checkFactor returns an error unless value is 0 or a finite positive number. otherwise is the meaning of 0.
func checkFactor(name string, value float64, otherwise string) error {
	if !(value >= 0) || !finite(value) {
		return fmt.Errorf("%s %v, expected a finite positive number or 0 for %s", name, value, otherwise)
	}
	return nil
}

func defaultTo[T ~int | ~float64](v *T, value T) {
	if *v == 0 {
		*v = value
	}
}

// takeStart copies the start x0 to dst. It returns an error if the lengths differ or an element is not finite.
func takeStart(dst, x0 []float64) error {
	if len(x0) != len(dst) {
		return fmt.Errorf("start of %d variables, expected the objective's %d", len(x0), len(dst))
	}
	copy(dst, x0)
	return finiteStart(dst)
}

func finiteStart(x []float64) error {
	if i := notFinite(x); i >= 0 {
		return fmt.Errorf("start: x[%d] is %v, expected a finite number", i, x[i])
	}
	return nil
}

// observed calls observe with news, unless observe is nil. stop reports whether the run ends. ErrStop is not
// returned.
func observed[T any](observe func(T) error, news T) (stop bool, err error) {
	if observe == nil {
		return false, nil
	}
	err = observe(news)
	if errors.Is(err, ErrStop) {
		return true, nil
	}
	return err != nil, err
}
