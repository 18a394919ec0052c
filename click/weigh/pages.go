package weigh

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"

	"github.com/listwise/listwise/dataset"
)

// PageRows has a query for each distinct page, in the order of the features, and a row for each of its documents, in
// the order shown. Learners that estimate the bias of slots themselves use it. Pages without a click, or with clicks on
// all documents, teach no order and are left out.
type PageRows struct {
	// Data has grade 1 for a click and 0 without. The id of a query is that of the log's query, a slash and a number.
	// The weight of a query is the number of such pages, times the factor by which Options.QueryWeight changes the
	// weight of the log's query. Weights are scaled to mean 1.
	Data *dataset.Dataset
	// Slots has the slot of each row, as an index of Names, which are in the order of their mean ranks.
	Slots []int
	Names []string
	Tally
}

var (
	errNotKept = errors.New("found a log without distinct pages, expected one with Keep")
	errAlike   = errors.New("found no page with clicks on some documents and not on others, expected some")
)

// PageRows makes training data of pages. Memory grows with the distinct pages, so Counts.Keep must have been set
// before Add. Of the options, it uses QueryWeight, MaxMissing and Keep.
func (l *Log) PageRows(ctx context.Context, features *dataset.Dataset, o Options) (*PageRows, error) {
	o.Debias, o.Propensities = None, nil
	if err := o.check(); err != nil {
		return nil, err
	}
	if !l.Keep {
		return nil, errNotKept
	}
	r := &PageRows{}
	picks, err := l.pick(features, &o, &r.Tally)
	if err != nil {
		return nil, err
	}
	var slots []int
	slots, r.Names = l.order()
	of := l.patternsOf()
	var pages []pick
	var grades, weights []float64
	var ids []string
	sum := 0.0
	for i := range picks {
		p := &picks[i]
		q := &features.Queries[p.query]
		at := make(map[int32]int, len(p.docs)) // documents by pairs
		for _, j := range p.docs {
			at[int32(l.Lookup(q.ID, q.DocID(j)))] = j
		}
		for k, n := range of[q.ID] {
			page, pattern := pick{query: p.query}, l.Patterns.At(n)
			from, clicks := len(grades), 0.0
			for rank, pair := range pattern.Pairs {
				j, ok := at[pair]
				if !ok {
					continue
				}
				grade := 0.0
				if pattern.Clicked[rank] {
					grade = 1
				}
				clicks += grade
				page.docs, grades, r.Slots = append(page.docs, j), append(grades, grade), append(r.Slots, slots[pattern.Slots[rank]])
			}
			if clicks == 0 || clicks == float64(len(page.docs)) {
				grades, r.Slots = grades[:from], r.Slots[:from]
				continue
			}
			w := float64(pattern.Weight * (o.QueryWeight.of(p.pages) / p.pages))
			pages, ids, weights = append(pages, page), append(ids, q.ID+"/"+strconv.Itoa(k+1)), append(weights, w)
			sum += w
		}
	}
	if len(pages) == 0 {
		return nil, errAlike
	}
	for i := range weights {
		weights[i] *= float64(len(weights)) / sum
	}
	b, err := l.blocks(ctx, features, pages)
	if err != nil {
		return nil, err
	}
	b.IDs, b.Grades, b.QueryWeights = ids, grades, weights
	r.Data = made(b, features)
	return r, nil
}

// patternsOf returns the distinct pages of each query.
func (l *Log) patternsOf() map[string][]int {
	of := make(map[string][]int, l.Queries())
	for n := range l.Patterns.Len() {
		query, _ := l.Name(int(l.Patterns.At(n).Pairs[0]))
		of[query] = append(of[query], n)
	}
	return of
}

// order returns the place of each slot of Counts in the order of mean ranks, and the names in this order. Slots of
// different values with one name are one.
func (l *Log) order() (places []int, names []string) {
	type mean struct{ ranks, shown float64 }
	of := map[string]*mean{}
	slots := l.Slots()
	for s := range slots {
		name := l.place(s).slot
		if of[name] == nil {
			of[name] = &mean{}
			names = append(names, name)
		}
	}
	for i, c := range l.Cells.List {
		m, n := of[l.place(int(c.Slot)).slot], l.Cells.Counts[i].Shown
		m.ranks += float64(n * float64(c.Rank))
		m.shown += n
	}
	slices.SortStableFunc(names, func(a, b string) int {
		return cmp.Compare(of[a].ranks/max(of[a].shown, 1), of[b].ranks/max(of[b].shown, 1))
	})
	places = make([]int, len(slots))
	for s := range slots {
		places[s] = slices.Index(names, l.place(s).slot)
	}
	return places, names
}
