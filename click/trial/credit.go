// Package trial decides experiments in use from their pages: which of two interleaved models users
// prefer, and whether measures differ between the arms of a split.
//
// Start reading at [Credit] and [Preferences] for interleavings, and at [Split] for splits. The unit of
// all tests is the user. The package must not depend on how pages are served. Its tests are those of
// package stats.
package trial

import (
	"fmt"
	"slices"

	"github.com/listwise/listwise/click"
	"github.com/listwise/listwise/dataset"
)

// Method is a method of interleaving.
type Method string

// The methods of interleaving.
const (
	None          Method = ""              // one model ranked
	TeamDraft     Method = "team draft"    // Radlinski, Kurup, Joachims, CIKM 2008
	Probabilistic Method = "probabilistic" // Hofmann, Whiteson, de Rijke, CIKM 2011
	Balanced      Method = "balanced"      // Joachims 2003; unfair to models that rank alike
)

// MethodOf returns how a page was interleaved.
func MethodOf(p *click.Page) Method {
	switch {
	case p.Softmax != nil:
		return Probabilistic
	case p.Balanced[0] != nil || p.Balanced[1] != nil:
		return Balanced
	case p.Team != nil:
		return TeamDraft
	}
	return None
}

// Clicks are the clicks of a page that give credit.
type Clicks string

// All clicks give credit, or the first or the last one. Without the order of clicks, the first click is the
// one at the top.
const (
	All   Clicks = "all"
	First Clicks = "first"
	Last  Clicks = "last"
)

// of returns the ranks that give credit, each once.
func (c Clicks) of(p *click.Page) []int {
	ranks := p.Order
	if c == All || ranks == nil {
		ranks = nil
		for r := range p.Docs {
			if p.Clicked(r) {
				ranks = append(ranks, r)
			}
		}
	}
	switch {
	case len(ranks) == 0 || c == All:
		return ranks
	case c == First:
		return ranks[:1]
	}
	return ranks[len(ranks)-1:]
}

// Credit returns what the clicks on an interleaved page say for the second model, and against the first
// if it is negative.
//
// Team draft: the number of clicks on the second team minus those on the first. Probabilistic: the
// expectation of this number over all assignments of the shown documents to the models. It is the sum
// over clicks of (q − p)/(p + q), where p and q are the softmax probabilities of the first and the second
// model. Both have mean 0 if clicks do not depend on what the documents are.
//
// Balanced: the sign of the number of clicks on the second model's top k minus those on the first's.
// k is the least depth at which a ranking has the lowest clicked document. Its mean need not be 0 for
// such clicks: with one random click, 1 2 3 against 2 3 1 has mean 1/3.
func Credit(p *click.Page, clicks Clicks) (float64, error) {
	if p.Clicks == nil {
		return 0, errNoClicks
	}
	ranks := clicks.of(p)
	credit := 0.0
	switch MethodOf(p) {
	case None:
		return 0, bad("a page that is not interleaved", "team, softmax or balanced")
	case TeamDraft:
		for _, r := range ranks {
			switch p.Team[r] {
			case 0:
				credit--
			case 1:
				credit++
			default:
				return 0, bad(fmt.Sprintf("team %d", p.Team[r]), "0 or 1")
			}
		}
	case Probabilistic:
		for _, r := range ranks {
			first, second := p.Softmax[r][0], p.Softmax[r][1]
			credit += (second - first) / (first + second)
		}
	case Balanced:
		return balanced(p, ranks)
	}
	return credit, nil
}

// balanced returns the credit of a page of balanced interleaving.
func balanced(p *click.Page, ranks []int) (float64, error) {
	if len(ranks) == 0 {
		return 0, nil
	}
	lowest := p.Docs[slices.Max(ranks)]
	depth := -1
	for _, ranking := range p.Balanced {
		if k := slices.Index(ranking, lowest); k >= 0 && (depth < 0 || k < depth) {
			depth = k
		}
	}
	if depth < 0 {
		return 0, bad(fmt.Sprintf("a click on document %q, which neither ranking in balanced has", lowest), "one of them to have it")
	}
	var tops [2]int
	for k, ranking := range p.Balanced {
		top := ranking[:min(depth+1, len(ranking))]
		for _, r := range ranks {
			if slices.Contains(top, p.Docs[r]) {
				tops[k]++
			}
		}
	}
	return float64(sign(float64(tops[1] - tops[0]))), nil
}

func bad(found, expected string) error { return &dataset.FormatError{Found: found, Expected: expected} }

var (
	errNoClicks = bad("a page without clicks", "clicks or clicked")
	errNoTime   = bad("a page without time", "the time of every page")
	errWeight   = bad("a weight", "weight 1 of a page that is counted by itself, as those without user are")
)

func sign(v float64) int {
	switch {
	case v > 0:
		return 1
	case v < 0:
		return -1
	}
	return 0
}
