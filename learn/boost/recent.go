package boost

import "slices"

// recent holds the columns that were used last, one number a document. Boosting often returns to a column.
type recent[T uint32 | float32] struct {
	slots []slot[T]
	clock int
}

type slot[T uint32 | float32] struct {
	column int // −1 if it is empty
	used   int // when
	of     []T
}

// add adds memory for one.
func (o *recent[T]) add(memory []T) { o.slots = append(o.slots, slot[T]{column: -1, of: memory}) }

// has reports whether a column is there.
func (o *recent[T]) has(column int) bool {
	return slices.ContainsFunc(o.slots, func(s slot[T]) bool { return s.column == column })
}

// of returns a column, or in its place the memory of the column that was used least recently.
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
