package engine

import (
	"cmp"
	"math"
	"slices"

	"github.com/listwise/listwise/dataset/featurelog"
)

// Own is a document with a model's own score and the features that it was computed from.
type Own struct {
	ID       string
	Score    float64
	Features map[string]float64
}

// Parity is the result of a comparison of an engine's scores with a model's.
type Parity struct {
	Queries   int // with documents that both have
	Documents int // that both have
	Absent    int // documents that the engine did not return
	Further   int // documents of the engine that the data lack
	Unmatched int // queries without a common document

	// Constant is what the engine's scores have in addition, as if an export omits an intercept: the median difference, or
	// 0 if half of the documents differ by no more than the tolerance. It changes no order.
	Constant  float64
	Largest   float64 // difference, after the constant; relative for scores beyond ±1
	Different int     // documents beyond the tolerance
	Changed   int     // documents with other features than the data's
	Reordered []string
	Ties      int // queries in another order only among scores within the tolerance
	First     *Difference
}

// Difference is a document whose scores differ.
type Difference struct {
	Query, Document string
	Own, Live       float64 // Live without Parity.Constant
	Features        []Change
}

// Change is a feature's value in the data and in the engine. NaN is none.
type Change struct {
	Name         string
	Logged, Live float64
}

// pair is a document that both have.
type pair struct {
	query string
	own   Own
	live  featurelog.Document
}

// Compare compares the answers of an engine with a model's own scores, query by query.
func Compare(queries []string, own [][]Own, live [][]featurelog.Document, tolerance float64) *Parity {
	p := &Parity{}
	var all [][]pair
	var differences []float64
	for i, query := range queries {
		pairs := p.join(query, own[i], live[i])
		for _, d := range pairs {
			differences = append(differences, d.live.Score-d.own.Score)
		}
		all = append(all, pairs)
	}
	p.Documents = len(differences)
	if p.Documents == 0 {
		return p
	}
	slices.Sort(differences)
	lower, upper := differences[(p.Documents-1)/2], differences[p.Documents/2]
	if min(math.Abs(lower), math.Abs(upper)) > tolerance {
		p.Constant = upper
	}
	for _, pairs := range all {
		p.scores(pairs, tolerance)
		p.order(pairs, tolerance)
	}
	return p
}

// join pairs the documents of a query in the order of the data.
func (p *Parity) join(query string, own []Own, live []featurelog.Document) []pair {
	at := make(map[string]featurelog.Document, len(live))
	for _, d := range live {
		at[d.ID] = d
	}
	var pairs []pair
	for _, o := range own {
		if d, ok := at[o.ID]; ok {
			pairs = append(pairs, pair{query, o, d})
		}
	}
	p.Absent += len(own) - len(pairs)
	p.Further += len(at) - len(pairs)
	if pairs == nil {
		p.Unmatched++
	} else {
		p.Queries++
	}
	// In the engine's order, which breaks ties of its scores by its own rule.
	place := make(map[string]int, len(live))
	for i, d := range live {
		place[d.ID] = i
	}
	slices.SortStableFunc(pairs, func(a, b pair) int { return cmp.Compare(place[a.own.ID], place[b.own.ID]) })
	return pairs
}

// scores compares the scores of a query.
func (p *Parity) scores(pairs []pair, tolerance float64) {
	for _, d := range pairs {
		difference := distance(d.own.Score, d.live.Score-p.Constant)
		p.Largest = max(p.Largest, difference)
		changes := changesOf(d)
		if slices.ContainsFunc(changes, Change.Differs) {
			p.Changed++
		}
		if !(difference <= tolerance) { // nor is NaN
			p.Different++
			if p.First == nil {
				p.First = &Difference{d.query, d.own.ID, d.own.Score, d.live.Score - p.Constant, changes}
			}
		}
	}
}

// order compares the order of a query. Scores within the tolerance are ties.
func (p *Parity) order(pairs []pair, tolerance float64) {
	least, tied := math.Inf(1), false
	for _, d := range pairs {
		s := d.own.Score
		if s > least && distance(s, least) > tolerance {
			p.Reordered = append(p.Reordered, d.query)
			return
		}
		tied = tied || s > least
		least = min(least, s)
	}
	if tied {
		p.Ties++
	}
}

// distance is |a−b|, relative to the larger of both where that is more than 1.
func distance(a, b float64) float64 {
	return math.Abs(a-b) / max(1, math.Abs(a), math.Abs(b))
}

// changesOf returns the features of a document by name. Differing features come first.
func changesOf(d pair) []Change {
	names := make(map[string]bool)
	for name := range d.own.Features {
		names[name] = true
	}
	var list []Change
	for name := range names {
		live, ok := d.live.Features[name]
		if !ok {
			live = math.NaN()
		}
		list = append(list, Change{name, d.own.Features[name], live})
	}
	slices.SortFunc(list, func(a, b Change) int {
		if a.Differs() != b.Differs() {
			if a.Differs() {
				return -1
			}
			return 1
		}
		return cmp.Compare(a.Name, b.Name)
	})
	return list
}

// Differs reports whether a value is another than in the data, beyond the rounding of float32, however small both are.
// The engine has 0 for what is missing in the data.
func (c Change) Differs() bool {
	logged, live := c.Logged, c.Live
	if math.IsNaN(logged) {
		logged = 0
	}
	if math.IsNaN(live) {
		live = 0
	}
	return math.Abs(logged-live) > 1e-6*max(math.Abs(logged), math.Abs(live))
}
