package app

import (
	"math"
	"strconv"
	"time"

	"github.com/listwise/listwise/learn/method"
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

// randomSettings are how many are drawn where a time bounds how many are tried.
const randomSettings = 1000

// checkSearch returns an error for flags of the search that contradict each other.
func (f *tuneFlags) checkSearch(c tune.Config) error {
	switch {
	case f.search != "grid" && f.search != "random":
		return usageErrorf("--search %s: expected grid or random", f.search)
	case f.search == "random" && c.Budget == (tune.Budget{}):
		return usageErrorf("--search random: expected --budget with the number of settings of each method, or a time")
	case f.halving && c.Budget.Time > 0:
		return usageErrorf("--halving with --budget %s: expected a number of settings: with a time, the result would depend on the machine", f.budget)
	case f.refit && c.Average > 1:
		return usageErrorf("--refit with --average %s: expected one of them: --refit trains one setting (auto combines many)", f.average)
	}
	return nil
}

// entry returns a method with the settings to try.
func (f *tuneFlags) entry(m *method.Method, override map[string][]string, budget tune.Budget) (tune.Entry, error) {
	if f.search == "grid" {
		return tune.NewEntryOf(m, f.scorers[m.Name], override)
	}
	n := budget.Settings
	if n == 0 {
		n = randomSettings
	}
	return tune.NewRandomEntryOf(m, f.scorers[m.Name], override, n, f.seed)
}
