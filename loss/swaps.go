package loss

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/listwise/listwise/measure"
)

// swaps knows what a measure M loses when two documents of a ranking change
// places. It is bound to a query's grades and immutable; what depends on the
// ranking is in slices that the caller provides. Ranks count from 0.
//
// One query's ranking enters by the number x that a document counts for in the
// measure: its share of the gain, whether it is relevant, its probability to
// satisfy. Every measure here has a file of its own, swaps_NAME.go.
type swaps interface {
	// counts returns x of each document.
	counts() []float64

	// work returns how much working memory a ranking of n documents needs.
	work(n int) int

	// prepare looks at a ranking, x by rank, and fills work. It returns a number
	// of ranks such that swaps of two documents below all of them change
	// nothing.
	prepare(x, work []float64) (ranks int)

	// row sets loss[b] = M − M with the documents at ranks a and b exchanged, for
	// a < b < to. It is positive or 0 if the document at a has the higher grade,
	// negative or 0 if it has the lower, 0 if the grades are the same. x is as it
	// was when row returns.
	row(loss, x, work []float64, a, to int)
}

// newSwaps returns what is known of the measure: formulas that take O(1) a swap
// for NDCG, AP, MRR and ERR, and for others their value, computed anew.
func newSwaps(m measure.Measure, grades []float64) (swaps, error) {
	name, k := ownMeasure(m)
	cut := min(k, len(grades))
	switch name {
	case "ndcg":
		return newNDCGSwaps(measure.ConventionOf(m), grades, cut)
	case "map", "ap":
		return newAPSwaps(relevances(m, grades)), nil
	case "mrr":
		return mrrSwaps{relevant: relevances(m, grades), cut: cut}, nil
	case "err":
		return newERRSwaps(m, grades, cut), nil
	}
	return anySwaps{m, grades, cut}, nil
}

// ownMeasure returns the name of a measure of package measure without its cut-off,
// and the number of ranks that count, MaxInt for all of them. Of measures from
// elsewhere, which may call themselves what they like, it knows nothing.
func ownMeasure(m measure.Measure) (name string, cut int) {
	if _, ok := m.(interface{ Convention() measure.Convention }); !ok {
		return "", math.MaxInt
	}
	name, parameter, _ := strings.Cut(m.Name(), "@")
	if name == "wta" {
		return name, 1
	}
	k, err := strconv.Atoi(parameter)
	if err != nil { // none, or the persistence of RBP
		return name, math.MaxInt
	}
	return name, k
}

// relevances returns 1 for every document that the binary measure m takes as
// relevant and 0 for the others. Measures keep their thresholds to themselves, but
// grade 0 is below all of them: a document is relevant if it matters whether it
// stands above or below one of grade 0.
func relevances(m measure.Measure, grades []float64) []float64 {
	x := make([]float64, len(grades))
	for i, g := range grades {
		above, _ := m.Value([]float64{g, 0})
		below, _ := m.Value([]float64{0, g})
		if above != below {
			x[i] = 1
		}
	}
	return x
}

// settled tells whether the measure of a query is the same for all rankings, or
// is left out of means: there is nothing to learn.
func settled(m measure.Measure, grades []float64) bool {
	worst, best, ok := measure.Extremes(m, grades)
	return !ok || best == worst
}

// overflowError tells of a grade whose gain is no number.
func overflowError(grades []float64) error {
	return fmt.Errorf("the gains of grade %v overflow: expected grades below 1000", slices.Max(grades))
}
