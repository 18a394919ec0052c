package loss

// byScore is a query's documents in the order of their scores, best first.
// Documents of equal score stand in the order of a fixed permutation.
type byScore struct {
	scores []float64 // by rank, descending
	places []float64 // by rank, the document's place in the permutation
	order  []int32   // the permutation: the document at each place
}

// rankByScore sorts the documents by score.
func rankByScore(s []float64, order []int32, scratch *Scratch) byScore {
	n := len(order)
	r := byScore{scores: scratch.Floats(n), places: scratch.Floats(n), order: order}
	gather(r.scores, s, order, 1)
	for i := range r.places {
		r.places[i] = float64(i)
	}
	sortDescending(r.scores, r.places, scratch.Floats(n), scratch.Floats(n))
	return r
}

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
