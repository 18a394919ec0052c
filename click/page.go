package click

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"
)

// MaxDocs is the largest number of documents of a page.
const MaxDocs = 1000

// Page is one ranking shown once. Ranks count from 0 at the top.
type Page struct {
	ID   string    // empty if pages have no ids
	Time time.Time // zero if unknown
	User string    // empty if unknown; the page is then independent of all others

	Query string
	Docs  []string // from top to bottom, 1 to MaxDocs, without repetition

	// Slots has the name of the place where each document stood. If it is nil, the places are the ranks,
	// named 1, 2, ….
	Slots []string

	// Clicks has the number of clicks on each document. It is nil if the file has no clicks.
	Clicks []int
	// Order has the ranks of the clicked documents in the order of the clicks, or is nil if unknown.
	Order []int

	Experiment, Arm, Version string
	Team                     []int // the team of each document in an interleaved ranking, or nil

	// Softmax has, for each document of a page of probabilistic interleaving, the probabilities that the
	// first and the second model would have drawn it for its place. It is nil for other pages.
	Softmax [][2]float64
	// Balanced has the rankings of the first and the second model, for a page of balanced interleaving.
	Balanced [2][]string

	// Propensity is the probability of the whole ranking given the query and the user, 0 if unknown.
	Propensity float64
	// Propensities has the probability that each document stood in its slot, or is nil.
	Propensities []float64

	// Swapped has two ranks that were drawn for exchange. Swap reports whether they were exchanged.
	// Both ranks are 0 if none were drawn.
	Swapped [2]int
	Swap    bool

	Shuffled int // number of documents from the top in uniformly random order

	Candidates []string // all documents that could have been shown, or nil
	Orders     []Order  // all rankings that could have been shown, or nil

	Weight float64 // the page counts as this many pages
	Line   int     // line in the file, 0 if none
}

// Order is a ranking that could have been shown.
type Order struct {
	Docs        []string
	Probability float64
}

// Clicked reports whether the document at a rank was clicked.
func (p *Page) Clicked(rank int) bool { return p.Clicks[rank] > 0 }

// Check returns an error that says what was found and what was expected if the page breaks a rule of
// the format. It needs no clicks.
func (p *Page) Check() error {
	n := len(p.Docs)
	switch {
	case p.Query == "":
		return errors.New("found no query, expected its id")
	case n == 0:
		return errors.New("found no documents, expected at least one")
	case n > MaxDocs:
		return fmt.Errorf("found %d documents, expected at most %d", n, MaxDocs)
	}
	if err := unique(p.Docs); err != nil {
		return err
	}
	for _, f := range []struct {
		name string
		len  int
		is   bool
	}{
		{"slots", len(p.Slots), p.Slots != nil}, {"clicks", len(p.Clicks), p.Clicks != nil}, {"team", len(p.Team), p.Team != nil},
		{"propensities", len(p.Propensities), p.Propensities != nil}, {"softmax", len(p.Softmax), p.Softmax != nil},
	} {
		if f.is && f.len != n {
			return fmt.Errorf("found %d %s, expected %d, one for each document", f.len, f.name, n)
		}
	}
	for r, c := range p.Clicks {
		if c < 0 {
			return fmt.Errorf("found %d clicks on document %q, expected 0 or more", c, p.Docs[r])
		}
	}
	if p.Propensity != 0 {
		if err := probability("propensity", p.Propensity); err != nil {
			return err
		}
	}
	for r, v := range p.Propensities {
		if err := probability(fmt.Sprintf("propensity of document %q", p.Docs[r]), v); err != nil {
			return err
		}
	}
	for r, v := range p.Softmax {
		if !(v[0] >= 0 && v[0] <= 1 && v[1] >= 0 && v[1] <= 1 && v[0]+v[1] > 0) {
			return fmt.Errorf("found softmax probabilities %v and %v of document %q, expected two from 0 to 1 that are not both 0", v[0], v[1], p.Docs[r])
		}
	}
	for _, ranking := range p.Balanced {
		if err := unique(ranking); err != nil {
			return fmt.Errorf("balanced: %w", err)
		}
	}
	if s := p.Swapped; s != [2]int{} && (min(s[0], s[1]) < 0 || max(s[0], s[1]) >= n || s[0] == s[1]) {
		return fmt.Errorf("found swapped ranks %d and %d, expected two different ranks from 1 to %d", s[0]+1, s[1]+1, n)
	}
	if p.Shuffled < 0 || p.Shuffled > n {
		return fmt.Errorf("found %d shuffled documents, expected 0 to %d", p.Shuffled, n)
	}
	if !(p.Weight >= 0) || math.IsInf(p.Weight, 0) {
		return fmt.Errorf("found weight %v, expected a finite number of 0 or more", p.Weight)
	}
	return nil
}

// probability returns an error unless v is in (0, 1].
func probability(what string, v float64) error {
	switch {
	case v == 0:
		return fmt.Errorf("found %s 0, expected more: the log says that what was shown could not have been shown", what)
	case !(v > 0 && v <= 1):
		return fmt.Errorf("found %s %v, expected a number above 0 and at most 1", what, v)
	}
	return nil
}

// unique returns an error if a document occurs twice.
func unique(docs []string) error {
	if len(docs) <= 32 { // faster than a map
		for i, d := range docs {
			if slices.Contains(docs[:i], d) {
				return fmt.Errorf("found document %q twice, expected each document once", d)
			}
		}
		return nil
	}
	seen := make(map[string]bool, len(docs))
	for _, d := range docs {
		if seen[d] {
			return fmt.Errorf("found document %q twice, expected each document once", d)
		}
		seen[d] = true
	}
	return nil
}
