// Package fuse makes one ranking of the rankings of several systems, which may be
// anything that gives scores.
//
// Start reading at [Rule]: it turns each system's scores of a query into votes, and a
// fusion is a weighted sum of votes. Each kind of rule is a file and a line of the
// registry, which is also the help text. The package must not depend on where scores, or
// the weights, come from.
package fuse

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/internal/suggest"
)

// Kind is a way to turn scores into votes, by its name. Documents to which a system gives
// equal scores get equal votes from it. The empty name means RRF.
type Kind string

// kind is a line of the registry.
type kind struct {
	name  Kind
	about string // what a vote is, for help texts

	usesK, usesScale bool // of the parameters of Rule

	check func(r Rule) error               // of what the parameters alone do not show; may be nil
	votes func(r Rule, scores [][]float64) // see Rule.Votes; all scores are finite, or dataset.NotRetrieved
}

// registry lists all kinds of rules, in the order of help texts: a new kind is a file
// and a line here.
var registry = []kind{
	rrf,
	combSUM,
	combMNZ,
	borda,
}

// Kinds returns the names that ParseKind reads.
func Kinds() []string {
	names := make([]string, len(registry))
	for i, k := range registry {
		names[i] = string(k.name)
	}
	return names
}

// ParseKind reads the name of a kind.
func ParseKind(name string) (Kind, error) {
	if slices.Contains(Kinds(), name) {
		return Kind(name), nil
	}
	return "", fmt.Errorf("found the rule %q%s", name, suggest.Or(name, Kinds(), ", expected "+strings.Join(Kinds(), ", ")))
}

// String returns the name that ParseKind reads.
func (k Kind) String() string {
	if k == "" {
		return string(RRF)
	}
	return string(k)
}

// About says in a few words what a vote is.
func (k Kind) About() string { return k.entry().about }

// UsesK reports whether a rule of that kind has the parameter K.
func (k Kind) UsesK() bool { return k.entry().usesK }

// UsesScale reports whether a rule of that kind has the parameter Scale.
func (k Kind) UsesScale() bool { return k.entry().usesScale }

// entry returns the kind's line of the registry, an empty one for a name that is none.
func (k Kind) entry() kind {
	name := Kind(k.String())
	if i := slices.IndexFunc(registry, func(e kind) bool { return e.name == name }); i >= 0 {
		return registry[i]
	}
	return kind{}
}

// Rule turns scores into votes.
type Rule struct {
	Kind  Kind
	Scale Scale   // where the kind uses it
	K     float64 // where the kind uses it; at least 0

	partial bool // systems rank a part of all documents, as runs do
}

// OfRuns returns the rule for systems of which each ranks a part of all documents, as runs do. A
// document that is the only one of its query and system then counts 1 by MinMax and Sum.
func (r Rule) OfRuns() Rule {
	r.partial = true
	return r
}

// Check returns an error if the rule makes no sense.
func (r Rule) Check() error {
	k := r.Kind.entry()
	switch {
	case k.votes == nil || r.Scale < 0 || int(r.Scale) >= len(scaleNames):
		return fmt.Errorf("found the rule %q with the scale %d, expected known ones", string(r.Kind), r.Scale)
	case k.usesK && !(r.K >= 0 && r.K <= math.MaxFloat32):
		return fmt.Errorf("found k = %v, expected a number from 0 on", r.K)
	case k.check != nil:
		return k.check(r)
	}
	return nil
}

// Votes replaces the scores of one query by votes; scores[s] are system s's, one a
// document. To documents that it did not retrieve ([dataset.NotRetrieved]) a system gives
// 0 by RRF and by the scales MinMax and Sum, and its least vote by other scales. By Borda they
// tie at the end, as Aslam and Montague have it.
// Other scores that are not finite make all votes of their system NaN. It panics with the
// error of [Rule.Check] if there is one.
func (r Rule) Votes(scores [][]float64) {
	if err := r.Check(); err != nil {
		panic("fuse: " + err.Error())
	}
	finite := scores
	if slices.ContainsFunc(scores, func(s []float64) bool { return slices.ContainsFunc(s, notFinite) }) {
		finite = nil
		for _, s := range scores {
			if !slices.ContainsFunc(s, notFinite) {
				finite = append(finite, s)
				continue
			}
			for i := range s {
				s[i] = math.NaN()
			}
		}
	}
	r.Kind.entry().votes(r, finite)
}

func notFinite(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 1) }

// voteRetrieved has vote replace the scores of the documents that a system retrieved, and
// sets the votes for all others to what least returns of these.
func voteRetrieved(scores []float64, vote func(retrieved []float64), least func(votes []float64) float64) {
	retrieved := slices.DeleteFunc(slices.Clone(scores), isAbsent)
	vote(retrieved)
	if len(retrieved) == len(scores) {
		copy(scores, retrieved)
		return
	}
	absent := 0.0
	if len(retrieved) > 0 {
		absent = least(retrieved)
	}
	next := 0
	for i, s := range scores {
		if isAbsent(s) {
			scores[i] = absent
			continue
		}
		scores[i] = retrieved[next]
		next++
	}
}

func isAbsent(score float64) bool { return score == dataset.NotRetrieved }

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
