package measure

import (
	"slices"
	"strings"

	"github.com/listwise/listwise/internal/suggest"
)

// TiePolicy defines the order of documents with equal scores.
type TiePolicy uint8

const (
	// TiesInput keeps documents with equal scores in input order, as the LETOR scripts do. It is the
	// default.
	TiesInput TiePolicy = iota
	// TiesPessimistic ranks the worst documents of a tie first.
	TiesPessimistic
	// TiesOptimistic ranks the best documents of a tie first.
	TiesOptimistic
	// TiesAverage computes the expected value of the measure if all orders of the tied documents are
	// equally likely.
	TiesAverage
	// TiesTREC is the order of trec_eval, which ignores the ranks in a run. Scores are compared as
	// float32. Documents with equal scores are ranked in descending byte order of their identifiers.
	TiesTREC
)

var tieNames = [...]string{"input", "pessimistic", "optimistic", "average", "trec"}

// String returns the name that [ParseTies] accepts.
func (t TiePolicy) String() string { return tieNames[t] }

// TiePolicies returns the names of all policies.
func TiePolicies() []string { return slices.Clone(tieNames[:]) }

// ParseTies returns the policy with the given name.
func ParseTies(name string) (TiePolicy, error) {
	if i := slices.Index(tieNames[:], strings.ToLower(name)); i >= 0 {
		return TiePolicy(i), nil
	}
	return 0, suggest.Unknown("tie policy", name, tieNames[:])
}

// Averager is a Measure that computes its exact expected value under random tie breaking. All measures
// from [Parse] are Averagers.
//
// McSherry and Najork give closed forms for measures that are sums over documents (Computing
// Information Retrieval Performance Measures Efficiently in the Presence of Tied Scores, ECIR 2008).
// For other measures, see the comment on the method Average where the formula is not obvious.
type Averager interface {
	Measure

	// Average returns the expected value if the documents within each group of equal scores are in
	// uniformly random order. ranked contains the grades, with the highest-scored group first. Group g
	// is ranked[ends[g−1]:ends[g]], and group 0 starts at 0. If every group has one document, the
	// result is Value's.
	//
	// The last end is len(ranked) if the system retrieved all documents. Otherwise the grades after it
	// belong to judged documents that were not retrieved ([dataset.NotRetrieved]). They count in the
	// number of relevant documents and in the ideal ranking, but have no rank.
	Average(ranked []float64, ends []int) (value float64, ok bool)
}

// withRest returns ends, with n appended if there are documents after the last end. These documents
// were not retrieved and form a group below all others.
func withRest(ends []int, n int) []int {
	if lastEnd(ends) == n {
		return ends
	}
	return append(slices.Clip(ends), n)
}

// lastEnd returns the number of retrieved documents.
func lastEnd(ends []int) int {
	if len(ends) == 0 {
		return 0
	}
	return ends[len(ends)-1]
}

// unequalPairs returns the number of pairs of documents with different grades. grades may be in any
// order. s.sums is working memory.
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
