package model

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/listwise/listwise/click"
)

// Model is a click model with its parameters.
type Model struct {
	*Kind
	Prior Prior
	Exact bool // fitted by expectation maximisation although the model has a closed form
	Pages int  // of the log

	// Steps are the iterations of the fit. They are not in the file.
	Steps      []Step
	Iterations int

	// Slots are the names of the slots of models with parameters by slot, and Ranks the number of ranks of
	// models with parameters by rank. Shared are the parameters that pairs share, in the order that the file of
	// the model states.
	Slots  []string
	Ranks  int
	Shared []float64

	// Attraction and Satisfaction are the parameters of the pairs, nil if the model has none. Unseen
	// are those of a pair that the log does not have.
	Attraction   []float64
	Satisfaction []float64
	Unseen       Pair

	names names
}

// Pair has the parameters of a query and a document.
type Pair struct{ Attraction, Satisfaction float64 }

// Pairs returns the number of pairs.
func (m *Model) Pairs() int { return m.names.len() }

// PairName returns the query and the document of a pair.
func (m *Model) PairName(pair int) (query, doc string) { return m.names.name(int32(pair)) }

// Pair returns the parameters of a query and a document, and whether the log had them.
func (m *Model) Pair(query, doc string) (p Pair, seen bool) {
	i := m.names.find(query, doc)
	return m.pair(i), i >= 0
}

// pair returns the parameters of a pair, or of an unseen one if i is −1.
func (m *Model) pair(i int32) Pair {
	if i < 0 {
		return m.Unseen
	}
	p := m.Unseen
	if m.Attraction != nil {
		p.Attraction = m.Attraction[i]
	}
	if m.Satisfaction != nil {
		p.Satisfaction = m.Satisfaction[i]
	}
	return p
}

// Relevance returns how useful a document is for a query: its attraction, times its satisfaction if the model has one,
// and for CCM the square of its attraction. The models of click rates have the rate.
func (m *Model) Relevance(query, doc string) float64 {
	if !m.attracts {
		return m.Shared[0]
	}
	return m.grade(m.names.find(query, doc), false)
}

// UnknownError says which slots of pages a model does not have.
type UnknownError struct{ Slots []string }

func (e *UnknownError) Error() string {
	return fmt.Sprintf("found slot %q, expected a slot of the model's log", e.Slots[0])
}

// Conditional returns the probability of a click at each rank of a page, given the clicks above.
func (m *Model) Conditional(p *click.Page) ([]float64, error) { return m.of(p, m.law.conditional) }

// Full returns the probability of a click at each rank of a page whose clicks are not known.
func (m *Model) Full(p *click.Page) ([]float64, error) { return m.of(p, m.law.full) }

func (m *Model) of(p *click.Page, do func(*view)) ([]float64, error) {
	v := view{Model: m}
	v.reset(len(p.Docs))
	var unknown []string
	for r, doc := range p.Docs {
		v.set(r, m.names.find(p.Query, doc))
		v.click[r] = p.Clicks != nil && p.Clicked(r)
		switch {
		case m.shared.by == bySlot:
			name := p.SlotName(r)
			if v.slot[r] = int32(slices.Index(m.Slots, name)); v.slot[r] < 0 {
				unknown = append(unknown, name)
			}
		case m.shared.by == byRank && r >= m.Ranks:
			unknown = append(unknown, strconv.Itoa(r+1))
		}
	}
	if unknown != nil {
		return nil, &UnknownError{unknown}
	}
	do(&v)
	return v.out, nil
}

// view is a page as a law needs it.
type view struct {
	*Model
	a, s  []float64 // attraction and satisfaction of each rank
	slot  []int32   // of each rank, for models with parameters by slot
	click []bool
	out   []float64
	work  []float64 // of length len(a) + 1
}

// reset makes room for n ranks.
func (v *view) reset(n int) {
	if cap(v.work) <= n {
		v.a, v.s, v.out, v.work = make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n+1)
		v.slot, v.click = make([]int32, n), make([]bool, n)
	}
	v.a, v.s, v.out, v.work, v.slot, v.click = v.a[:n], v.s[:n], v.out[:n], v.work[:n+1], v.slot[:n], v.click[:n]
}

// set sets the pair of a rank.
func (v *view) set(r int, pair int32) {
	p := v.pair(pair)
	v.a[r], v.s[r] = p.Attraction, p.Satisfaction
}
