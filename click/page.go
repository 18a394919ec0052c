package click

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/listwise/listwise/dataset"
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
	// Order has the ranks of the clicked documents in the order of the clicks, or is nil if unknown. A rank may
	// occur again.
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

	// Pairs is 1 + the upper rank of the first of the pairs (FairPairs) of neighbours that could have been exchanged,
	// 0 if there were none. Exchanged has the upper ranks of the pairs that were exchanged.
	Pairs     int
	Exchanged []int

	Shuffled int // number of documents from the top in uniformly random order

	Candidates []string // all documents that could have been shown, or nil
	Orders     []Order  // all rankings that could have been shown, the one shown among them, or nil

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

// Check returns an error if the page breaks a rule of the format. It needs no clicks. The error is a
// [*dataset.FormatError].
func (p *Page) Check() error {
	n := len(p.Docs)
	switch {
	case p.Query == "":
		return bad("no query", "its id")
	case n == 0:
		return bad("no documents", "at least one")
	case n > MaxDocs:
		return bad(fmt.Sprintf("%d documents", n), fmt.Sprintf("at most %d", MaxDocs))
	}
	if d, twice := repeated(p.Docs); twice {
		return bad(fmt.Sprintf("document %q twice", d), "each document once")
	}
	for _, f := range [...]struct {
		name string
		len  int
		is   bool
	}{
		{"slots", len(p.Slots), p.Slots != nil}, {"clicks", len(p.Clicks), p.Clicks != nil}, {"team", len(p.Team), p.Team != nil},
		{"propensities", len(p.Propensities), p.Propensities != nil},
	} {
		if f.is && f.len != n {
			return bad(fmt.Sprintf("%d %s", f.len, f.name), fmt.Sprintf("%d, one for each document", n))
		}
	}
	if slices.Contains(p.Docs, "") {
		return bad("a document without an id", "an id of each")
	}
	if slices.Contains(p.Slots, "") {
		return bad("a slot without a name", "a name of each")
	}
	for r, c := range p.Clicks {
		if c < 0 {
			return bad(fmt.Sprintf("%d clicks on document %q", c, p.Docs[r]), "0 or more")
		}
	}
	for _, r := range p.Order {
		switch {
		case r < 0 || r >= n:
			return bad(fmt.Sprintf("rank %d in order", r+1), fmt.Sprintf("ranks from 1 to %d", n))
		case p.Clicks != nil && p.Clicks[r] == 0:
			return bad(fmt.Sprintf("rank %d in order", r+1), "ranks with clicks")
		}
	}
	for r, t := range p.Team {
		if t < 0 {
			return bad(fmt.Sprintf("team %d of document %q", t, p.Docs[r]), "0 or more")
		}
	}
	if p.Propensity != 0 {
		if err := probability("propensity", "", p.Propensity); err != nil {
			return err
		}
	}
	for r, v := range p.Propensities {
		if err := probability("propensity of document ", p.Docs[r], v); err != nil {
			return err
		}
	}
	if s := p.Swapped; s != [2]int{} && (min(s[0], s[1]) < 0 || max(s[0], s[1]) >= n || s[0] == s[1]) {
		return bad(fmt.Sprintf("swapped ranks %d and %d", s[0]+1, s[1]+1), fmt.Sprintf("two different ranks from 1 to %d", n))
	}
	if p.Swap && p.Swapped == [2]int{} {
		return bad("swap without swapped", "swapped, the ranks that were exchanged")
	}
	if err := p.checkPairs(); err != nil {
		return err
	}
	if p.Shuffled < 0 || p.Shuffled > n {
		return bad(fmt.Sprintf("%d shuffled documents", p.Shuffled), fmt.Sprintf("0 to %d", n))
	}
	if !(p.Weight >= 0) || math.IsInf(p.Weight, 0) {
		return bad(fmt.Sprintf("weight %v", p.Weight), "a finite number of 0 or more")
	}
	if err := p.checkCandidates(); err != nil {
		return err
	}
	if err := p.checkInterleaved(); err != nil {
		return err
	}
	return p.checkOrders()
}

// checkPairs returns an error unless the pairs that were exchanged are among those that could have been.
func (p *Page) checkPairs() error {
	if p.Pairs < 0 || p.Pairs > 2 {
		return bad(fmt.Sprintf("pairs %d", p.Pairs), "1 or 2, the upper rank of the first pair")
	}
	for i, r := range p.Exchanged {
		if p.Pairs == 0 || r < p.Pairs-1 || (r-p.Pairs+1)%2 != 0 || r+1 >= len(p.Docs) || slices.Contains(p.Exchanged[:i], r) {
			return bad(fmt.Sprintf("exchanged rank %d with pairs %d", r+1, p.Pairs), "upper ranks of pairs, each once")
		}
	}
	return nil
}

// checkCandidates returns an error unless the candidates include all documents, each once.
func (p *Page) checkCandidates() error {
	if p.Candidates == nil {
		return nil
	}
	if d, twice := repeated(p.Candidates); twice {
		return bad(fmt.Sprintf("candidate %q twice", d), "each document once")
	}
	could := make(map[string]bool, len(p.Candidates))
	for _, d := range p.Candidates {
		could[d] = true
	}
	for _, d := range p.Docs {
		if !could[d] {
			return bad(fmt.Sprintf("document %q, which is no candidate", d), "all documents among the candidates")
		}
	}
	return nil
}

// checkOrders returns an error unless the ranking shown is among the possible ones, whose probabilities have the sum 1.
func (p *Page) checkOrders() error {
	if p.Orders == nil {
		return nil
	}
	sum, shown := 0.0, false
	for i, o := range p.Orders {
		if d, twice := repeated(o.Docs); twice {
			return bad(fmt.Sprintf("document %q twice in ranking %d of orders", d, i+1), "each document once")
		}
		if len(o.Docs) == 0 {
			return bad(fmt.Sprintf("no documents in ranking %d of orders", i+1), "at least one")
		}
		if err := probability("probability of ranking ", strconv.Itoa(i+1), o.Probability); err != nil {
			return err
		}
		sum += o.Probability
		shown = shown || slices.Equal(o.Docs, p.Docs)
	}
	const slack = 1e-6 // probabilities may be rounded
	switch {
	case math.Abs(sum-1) > slack:
		return bad(fmt.Sprintf("orders with probabilities of %v in total", sum), "1")
	case !shown:
		return bad("orders without the ranking shown", "it among them: the log says that a ranking was shown that could not have been shown")
	}
	return nil
}

// bad returns an error about the content of a page.
func bad(found, expected string) error { return &dataset.FormatError{Found: found, Expected: expected} }

// probability returns an error unless v, of what or of the quoted name, is in (0, 1].
func probability(what, name string, v float64) error {
	if v > 0 && v <= 1 {
		return nil
	}
	if name != "" {
		what += strconv.Quote(name)
	}
	if v == 0 {
		return bad(what+" 0", "more: the log says that a ranking was shown that could not have been shown")
	}
	return bad(fmt.Sprintf("%s %v", what, v), "a number above 0 and at most 1")
}

// repeated returns a document that occurs twice.
func repeated(docs []string) (doc string, twice bool) {
	if len(docs) <= 32 { // faster than a map
		endings := uint64(0) // a set of hashes of the last two bytes, which ids with a common beginning differ in
		for i, d := range docs {
			ending := uint(0)
			if n := len(d); n > 1 {
				ending = uint(d[n-1]) + 10*uint(d[n-2])
			}
			bit := uint64(1) << (ending % 64)
			if endings&bit != 0 && slices.Contains(docs[:i], d) {
				return d, true
			}
			endings |= bit
		}
		return "", false
	}
	seen := make(map[string]bool, len(docs))
	for _, d := range docs {
		if seen[d] {
			return d, true
		}
		seen[d] = true
	}
	return "", false
}
