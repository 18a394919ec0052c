package dataset

import (
	"fmt"
	"strings"
)

// Reading is a way to read what the LogRank paper (Dubey et al., ICDM 2009) says
// of its data in half a sentence: that contradictory documents were removed
// before training and testing. A document is good if its grade reaches the
// threshold and bad otherwise; it contradicts a copy of itself in the same query
// that is of the other kind. The readings differ in what makes a copy and in
// which copies go.
type Reading uint8

const (
	// R0 removes nothing.
	R0 Reading = iota

	// R1 removes all contradicting copies, where documents with the same feature
	// vector are copies.
	R1

	// R2 removes the bad ones among contradicting copies, where documents with
	// the same feature vector are copies. It comes closest to the paper's results
	// on OHSUMED.
	R2

	// R3 removes the bad ones among contradicting copies, where documents with
	// the same identifier are copies.
	R3
)

var readings = []struct{ name, about string }{
	R0: {"R0", "remove nothing"},
	R1: {"R1", "same features but good and bad: remove all these copies"},
	R2: {"R2", "same features but good and bad: remove the bad copies"},
	R3: {"R3", "same document id but good and bad: remove the bad copies"},
}

// Readings returns all readings in order.
func Readings() []Reading { return []Reading{R0, R1, R2, R3} }

// ParseReading reads "R0", "R1", "R2" or "R3", in either case.
func ParseReading(name string) (Reading, error) {
	for i, r := range readings {
		if strings.EqualFold(name, r.name) {
			return Reading(i), nil
		}
	}
	return 0, fmt.Errorf("found %q, expected R0, R1, R2 or R3", name)
}

// String returns the reading's name.
func (r Reading) String() string { return readings[r].name }

// About returns what the reading removes, in a few words.
func (r Reading) About() string { return readings[r].about }

// MarshalText returns the name.
func (r Reading) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// CleanReport counts what cleaning removed.
type CleanReport struct {
	Reading   Reading `json:"reading"`
	Threshold float64 `json:"threshold"`

	// Contradictions is the number of sets of copies that are good and bad.
	Contradictions int `json:"contradictions"`

	// Good and Bad are the numbers of documents the reading removed, and Queries
	// the number of queries that it left without any document and so removed.
	Good    int `json:"good_removed"`
	Bad     int `json:"bad_removed"`
	Queries int `json:"queries_removed"`
}

// Clean returns d without the documents that the reading removes, and a count of
// them. A grade of at least threshold is good.
func Clean(d *Dataset, r Reading, threshold float64) (*Dataset, CleanReport) {
	return CleanObserved(d, r, threshold, nil)
}

// CleanObserved is Clean, and tells observe, unless that is nil, after every query how
// many of how many were looked at.
func CleanObserved(d *Dataset, r Reading, threshold float64, observe func(done, total int)) (*Dataset, CleanReport) {
	report := CleanReport{Reading: r, Threshold: threshold}
	drop := make([]bool, d.Docs())
	var find copyFinder
	for i := range d.Queries {
		q := &d.Queries[i]
		contradictions(&find, q, r, threshold, func(copies []int) {
			report.Contradictions++
			for _, j := range copies {
				good := q.Grades[j] >= threshold
				switch {
				case good && r == R1:
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

// contradictions visits the sets of copies, as the reading means them, that are
// partly good and partly bad.
func contradictions(find *copyFinder, q *Query, r Reading, threshold float64, visit func(copies []int)) {
	if good := q.Relevant(threshold); good == 0 || good == q.Len() {
		return
	}
	check := func(docs []int) {
		if mixed(q.Grades, docs, threshold) {
			visit(docs)
		}
	}
	switch r {
	case R1, R2:
		find.vectors(q, check)
	case R3:
		find.ids(q, check)
	}
}

// DropEmptyQueries returns d without the queries that have no document graded
// threshold or better, and the ids of those it dropped.
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
