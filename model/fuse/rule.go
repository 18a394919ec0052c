// Package fuse combines the rankings of several systems into one. A system is anything that scores
// documents.
//
// A rule turns each system's scores for a query into votes. The fused score is the weighted sum of the
// votes. Start reading at [Rule]. Each kind of rule has its own file and a line in registry, from which
// help texts are printed. The package must not depend on the source of scores or weights.
package fuse

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/internal/suggest"
)

// Kind is the name of a method of turning scores into votes. If a system gives documents equal scores,
// they get equal votes. The empty name means RRF.
type Kind string

// kind describes one kind of rule.
type kind struct {
	name  Kind
	about string // definition of a vote, for help texts

	usesK, usesScale bool // parameters of Rule

	check func(r Rule) error               // checks combinations of parameters; may be nil
	votes func(r Rule, scores [][]float64) // see Rule.Votes; every score is finite or dataset.NotRetrieved
}

// registry lists all kinds of rules, in the order of help texts. A new kind needs its own file and a
// line here.
var registry = []kind{
	rrf,
	combSUM,
	combMNZ,
	borda,
}

// Kinds returns the names that ParseKind accepts.
func Kinds() []string {
	names := make([]string, len(registry))
	for i, k := range registry {
		names[i] = string(k.name)
	}
	return names
}

// ParseKind returns the kind with the given name.
func ParseKind(name string) (Kind, error) {
	if slices.Contains(Kinds(), name) {
		return Kind(name), nil
	}
	return "", fmt.Errorf("found the rule %q%s", name, suggest.Or(name, Kinds(), ", expected "+strings.Join(Kinds(), ", ")))
}

// String returns the name that ParseKind accepts.
func (k Kind) String() string {
	if k == "" {
		return string(RRF)
	}
	return string(k)
}

// About defines the kind's vote in a few words.
func (k Kind) About() string { return k.entry().about }

// UsesK reports whether a rule of kind k uses the parameter K.
func (k Kind) UsesK() bool { return k.entry().usesK }

// UsesScale reports whether a rule of kind k uses the parameter Scale.
func (k Kind) UsesScale() bool { return k.entry().usesScale }

// entry returns the registry's entry for k, or an empty entry if the name is unknown.
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
	Scale Scale   // used if Kind.UsesScale()
	K     float64 // used if Kind.UsesK(); at least 0

	partial bool // each system may rank only some of the documents, as a run does
}

// OfRuns returns the rule for systems that may rank only some of the documents, as runs do. With the
// scales MinMax and Sum, a document that is the only one of its query and system then gets the vote 1.
func (r Rule) OfRuns() Rule {
	r.partial = true
	return r
}

// Check returns an error if the kind or the scale is unknown, K is out of range, or the kind rejects
// the scale.
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

// Votes replaces the scores of one query by votes. scores[s] contains system s's score for each
// document.
//
// A document with the score [dataset.NotRetrieved] gets a low vote. With RRF and with the scales MinMax
// and Sum, the vote is 0. With other scales, it is the system's lowest vote. With Borda, such documents
// tie at the end of the ranking, as in Aslam and Montague.
//
// If a system has a NaN or +∞ among its scores, all its votes become NaN. Votes panics if [Rule.Check]
// returns an error.
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

// voteRetrieved calls vote, which replaces the scores of the retrieved documents by votes. The other
// documents get the vote that least returns for those votes, or 0 if no document was retrieved.
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

// Add sets dst to the weighted sum of the systems' votes for each document.
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
