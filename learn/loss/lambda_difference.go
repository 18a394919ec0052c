package loss

import "github.com/listwise/listwise/eval/measure"

// differenceField estimates the gradient of the measure M by central differences,
//
//	λ_i = (M(s + εe_i) − M(s − εe_i))/2ε − mean,
//
// e_i being the unit vector of document i. The mean over the documents is subtracted
// because λ must sum to zero (section 4 of the paper). M is constant between jumps,
// so ε is of the size of the gaps between scores: their mean unless given.
//
// The measure is computed anew for each document that changes its rank: O(n²) at
// worst.
type differenceField struct {
	measure measure.Measure
	step    float64 // ε; 0 for the mean gap
	cut     int     // ranks that count
}

// smallestGap bounds ε from below, and so λ from above, where all scores tie.
const smallestGap = 1e-3

func (f *differenceField) epsilon(scores []float64) float64 {
	if f.step > 0 {
		return f.step
	}
	n := float64(len(scores) - 1)
	return max(scores[0]/n-scores[len(scores)-1]/n, smallestGap)
}

func (f *differenceField) eval(lambda []float64, r byScore, ranked []float64, scratch *Scratch) {
	epsilon := f.epsilon(r.scores)
	moved := scratch.Floats(len(ranked))
	copy(moved, ranked)
	now, _ := f.measure.Value(ranked)
	var sum float64
	for p := range lambda {
		up := f.after(moved, p, r.rankAt(p, r.scores[p]+epsilon), now)
		down := f.after(moved, p, r.rankAt(p, r.scores[p]-epsilon), now)
		lambda[p] = (up - down) / (2 * epsilon)
		sum += lambda[p]
	}
	for p := range lambda {
		lambda[p] -= sum / float64(len(lambda))
	}
}

// after returns the measure when the document at rank p of a ranking moves to rank
// q, and restores the ranking. now is the measure before.
func (f *differenceField) after(ranked []float64, p, q int, now float64) float64 {
	if p == q || min(p, q) >= f.cut {
		return now
	}
	move(ranked, p, q)
	value, _ := f.measure.Value(ranked)
	move(ranked, q, p)
	return value
}

// move takes the element at p out of x and inserts it so that it stands at q.
func move(x []float64, p, q int) {
	v := x[p]
	if q < p {
		copy(x[q+1:p+1], x[q:p])
	} else {
		copy(x[p:q], x[p+1:q+1])
	}
	x[q] = v
}

// rankAt returns the rank that the document at rank p would have with the given
// score; ties are broken by place, as everywhere.
func (r byScore) rankAt(p int, score float64) int {
	q := p
	for q > 0 && r.above(score, r.places[p], q-1) {
		q--
	}
	for q < len(r.scores)-1 && !r.above(score, r.places[p], q+1) {
		q++
	}
	return q
}

// above reports whether a document of the given score and place stands above the one
// at rank q.
func (r byScore) above(score, place float64, q int) bool {
	return score > r.scores[q] || score == r.scores[q] && place < r.places[q]
}
