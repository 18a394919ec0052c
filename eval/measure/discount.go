package measure

import (
	"math/bits"
	"sync/atomic"

	"github.com/listwise/listwise/internal/elementary"
)

type discountKind uint8

const (
	logDiscount   discountKind = iota // 1/log2(1 + r)
	letorDiscount                     // 1, 1, 1/log2 3, 1/log2 4, …
	discountKinds
)

// of returns the discount of rank r ≥ 1.
func (k discountKind) of(r int) float64 {
	if k == logDiscount {
		r++
	}
	if r <= 2 {
		return 1
	}
	return 1 / elementary.Log2(float64(r))
}

// discountTable contains the discounts of the first ranks and their sums.
type discountTable struct {
	at  []float64 // at[i] is the discount of rank i+1
	sum []float64 // sum[i] = at[0] + … + at[i−1]
}

// tables contains the longest table of each kind so far. Tables never change. A race can at most
// compute a table twice, so readers need no lock.
var tables [discountKinds]atomic.Pointer[discountTable]

// table returns a table for at least n ranks.
func (k discountKind) table(n int) *discountTable {
	if t := tables[k].Load(); t != nil && len(t.at) >= n {
		return t
	}
	size := max(1024, 1<<bits.Len(uint(n)))
	t := &discountTable{at: make([]float64, size), sum: make([]float64, size+1)}
	for i := range t.at {
		t.at[i] = k.of(i + 1)
		t.sum[i+1] = t.sum[i] + t.at[i]
	}
	tables[k].Store(t)
	return t
}
