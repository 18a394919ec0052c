package tree

import "github.com/listwise/listwise/internal/parallel"

// partition brings the documents of a leaf that go left to its front, and keeps the order
// otherwise. It returns their number.
func (g *Grower) partition(l *leaf, n *Node) int {
	docs := l.to - l.from
	index, packed := g.index[l.from:l.to], g.packed[l.from:l.to]
	if cap(g.spare.index) < docs {
		g.spare.index, g.spare.packed = make([]uint32, docs), make([]sums, docs)
	}
	spare, spareSums := g.spare.index[:docs], g.spare.packed[:docs]
	chunks := (docs + chunk - 1) / chunk
	if len(g.spare.counts) < chunks+1 {
		g.spare.counts = make([]int, chunks+1)
	}
	counts := g.spare.counts[:chunks+1]
	// Each chunk writes those that go left at its front of the spare memory, and the others
	// behind them; then all are moved to where they belong. Every document is written to both
	// places, and the place that it does not go to is written again: there is nothing to predict.
	words, shift := g.matrix.column(n.slot)
	stride := g.matrix.blocks
	var goes [256]int
	for code := range goes {
		if n.left(uint8(code)) {
			goes[code] = 1
		}
	}
	parallel.For(chunks, g.Workers, func(_, c int) {
		from, to := c*chunk, min(docs, (c+1)*chunk)
		left, right := from, to-1
		var codes [chunk]uint8
		for i, row := range index[from:to] { // many reads from memory under way at a time
			codes[i] = uint8(words[int(row)*stride] >> shift)
		}
		for i := from; i < to; i++ {
			row, v := index[i], packed[i]
			spare[left], spareSums[left] = row, v
			spare[right], spareSums[right] = row, v // backwards
			step := goes[codes[i-from]]
			left += step
			right += step - 1
		}
		counts[c] = left - from
	})
	all := 0
	for c := range chunks {
		counts[c], all = all, all+counts[c]
	}
	counts[chunks] = all
	parallel.For(chunks, g.Workers, func(_, c int) {
		from, to := c*chunk, min(docs, (c+1)*chunk)
		left := counts[c+1] - counts[c]
		copy(index[counts[c]:], spare[from:from+left])
		copy(packed[counts[c]:], spareSums[from:from+left])
		at := all + from - counts[c]
		for i := to - 1; i >= from+left; i-- {
			index[at], packed[at] = spare[i], spareSums[i]
			at++
		}
	})
	return all
}

// Values returns the Newton step of each leaf of the tree grown last,
//
//	v = soft(Σλ, L1)/(Σsecond + L2)
//
// summed without rounding to integers, and 0 where there is no second derivative; within the
// bounds that constrained features set.
func (g *Grower) Values(lambda, second []float64) []float64 {
	values := make([]float64, len(g.leaves))
	parallel.For(len(g.leaves), g.Workers, func(_, i int) {
		values[i] = g.newton(lambda, second, g.Rows(i))
	})
	g.Clamp(values)
	return values
}

// Step returns the Newton step of a leaf with those sums of λ and second derivatives.
func (o *Options) Step(gradient, curvature float64) float64 {
	if h := curvature + o.L2; h > 0 {
		return o.soft(gradient) / h
	}
	return 0
}

// newton is the Newton step of some documents.
func (o *Options) newton(lambda, second []float64, rows []uint32) float64 {
	var gradient, curvature float64
	for _, r := range rows {
		gradient += lambda[r]
		curvature += second[r]
	}
	return o.Step(gradient, curvature)
}

// Rows returns the documents of a leaf of the tree grown last, among those that it was grown
// on. They are valid until the next tree.
func (g *Grower) Rows(leaf int) []uint32 { return g.index[g.leaves[leaf].from:g.leaves[leaf].to] }

// Add adds to each score, one a row of the matrix, the value of the leaf of the tree grown
// last that the document falls into.
func (g *Grower) Add(scores, values []float64) {
	parallel.For(len(g.leaves), g.Workers, func(_, i int) {
		for _, r := range g.Rows(i) {
			scores[r] += values[i]
		}
	})
	if g.bag == nil {
		return
	}
	chunks := (g.matrix.rows + chunk - 1) / chunk
	parallel.For(chunks, g.Workers, func(_, c int) {
		for r := c * chunk; r < min(g.matrix.rows, (c+1)*chunk); r++ {
			if !g.bag[r] {
				scores[r] += values[g.tree.leafOf(g.matrix, uint32(r))]
			}
		}
	})
}
