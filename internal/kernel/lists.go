package kernel

import "slices"

// lists describes lists of indices of a slice c. The methods of Pairs use lists to compute, for
// each list, the sum of the elements of c at its indices. Eight lists of about the same length form
// a group. The sums of a group are computed in lockstep, so that eight independent chains of
// additions hide each other's latency. Groups are ordered by length, so that the processor predicts
// the ends of the loops.
//
// The indices of all lists are in one slice: group by group and, within a group, step by step. Each
// step has the next index of each of the eight lists. After the end of a list, its index refers to
// an element that is 0.
type lists struct {
	// steps is the length of the longest list of each group, the largest first.
	steps []int32
	// cuts are the parts of lists that were too long for a group.
	cuts []cut
}

// lockstep is the number of lists in a group.
const lockstep = 8

// longest is the length beyond which a list is cut into parts. Without the limit, a list of most
// pairs would keep its group busy while the group's other seven lists have ended. The only relevant
// document of a query has such a list.
const longest = 32

// cut is a part of a list, but not the first part. from is the number of the part's sum, which is
// added to the sum of the first part. to is the number of that sum.
type cut struct{ from, to int32 }

// sums returns the number of sums, including the sums of empty lists that complete a group.
func (l *lists) sums() int { return lockstep * len(l.steps) }

// join adds the sums of the later parts of each cut list to the sum of its first part.
func (l *lists) join(sums []float64) {
	for _, k := range l.cuts {
		sums[k.to] += sums[k.from]
	}
}

// addListsGo sets dst[k] to the sum of the elements of c whose indices are in list k, added in the
// order of the list.
func addListsGo[I uint16 | int32](dst, c []float64, at []I, steps []int32) {
	for _, n := range steps {
		sums := (*[lockstep]float64)(dst)
		*sums = [lockstep]float64{}
		for range n {
			for k, place := range (*[lockstep]I)(at) {
				sums[k] += c[place]
			}
			at = at[lockstep:]
		}
		dst = dst[lockstep:]
	}
}

// newLists returns two lists per document: the pairs in which the document rises and the pairs in
// which it falls. at has the indices of the lists. up and down have the numbers of each document's
// two lists. The number of an empty list is l.sums(). The indices are pair numbers. The number of
// pairs is the index of the additional element that is 0.
func newLists(documents int, plus, minus []int32) (l lists, at, up, down []int32) {
	places := append(inverse(documents, plus), inverse(documents, minus)...)
	parts := cutUp(places)
	// The stable order makes the result a function of the pairs alone.
	slices.SortStableFunc(parts, func(a, b part) int { return len(b.places) - len(a.places) })
	for group := range slices.Chunk(parts, lockstep) {
		l.steps = append(l.steps, int32(len(group[0].places)))
		at = appendGroup(at, group, int32(len(plus)))
	}
	number := make([]int32, len(places))
	for d := range number {
		number[d] = int32(l.sums())
	}
	for k, p := range parts {
		if p.first {
			number[p.list] = int32(k)
		}
	}
	for k, p := range parts {
		if !p.first {
			l.cuts = append(l.cuts, cut{from: int32(k), to: number[p.list]})
		}
	}
	return l, at, number[:documents:documents], number[documents:]
}

// inverse returns, for each d < n, the positions of d in index, in ascending order.
func inverse(n int, index []int32) [][]int32 {
	times := make([]int, n)
	for _, d := range index {
		times[d]++
	}
	places, all := make([][]int32, n), make([]int32, len(index))
	for d, k := range times {
		places[d], all = all[:0:k], all[k:]
	}
	for i, d := range index {
		places[d] = append(places[d], int32(i))
	}
	return places
}

// part is a part of a list.
type part struct {
	list   int
	first  bool
	places []int32
}

// cutUp cuts the non-empty lists into parts of at most the longest length. The parts of one list
// have nearly the same length.
func cutUp(places [][]int32) []part {
	var parts []part
	for i, rest := range places {
		for n := (len(rest) + longest - 1) / longest; n > 0; n-- {
			size := (len(rest) + n - 1) / n
			parts = append(parts, part{list: i, first: len(rest) == len(places[i]), places: rest[:size]})
			rest = rest[size:]
		}
	}
	return parts
}

// appendGroup appends the indices of a group of at most eight lists to at. The first list is the
// longest. zero is the index of an element that is 0, which appendGroup appends in place of an
// index after the end of a list.
func appendGroup(at []int32, group []part, zero int32) []int32 {
	for step := range group[0].places {
		for k := range lockstep {
			place := zero
			if k < len(group) && step < len(group[k].places) {
				place = group[k].places[step]
			}
			at = append(at, place)
		}
	}
	return at
}
