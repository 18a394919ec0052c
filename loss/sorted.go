package loss

import "github.com/listwise/listwise/internal/kernel"

// byScore is a query's documents in the order of their scores, best first.
// Documents of equal score stand in the order of a fixed permutation.
type byScore struct {
	scores []float64 // by rank
	places []float64 // by rank, the document's place in the permutation
	order  []int32   // the permutation: the document at each place
}

// shallow is the largest depth for which sorting by insertion is used.
const shallow = 32

// rankByScore sorts the documents by score. Below the first depth ranks their order is
// unspecified.
func rankByScore(s []float64, order []int32, depth int, scratch *Scratch) byScore {
	n := len(order)
	r := byScore{scores: scratch.Floats(n), places: scratch.Floats(n), order: order}
	kernel.Gather(r.scores, s, order, 1)
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

// topDescending brings the depth ≥ 1 largest keys to the front, in descending
// order, and values along with them; of equal keys the first come first. In random
// order a key is rarely among them, and it takes one comparison to see that.
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
func (r byScore) document(rank int) int32 { return r.order[int(r.places[rank])] }

// gather sets dst[r] to x of the document at rank r, counting from 0.
func (r byScore) gather(dst, x []float64) {
	dst = dst[:len(r.places)]
	for rank, p := range r.places {
		dst[rank] = x[r.order[int(p)]]
	}
}

// scatter sets x of the document at rank r to src[r].
func (r byScore) scatter(x, src []float64) {
	src = src[:len(r.places)]
	for rank, p := range r.places {
		x[r.order[int(p)]] = src[rank]
	}
}
