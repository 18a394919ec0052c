package loss

import (
	"math/rand/v2"

	"github.com/listwise/listwise/internal/kernel"
)

// byScore lists a query's documents in descending order of scores. A fixed permutation breaks ties.
type byScore struct {
	scores []float64 // by rank
	places []float64 // by rank, the document's index in order
	order  permutation
}

// permutation is an order of documents. Each bound loss keeps one for every query during the training,
// so most permutations take two bytes for a document.
type permutation struct {
	short []uint16 // for at most shortest documents, otherwise nil
	long  []int32
}

// shortest is the number of different uint16 values.
const shortest = 1 << 16

// newPermutation returns a random order of n documents. If shuffle is nil, it returns the order 0, 1, …,
// n−1.
func newPermutation(n int, shuffle *rand.Rand) permutation {
	if n <= shortest {
		return permutation{short: ordered[uint16](n, shuffle)}
	}
	return permutation{long: ordered[int32](n, shuffle)}
}

func ordered[T uint16 | int32](n int, shuffle *rand.Rand) []T {
	order := make([]T, n)
	for i := range order {
		order[i] = T(i)
	}
	if shuffle != nil {
		shuffle.Shuffle(n, func(i, j int) { order[i], order[j] = order[j], order[i] })
	}
	return order
}

// inOrder sets dst[p] to the element of x that belongs to the document at place p.
func (p permutation) inOrder(dst, x []float64) {
	if p.short != nil {
		kernel.Gather(dst, x, p.short, 1)
		return
	}
	kernel.Gather(dst, x, p.long, 1)
}

// document returns the document at a place.
func (p permutation) document(place int) int {
	if p.short != nil {
		return int(p.short[place])
	}
	return int(p.long[place])
}

// shallow is the largest depth for which rankByScore uses insertion sort.
const shallow = 32

// rankByScore sorts the documents by score. Their order below the first depth ranks is unspecified.
func rankByScore(s []float64, order permutation, depth int, scratch *Scratch) byScore {
	n := len(s)
	r := byScore{scores: scratch.Floats(n), places: scratch.Floats(n), order: order}
	order.inOrder(r.scores, s)
	for i := range r.places {
		r.places[i] = float64(i)
	}
	if depth > shallow {
		kernel.SortDescending(r.scores, r.places, scratch.Floats(n), scratch.Floats(n))
	} else {
		topDescending(r.scores, r.places, min(depth, n))
	}
	return r
}

// topDescending moves the depth largest keys to the front, in descending order, together with their
// values. depth must be at least 1. Of equal keys, the earlier ones come first. If keys are in random
// order, one comparison rejects most of them.
func topDescending(keys, values []float64, depth int) {
	kernel.InsertDescending(keys[:depth], values[:depth])
	last := depth - 1
	values = values[:len(keys)]
	for i := depth; i < len(keys); i++ {
		k, v := keys[i], values[i]
		if k <= keys[last] {
			continue
		}
		keys[i], values[i] = keys[last], values[last]
		j := last
		for ; j > 0 && keys[j-1] < k; j-- {
			keys[j], values[j] = keys[j-1], values[j-1]
		}
		keys[j], values[j] = k, v
	}
}

// document returns the document at a rank, counting from 0.
func (r byScore) document(rank int) int { return r.order.document(int(r.places[rank])) }

// gather sets dst[r] to the element of x that belongs to the document at rank r, counting from 0.
func (r byScore) gather(dst, x []float64) {
	if r.order.short != nil {
		gatherPlaces(dst, x, r.places, r.order.short)
		return
	}
	gatherPlaces(dst, x, r.places, r.order.long)
}

func gatherPlaces[T uint16 | int32](dst, x, places []float64, order []T) {
	dst = dst[:len(places)]
	for rank, p := range places {
		dst[rank] = x[order[int(p)]]
	}
}

// scatter sets the element of x that belongs to the document at rank r to src[r].
func (r byScore) scatter(x, src []float64) {
	if r.order.short != nil {
		scatterPlaces(x, src, r.places, r.order.short)
		return
	}
	scatterPlaces(x, src, r.places, r.order.long)
}

func scatterPlaces[T uint16 | int32](x, src, places []float64, order []T) {
	src = src[:len(places)]
	for rank, p := range places {
		x[order[int(p)]] = src[rank]
	}
}
