package kernel

import "slices"

// lists are lists of places in a slice whose elements are added up, one sum for each list. Eight lists of
// about the same length form a group, which is added up in lockstep. Eight independent chains of additions
// hide each other's latency. Groups are ordered by length, so that the processor predicts where each ends.
// The places are in one slice: group after group, step after step, the next place of each of the eight
// lists. After the end of a list they refer to a place with 0.
type lists struct {
	// steps is the length of the longest list of each group, the largest first.
	steps []int32
	// cuts are the lists that were too long for a group.
	cuts []cut
}

// lockstep is the number of lists in a group.
const lockstep = 8

// longest is the length beyond which lists are cut. Without it a document in most pairs,
// such as a query's only good one, would leave the seven other lists of its group idle.
const longest = 32

// cut is a part of a list whose sum is added to that of the list's first part.
type cut struct{ from, to int32 }

// sums is the number of sums, including those of empty lists that fill up a group.
func (l *lists) sums() int { return lockstep * len(l.steps) }

// join adds the sums of the parts of lists that were cut to their first's.
func (l *lists) join(sums []float64) {
	for _, k := range l.cuts {
		sums[k.to] += sums[k.from]
	}
}

// addListsGo sets dst[k] to the sum of list k's elements of c, added in the list's
// order.
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

// newLists returns the lists of the pairs in which each document rises and in which
// it falls, their places, and for every document the numbers of the two. A document
// without such a list has the number after the last. The place that holds 0 is that
// after the last pair.
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

// inverse returns for each of n indices the places where it stands, in their order.
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

// cutUp cuts the lists that are not empty into parts of at most the longest length, the
// parts of a list being of nearly the same length.
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

// appendGroup appends the places of at most eight lists, the longest first.
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
