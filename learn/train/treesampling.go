package train

import (
	"math"

	"github.com/listwise/listwise/internal/random"
)

// sample draws the documents that teach a tree, nil for all, and returns their λ and second
// derivatives.
func (r *treeRounds) sample(draw string) (rows []uint32, lambda, second []float64) {
	switch {
	case r.Sum == ForestTrees:
		rows, lambda, second = r.bootstrap(draw)
		return r.documents(draw, rows), lambda, second
	case r.GOSSTop < 1:
		return r.goss(draw, r.bag(draw))
	}
	return r.documents(draw, r.bag(draw)), r.lambda, r.second
}

// bag returns the documents of the queries that teach a tree, nil for all.
func (r *treeRounds) bag(round string) []uint32 {
	n := max(1, int(math.Round(r.QueryFraction*float64(len(r.queries)))))
	if n == len(r.queries) {
		return nil
	}
	in := make([]bool, len(r.queries))
	for _, q := range random.Stream(r.seed, "queries of a tree", round).Perm(len(r.queries))[:n] {
		in[q] = true
	}
	var rows []uint32
	row := uint32(0)
	for q := range r.data.Queries {
		docs := uint32(r.data.Queries[q].Len())
		for i := range docs {
			if in[q] {
				rows = append(rows, row+i)
			}
		}
		row += docs
	}
	return rows
}

// barred returns the features that a tree has no splits by, nil for none.
func (r *treeRounds) barred(round string) []bool {
	features := r.data.Features
	n := max(1, int(math.Round(r.FeatureFraction*float64(features))))
	if n == features {
		return nil
	}
	barred := make([]bool, features)
	for _, f := range random.Stream(r.seed, "features of a tree", round).Perm(features)[n:] {
		barred[f] = true
	}
	return barred
}

// documents draws the documents, of rows or, if that is nil, of all, that teach a tree; nil is
// all.
func (r *treeRounds) documents(round string, rows []uint32) []uint32 {
	all := len(r.scores)
	if rows != nil {
		all = len(rows)
	}
	n := max(1, int(math.Round(r.DocumentFraction*float64(all))))
	if n == all {
		return rows
	}
	rng := random.Stream(r.seed, "documents of a tree", round)
	drawn := make([]uint32, 0, n)
	for i := range all {
		// Knuth, The Art of Computer Programming, vol. 2, Algorithm 3.4.2 S.
		if rng.IntN(all-i) >= n-len(drawn) {
			continue
		}
		if rows == nil {
			drawn = append(drawn, uint32(i))
		} else {
			drawn = append(drawn, rows[i])
		}
	}
	return drawn
}

// goss draws the documents, of rows or of all, that teach a tree, with their λ and second
// derivatives: those of drawn ones are multiplied so that they stand for all that are not among
// the top. Of documents alike the first are the top.
func (r *treeRounds) goss(round string, rows []uint32) (drawn []uint32, lambda, second []float64) {
	if rows == nil {
		rows = make([]uint32, len(r.scores))
		for i := range rows {
			rows[i] = uint32(i)
		}
	}
	w := &r.weighted
	if w.lambda == nil {
		w.lambda, w.second = make([]float64, len(r.scores)), make([]float64, len(r.scores))
	}
	strengths := make([]float64, len(rows))
	for i, row := range rows {
		strengths[i] = math.Abs(r.lambda[row]) * r.second[row]
	}
	all := len(rows)
	top, rest := int(math.Round(r.GOSSTop*float64(all))), int(math.Round(r.GOSSRest*float64(all)))
	if top+rest == 0 {
		top = 1
	}
	rest = min(rest, all-top)
	least, alike := math.Inf(1), 0
	if top > 0 {
		least, alike = kthLargest(strengths, top)
	}
	rng := random.Stream(r.seed, "documents of a tree", round)
	others, factor := all-top, float64(all-top)/float64(rest)
	for i, row := range rows {
		w.lambda[row], w.second[row] = r.lambda[row], r.second[row]
		switch {
		case strengths[i] > least:
		case strengths[i] == least && alike > 0:
			alike--
		default:
			in := rng.IntN(others) < rest // Algorithm S again
			if others--; !in {
				continue
			}
			rest--
			w.lambda[row] *= factor
			w.second[row] *= factor
		}
		drawn = append(drawn, row)
	}
	return drawn, w.lambda, w.second
}

// kthLargest returns the k-th largest, from 1, of numbers that are not negative, and how many
// of those alike are among the k largest.
func kthLargest(values []float64, k int) (value float64, alike int) {
	var prefix uint64
	for shift := 56; shift >= 0; shift -= 8 {
		var counts [256]int
		for _, v := range values {
			if b := math.Float64bits(v); b>>(shift+8) == prefix {
				counts[byte(b>>shift)]++
			}
		}
		c := 255
		for ; k > counts[c]; c-- {
			k -= counts[c]
		}
		prefix = prefix<<8 | uint64(c)
	}
	return math.Float64frombits(prefix), k
}
