package sample

import (
	"math"

	"github.com/listwise/listwise/learn/loss/logrank/ranking"
)

// census finds the states of a sample whose ranking is that of an earlier state.
//
// It compares rankings by hashes. The numbers of inversions of all documents (see
// [ranking.Order.Inversions]) determine a ranking. The hash of a ranking is Σ_i key_i·inversions_i
// modulo 2⁶⁴, with a pseudo-random key for every document. So a flip adds two keys to the hash or
// subtracts them. Among a million rankings, the probability that two different rankings have the
// same hash is below 10⁻⁷.
type census struct {
	keys   []uint64
	hash   uint64
	counts []int32         // working memory of restart
	first  map[uint64]bool // hashes of recorded states
	weight []float64       // log weight of each state recorded
}

func newCensus(o *ranking.Order, states int) *census {
	docs := o.Pairs().Docs()
	c := &census{
		keys:   make([]uint64, docs),
		counts: make([]int32, docs),
		first:  make(map[uint64]bool, states),
		weight: make([]float64, states, states+1),
	}
	for i := range c.keys {
		c.keys[i] = spread(uint64(i))
	}
	return c
}

// spread returns a pseudo-random number for i: element i of the sequence of the generator
// SplitMix64.
func spread(i uint64) uint64 {
	z := (i + 1) * 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

func (c *census) restart(o *ranking.Order) {
	o.Inversions(c.counts)
	c.hash = 0
	for i, n := range c.counts {
		c.hash += c.keys[i] * uint64(n)
	}
}

func (c *census) apply(f ranking.Flip) {
	pair := c.keys[f.Up] + c.keys[f.Down]
	if f.Inverts {
		c.hash += pair
	} else {
		c.hash -= pair
	}
}

// record records the current state, which has the index at in the sample. A state that repeats an
// earlier state gets the weight 0.
func (c *census) record(at int) {
	if c.first[c.hash] {
		c.weight[at] = math.Inf(-1)
	}
	c.first[c.hash] = true
}

// weights returns the logarithms of the weights of all states, and the sum of the weights. If ideal
// is set, the ideal ranking is an additional state.
func (c *census) weights(ideal bool) (log []float64, total float64) {
	total = float64(len(c.first))
	if ideal {
		return append(c.weight, 0), total + 1
	}
	return c.weight, total
}
