package dataset

import (
	"fmt"
	"strings"
)

// ConflictPolicy says which documents are removed when copies of one document contradict each other. Such copies
// are in the same query; one is good (its grade reaches the threshold) and another bad. The LogRank paper (Dubey
// et al., ICDM 2009) removed contradictory documents before training and testing, but does not say which. The
// policies are the possible readings of that sentence. The command line calls them R0 to R3.
type ConflictPolicy uint8

const (
	// KeepAll (R0) removes nothing.
	KeepAll ConflictPolicy = iota

	// DropAll (R1) removes all contradicting copies. Copies have the same features.
	DropAll

	// DropBad (R2) removes the bad documents among contradicting copies. Copies have the same features. Of all
	// policies, its results on OHSUMED are closest to the paper's.
	DropBad

	// DropBadByID (R3) removes the bad documents among contradicting copies. Copies have the same document
	// identifier.
	DropBadByID
)

var policies = []struct{ name, about string }{
	KeepAll:     {"R0", "remove nothing"},
	DropAll:     {"R1", "remove all copies with the same features if some are good and others bad"},
	DropBad:     {"R2", "remove the bad copies with the same features if others are good"},
	DropBadByID: {"R3", "remove the bad copies with the same document id if others are good"},
}

// ConflictPolicies returns all policies in order.
func ConflictPolicies() []ConflictPolicy {
	return []ConflictPolicy{KeepAll, DropAll, DropBad, DropBadByID}
}

// ParseConflictPolicy reads "R0", "R1", "R2" or "R3", in either case.
func ParseConflictPolicy(name string) (ConflictPolicy, error) {
	for i, p := range policies {
		if strings.EqualFold(name, p.name) {
			return ConflictPolicy(i), nil
		}
	}
	return 0, fmt.Errorf("found %q, expected R0, R1, R2 or R3", name)
}

// String returns R0, R1, R2 or R3.
func (p ConflictPolicy) String() string { return policies[p].name }

// About returns what the policy removes, in a few words.
func (p ConflictPolicy) About() string { return policies[p].about }

// MarshalText returns the name.
func (p ConflictPolicy) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// CleanReport counts what cleaning removed.
type CleanReport struct {
	Policy    ConflictPolicy `json:"reading"`   // the policy that was applied
	Threshold float64        `json:"threshold"` // lowest good grade

	// Contradictions is the number of sets of copies that have good and bad documents.
	Contradictions int `json:"contradictions"`

	Good    int `json:"good_removed"`    // number of good documents that were removed
	Bad     int `json:"bad_removed"`     // number of bad documents that were removed
	Queries int `json:"queries_removed"` // number of queries that were removed because no document was left
}

// Clean returns d without the documents that the policy removes. The report counts them. A grade of at least
// threshold is good.
func Clean(d *Dataset, r ConflictPolicy, threshold float64) (*Dataset, CleanReport) {
	return CleanObserved(d, r, threshold, nil)
}

// CleanObserved does the work of Clean. If observe is not nil, it is called after every query with the number
// of queries done and the total.
func CleanObserved(
	d *Dataset, r ConflictPolicy, threshold float64, observe func(done, total int),
) (*Dataset, CleanReport) {
	report := CleanReport{Policy: r, Threshold: threshold}
	drop := make([]bool, d.Docs())
	var find copyFinder
	rows := d.Reader()
	for i := range d.Queries {
		q := rows.Query(i)
		contradictions(&find, q, r, threshold, func(copies []int) {
			report.Contradictions++
			for _, j := range copies {
				good := q.Grades[j] >= threshold
				switch {
				case good && r == DropAll:
					report.Good++
				case !good:
					report.Bad++
				default:
					continue
				}
				drop[q.Start+j] = true
			}
		})
		if observe != nil {
			observe(i+1, len(d.Queries))
		}
	}
	kept := d.KeepDocs(func(query, doc int) bool { return !drop[d.Queries[query].Start+doc] })
	report.Queries = len(d.Queries) - len(kept.Queries)
	return kept, report
}

// contradictions calls visit for each set of copies, as the policy defines them, that has good and bad
// documents.
func contradictions(find *copyFinder, q *Query, r ConflictPolicy, threshold float64, visit func(copies []int)) {
	if good := q.Relevant(threshold); good == 0 || good == q.Len() {
		return
	}
	check := func(docs []int) {
		if mixed(q.Grades, docs, threshold) {
			visit(docs)
		}
	}
	switch r {
	case DropAll, DropBad:
		find.vectors(q, check)
	case DropBadByID:
		find.ids(q, check)
	}
}

// DropEmptyQueries returns d without the queries in which no grade reaches threshold. It also returns the ids
// of the queries removed.
func DropEmptyQueries(d *Dataset, threshold float64) (*Dataset, []string) {
	var dropped []string
	kept := d.Filter(func(q *Query) bool {
		if q.Relevant(threshold) > 0 {
			return true
		}
		dropped = append(dropped, q.ID)
		return false
	})
	return kept, dropped
}
