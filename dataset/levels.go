package dataset

import "slices"

// Levels returns the different grades of the documents, in ascending order. It also returns the index of each
// document's grade among them, in the order of the rows of X.
func (d *Dataset) Levels() (levels []float64, level []int) {
	levels = slices.Clone(d.grades)
	slices.Sort(levels)
	levels = slices.Compact(levels)
	level = make([]int, len(d.grades))
	for i, g := range d.grades {
		level[i], _ = slices.BinarySearch(levels, g)
	}
	return levels, level
}
