package boost

import "slices"

// recent is a cache of the most recently used columns. A column has one number per document. Boosting often uses the
// same column again.
type recent[T uint32 | float32] struct {
	slots []slot[T]
	clock int
}

type slot[T uint32 | float32] struct {
	column int // −1 if the slot is empty
	used   int // clock at the last use
	of     []T
}

// add adds memory for one more column.
func (o *recent[T]) add(memory []T) { o.slots = append(o.slots, slot[T]{column: -1, of: memory}) }

// has reports whether a column is stored.
func (o *recent[T]) has(column int) bool {
	return slices.ContainsFunc(o.slots, func(s slot[T]) bool { return s.column == column })
}

// of returns a stored column and true. If the column is not stored, it returns the memory of the least recently used
// slot, which the caller must fill with the column, and false.
func (o *recent[T]) of(column int) (of []T, there bool) {
	o.clock++
	oldest := 0
	for i := range o.slots {
		if o.slots[i].column == column {
			o.slots[i].used = o.clock
			return o.slots[i].of, true
		}
		if o.slots[i].used < o.slots[oldest].used {
			oldest = i
		}
	}
	o.slots[oldest].column, o.slots[oldest].used = column, o.clock
	return o.slots[oldest].of, false
}
