package stats_test

import (
	"fmt"

	"github.com/listwise/listwise/eval/stats"
)

// Two systems on the same eight queries: all sign flips are enumerated.
func ExampleCompare() {
	values := [][]float64{
		{0.61, 0.42, 0.80, 0.35, 0.71, 0.50, 0.66, 0.58},
		{0.55, 0.40, 0.71, 0.36, 0.60, 0.41, 0.60, 0.49},
	}
	c, err := stats.Compare(values, stats.Config{Baseline: -1, Resamples: 1000, Permutations: 1000, Seed: 1})
	if err != nil {
		panic(err)
	}
	p := c.Pairs[0]
	fmt.Printf("difference %.4f, exact %t, p %.4f, better on %d of %d queries\n",
		p.Difference, c.Exact, p.Randomization.P, p.Wins, c.Queries)
	// Output:
	// difference 0.0638, exact true, p 0.0156, better on 7 of 8 queries
}

// P values of three comparisons, corrected.
func ExampleHolm() {
	fmt.Printf("%.2f\n", stats.Holm([]float64{0.01, 0.04, 0.03}))
	// Output: [0.03 0.06 0.06]
}
