// Package fuse makes one ranking of the rankings of several systems, which may be
// anything that gives scores.
//
// Start reading at [Rule]: it turns each system's scores of a query into votes, and
// a fusion is a weighted sum of votes. weights.go chooses the weights on validation
// data. The package must not know where scores come from.
package fuse

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/listwise/listwise/internal/suggest"
)

// Kind is a way to turn scores into votes.
type Kind int

// The kinds of rules. Documents to which a system gives equal scores get equal
// votes from it.
const (
	// RRF votes 1/(K + rank): reciprocal rank fusion (Cormack, Clarke, Büttcher,
	// SIGIR 2009). Documents of equal score share the mean of their ranks' votes.
	RRF Kind = iota

	// CombSUM votes the scores, rescaled (Fox and Shaw, TREC-2, 1994).
	CombSUM

	// CombMNZ is CombSUM times the number of systems whose vote for the document is
	// not 0 (likewise).
	CombMNZ

	// Borda votes the share of the query's other documents that stand below, those
	// of equal score counting half (Aslam and Montague, SIGIR 2001).
	Borda
)

var kindNames = []string{"rrf", "combsum", "combmnz", "borda"}

// Kinds returns the names that ParseKind reads.
func Kinds() []string { return slices.Clone(kindNames) }

// ParseKind reads the name of a kind.
func ParseKind(name string) (Kind, error) {
	if i := slices.Index(kindNames, name); i >= 0 {
		return Kind(i), nil
	}
	return 0, fmt.Errorf("found the rule %q%s", name, suggest.Or(name, kindNames, ", expected "+strings.Join(kindNames, ", ")))
}

// String returns the name that ParseKind reads.
func (k Kind) String() string { return kindNames[k] }

// Scale is how CombSUM and CombMNZ rescale a system's scores of one query. Equal
// scores become 0.
type Scale int

// The scales.
const (
	MinMax Scale = iota // (s − min)/(max − min)
	ZScore              // (s − mean)/standard deviation
	Sum                 // (s − min)/Σ(s − min) (Montague and Aslam, CIKM 2001)
)

var scaleNames = []string{"minmax", "zscore", "sum"}

// Scales returns the names that ParseScale reads.
func Scales() []string { return slices.Clone(scaleNames) }

// ParseScale reads the name of a scale.
func ParseScale(name string) (Scale, error) {
	if i := slices.Index(scaleNames, name); i >= 0 {
		return Scale(i), nil
	}
	return 0, fmt.Errorf("found the scale %q%s", name, suggest.Or(name, scaleNames, ", expected "+strings.Join(scaleNames, ", ")))
}

// String returns the name that ParseScale reads.
func (s Scale) String() string { return scaleNames[s] }

// DefaultK is K in the paper on reciprocal rank fusion.
const DefaultK = 60

// Rule turns scores into votes.
type Rule struct {
	Kind  Kind
	Scale Scale   // of CombSUM and CombMNZ
	K     float64 // of RRF; at least 0
}

// Check returns an error if the rule makes no sense.
func (r Rule) Check() error {
	switch {
	case r.Kind < 0 || int(r.Kind) >= len(kindNames) || r.Scale < 0 || int(r.Scale) >= len(scaleNames):
		return fmt.Errorf("found the rule %d with the scale %d, expected known ones", r.Kind, r.Scale)
	case r.Kind == RRF && !(r.K >= 0 && r.K <= math.MaxFloat32):
		return fmt.Errorf("found k = %v, expected a number from 0 on", r.K)
	case r.Kind == CombMNZ && r.Scale == ZScore:
		return fmt.Errorf("combmnz counts votes that are not 0, and of zscore none is; expected minmax or sum")
	}
	return nil
}

// Votes replaces the scores of one query by votes; scores[s] are system s's, one a
// document. Scores that are not finite make all votes of their system NaN.
func (r Rule) Votes(scores [][]float64) {
	for _, s := range scores {
		switch {
		case slices.ContainsFunc(s, func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }):
			for i := range s {
				s[i] = math.NaN()
			}
		case r.Kind == RRF || r.Kind == Borda:
			r.voteByRank(s)
		default:
			r.Scale.apply(s)
		}
	}
	if r.Kind == CombMNZ {
		multiplyByVoters(scores)
	}
}

// voteByRank replaces scores by votes that depend on ranks alone.
func (r Rule) voteByRank(s []float64) {
	n := len(s)
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		switch {
		case s[a] > s[b]:
			return -1
		case s[a] < s[b]:
			return 1
		}
		return 0
	})
	values := slices.Clone(s)
	for first := 0; first < n; {
		end, sum := first, 0.0
		for ; end < n && values[order[end]] == values[order[first]]; end++ {
			sum += r.voteOfRank(end+1, n)
		}
		for _, i := range order[first:end] {
			s[i] = sum / float64(end-first)
		}
		first = end
	}
}

// voteOfRank returns the vote of a rank, from 1 to n.
func (r Rule) voteOfRank(rank, n int) float64 {
	switch {
	case r.Kind == RRF:
		return 1 / (r.K + float64(rank))
	case n == 1:
		return 0
	}
	return float64(n-rank) / float64(n-1)
}

// apply rescales the scores of one query. They are halved first, so that no
// difference overflows.
func (s Scale) apply(scores []float64) {
	if len(scores) == 0 {
		return
	}
	least, most := slices.Min(scores)/2, slices.Max(scores)/2
	if least == most {
		clear(scores)
		return
	}
	var sum, square float64
	for i := range scores {
		scores[i] = (scores[i]/2 - least) / (most - least)
		sum += scores[i]
	}
	if s == MinMax {
		return
	}
	mean := sum / float64(len(scores))
	for _, v := range scores {
		square += float64((v - mean) * (v - mean))
	}
	deviation := math.Sqrt(square / float64(len(scores)))
	for i, v := range scores {
		if s == Sum {
			scores[i] = v / sum
		} else {
			scores[i] = (v - mean) / deviation
		}
	}
}

// multiplyByVoters multiplies all votes for a document by the number of those that
// are not 0.
func multiplyByVoters(votes [][]float64) {
	if len(votes) == 0 {
		return
	}
	for i := range votes[0] {
		voters := 0.0
		for _, v := range votes {
			if v[i] != 0 {
				voters++
			}
		}
		for _, v := range votes {
			v[i] *= voters
		}
	}
}

// Add sets dst to the weighted sum of votes, one a document.
func Add(dst []float64, votes [][]float64, weights []float64) {
	if len(votes) != len(weights) {
		panic(fmt.Sprintf("fuse: %d weights for %d systems", len(weights), len(votes)))
	}
	clear(dst)
	for s, v := range votes {
		for i := range dst {
			dst[i] += float64(weights[s] * v[i])
		}
	}
}
