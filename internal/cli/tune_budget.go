package cli

import (
	"math"
	"strconv"
	"time"

	"github.com/listwise/listwise/tune"
)

// parseBudget reads the value of --budget: a number of settings, or a time.
func parseBudget(text string) (tune.Budget, error) {
	if text == "" {
		return tune.Budget{}, nil
	}
	if n, err := strconv.Atoi(text); err == nil && n > 0 {
		return tune.Budget{Settings: n}, nil
	}
	if d, err := time.ParseDuration(text); err == nil && d > 0 {
		return tune.Budget{Time: d}, nil
	}
	return tune.Budget{}, usageErrorf("--budget %s: expected a number of settings, such as 20, or a time, such as 30m or 1h30m", text)
}

// parseAverage reads the value of --average: a number of settings, or all.
func parseAverage(text string) (int, error) {
	if text == "all" {
		return math.MaxInt, nil
	}
	if n, err := strconv.Atoi(text); err == nil && n > 0 {
		return n, nil
	}
	return 0, usageErrorf("--average %s: expected a number of settings from 1 on, or all", text)
}
