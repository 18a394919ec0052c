package measure

import (
	"slices"
	"strings"

	"github.com/listwise/listwise/internal/suggest"
)

// TiePolicy says in which order documents of equal score stand.
type TiePolicy uint8

const (
	// TiesInput keeps documents of equal score in the order of the input: the
	// rule of the LETOR scripts, and the default.
	TiesInput TiePolicy = iota
	// TiesPessimistic puts the worst documents of a tie first.
	TiesPessimistic
	// TiesOptimistic puts the best documents of a tie first.
	TiesOptimistic
	// TiesAverage takes the expected value of the measure over all orders of
	// the tied documents, each equally likely.
	TiesAverage
	// TiesTREC is the rule of trec_eval, which ignores the ranks in a run. Scores are compared as
	// 32-bit numbers. Documents of equal score are ranked in descending byte order of their
	// identifiers.
	TiesTREC
)

var tieNames = [...]string{"input", "pessimistic", "optimistic", "average", "trec"}

// String returns the name that [ParseTies] reads.
func (t TiePolicy) String() string { return tieNames[t] }

// TiePolicies returns the names of all policies.
func TiePolicies() []string { return slices.Clone(tieNames[:]) }

// ParseTies returns the policy of the given name.
func ParseTies(name string) (TiePolicy, error) {
	if i := slices.Index(tieNames[:], strings.ToLower(name)); i >= 0 {
		return TiePolicy(i), nil
	}
	return 0, suggest.Unknown("tie policy", name, tieNames[:])
}

// Averager is a Measure that computes its exact expected value under random tie breaking.
// All measures that [Parse] returns are Averagers.
//
// For sums over documents, McSherry and Najork give the closed forms (Computing Information
// Retrieval Performance Measures Efficiently in the Presence of Tied Scores, ECIR 2008). Each file
// derives its own.
type Averager interface {
	Measure

	// Average returns the expected value over uniformly random orders of the documents within each
	// group of equal score. ranked holds the grades with the groups best first; group g takes the
	// places ends[g−1] to ends[g]−1, counted from 0. With groups of one document it is Value.
	//
	// The last end is len(ranked) if the system retrieved all documents. Otherwise the grades
	// behind it belong to judged documents without a rank ([dataset.NotRetrieved]). They count in
	// the number of relevant documents and in the ideal ranking, but are never found.
	Average(ranked []float64, ends []int) (value float64, ok bool)
}

// withRest returns the ends, and n as one more end if documents follow the last one. These were not
// retrieved and form a group below all others.
func withRest(ends []int, n int) []int {
	if lastEnd(ends) == n {
		return ends
	}
	return append(slices.Clip(ends), n)
}

// lastEnd returns the number of documents with ranks.
func lastEnd(ends []int) int {
	if len(ends) == 0 {
		return 0
	}
	return ends[len(ends)-1]
}

// unequalPairs returns the number of pairs of different grades among the
// grades, in any order, with s.sums as working memory.
func unequalPairs(s *scratch, grades []float64) int64 {
	n, equal := int64(len(grades)), int64(0)
	if counts, ok := histogram(grades); ok {
		for _, c := range counts {
			equal += int64(c) * int64(c)
		}
		return (n*n - equal) / 2
	}
	s.sums = append(s.sums[:0], grades...)
	slices.Sort(s.sums)
	var run int64
	for i, l := range s.sums {
		if i > 0 && l != s.sums[i-1] {
			equal += run * run
			run = 0
		}
		run++
	}
	equal += run * run
	return (n*n - equal) / 2
}
