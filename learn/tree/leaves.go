package tree

import "github.com/listwise/listwise/internal/parallel"

// read returns the codes of a leaf's documents in a slot, in their order, in spare memory.
func (g *Grower) read(l *leaf, slot int) []uint8 {
	docs := l.to - l.from
	if cap(g.spare.codes) < docs {
		g.spare.codes = make([]uint8, docs)
	}
	codes, index := g.spare.codes[:docs], g.index[l.from:l.to]
	words, shift := g.matrix.column(slot)
	stride := g.matrix.blocks
	parallel.For(chunks(len(index)), g.Workers, func(_, c int) {
		dst, rows := chunkOf(codes, c), chunkOf(index, c)
		for i, row := range rows { // many reads from memory under way at a time
			dst[i] = uint8(words[int(row)*stride] >> shift)
		}
	})
	return codes
}

// goesLeft has 1 for the codes that a split sends left.
func goesLeft(by *split) (goes [256]uint8) {
	for code := range goes {
		if by.left(uint8(code)) {
			goes[code] = 1
		}
	}
	return goes
}

// partition moves the documents of a leaf that go left by a split to its front, and keeps the order
// otherwise. codes come from read. It returns their number.
func (g *Grower) partition(l *leaf, by *split, codes []uint8) int {
	index := g.index[l.from:l.to]
	if cap(g.spare.index) < len(index) {
		g.spare.index = make([]uint32, len(index))
	}
	spare, n := g.spare.index[:len(index)], chunks(len(index))
	if len(g.spare.counts) < n+1 {
		g.spare.counts = make([]int, n+1)
	}
	counts, goes := g.spare.counts[:n+1], &g.spare.goes
	*goes = goesLeft(by)
	// Each chunk writes its left documents to the front of its spare memory and the others behind them.
	// Then all are moved to their places. Every document is written to both places, and the wrong one is
	// overwritten, so that there is no branch to predict.
	parallel.For(n, g.Workers, func(_, c int) {
		rows, of, to := chunkOf(index, c), chunkOf(codes, c), chunkOf(spare, c)
		of = of[:len(rows)]
		left, right := 0, len(rows)-1
		for i, row := range rows {
			to[left], to[right] = row, row // the right ones backwards
			step := int(goes[of[i]])
			left += step
			right += step - 1
		}
		counts[c] = left
	})
	all := 0
	for c := range n {
		counts[c], all = all, all+counts[c]
	}
	counts[n] = all
	parallel.For(n, g.Workers, func(_, c int) {
		of, left := chunkOf(spare, c), counts[c+1]-counts[c]
		copy(index[counts[c]:], of[:left])
		to := index[all+c*chunk-counts[c]:]
		for i, row := range of[left:] {
			to[len(of)-left-1-i] = row
		}
	})
	return all
}

// chunks returns the number of chunks that n elements are divided into for workers.
func chunks(n int) int { return (n + chunk - 1) / chunk }

// chunkOf returns a chunk.
func chunkOf[T any](of []T, c int) []T { return of[c*chunk : min(len(of), (c+1)*chunk)] }

// Values returns the Newton step of each leaf of the tree grown last,
//
//	v = soft(Σλ, L1)/(Σsecond + L2)
//
// summed without rounding to integers, and within the bounds of monotone constraints. It is 0 where the
// denominator is 0.
func (g *Grower) Values(lambda, second []float64) []float64 {
	values := make([]float64, len(g.leaves))
	parallel.For(len(g.leaves), g.Workers, func(_, i int) {
		values[i] = g.newton(lambda, second, g.Rows(i))
	})
	g.Clamp(values)
	return values
}

// Step returns the Newton step of a leaf with these sums of λ and second derivatives.
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

// Rows returns the documents of a leaf of the tree grown last, among the documents that it was grown on.
// The slice is valid until the next tree.
func (g *Grower) Rows(leaf int) []uint32 { return g.index[g.leaves[leaf].from:g.leaves[leaf].to] }

// Visit calls visit with every leaf of the tree grown last and the documents of the matrix that fall into
// it. Calls are concurrent, and a leaf may have several.
func (g *Grower) Visit(visit func(leaf int, rows []uint32)) {
	parallel.For(len(g.leaves), g.Workers, func(_, i int) { visit(i, g.Rows(i)) })
	if g.bag == nil {
		return
	}
	parallel.For(chunks(g.matrix.rows), g.Workers, func(_, c int) {
		row := make([]uint32, 1)
		for r := c * chunk; r < min(g.matrix.rows, (c+1)*chunk); r++ {
			if !g.bag[r] {
				row[0] = uint32(r)
				visit(g.tree.leafOf(g.matrix, row[0]), row)
			}
		}
	})
}

// Add adds to each score, one for each row of the matrix, the value of the document's leaf in the tree
// grown last.
func (g *Grower) Add(scores, values []float64) { g.Visit(adder(scores, values)) }

// adder adds the values of leaves to the scores of their documents.
func adder(scores, values []float64) func(leaf int, rows []uint32) {
	return func(leaf int, rows []uint32) {
		for _, r := range rows {
			scores[r] += values[leaf]
		}
	}
}
