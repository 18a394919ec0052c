package simulate

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/listwise/listwise/click"
	"github.com/listwise/listwise/click/model"
)

// Fitted is a click model that was fitted to a log. It clicks by its conditional probabilities. Pairs of a
// query and a document that the log did not have get the model's parameters for unseen pairs.
type Fitted struct {
	*model.Model

	Unseen int // number of pairs of the queries that the log did not have; set by Bind
}

// Bind implements Model.
func (f *Fitted) Bind(queries []Query, top int) (Bound, error) {
	b := &fitted{f.Model, queries}
	longest := 0
	f.Unseen = 0
	for i := range queries {
		if len(queries[i].Docs) > len(queries[longest].Docs) {
			longest = i
		}
		for _, d := range queries[i].Docs {
			if _, seen := f.Pair(queries[i].ID, d); !seen && f.Grades() {
				f.Unseen++
			}
		}
	}
	q := queries[longest]
	docs := q.Docs[:min(top, len(q.Docs))]
	if _, err := f.Conditional(&click.Page{Query: q.ID, Docs: docs}); err != nil {
		return nil, fmt.Errorf("%w, since %d documents are shown", err, len(docs))
	}
	return b, nil
}

// Describe implements Model.
func (f *Fitted) Describe() (name string, parameters map[string]any) {
	return f.Name, map[string]any{"shared": f.Shared}
}

// Theta implements Model. Only the position-based model has a probability of examination by rank.
func (f *Fitted) Theta(rank int) (theta float64, ok bool) {
	at := slices.Index(f.Slots, (&click.Page{}).SlotName(rank))
	if f.Name != pbmName || at < 0 {
		return 0, false
	}
	return f.Shared[at], true
}

// fitted is a Fitted with the documents.
type fitted struct {
	model   *model.Model
	queries []Query
}

// Draw implements Bound. The probabilities of a page hold down to the next click.
func (b *fitted) Draw(rng *rand.Rand, query int, docs []int, dst []bool) []bool {
	q := &b.queries[query]
	p := &click.Page{Query: q.ID, Docs: make([]string, len(docs)), Clicks: make([]int, len(docs))}
	for r, d := range docs {
		p.Docs[r] = q.Docs[d]
	}
	var probabilities []float64
	for r := range docs {
		if probabilities == nil {
			var err error
			if probabilities, err = b.model.Conditional(p); err != nil {
				panic(err) // Bind has tried the longest page
			}
		}
		clicked := rng.Float64() < probabilities[r]
		if clicked {
			p.Clicks[r], probabilities = 1, nil
		}
		dst = append(dst, clicked)
	}
	return dst
}

// Document implements Bound.
func (b *fitted) Document(query, doc int) (attraction, satisfaction float64) {
	q := &b.queries[query]
	p, _ := b.model.Pair(q.ID, q.Docs[doc])
	if b.model.Satisfaction == nil {
		p.Satisfaction = math.NaN()
	}
	return p.Attraction, p.Satisfaction
}
