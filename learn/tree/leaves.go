package tree

import "github.com/listwise/listwise/internal/parallel"

// read returns the codes of a leaf's documents in a slot, in the order of g.index. The result is valid until
// the next call.
func (g *Grower) read(l *leaf, slot int) []uint8 {
	docs := l.to - l.from
	if cap(g.spare.codes) < docs {
		g.spare.codes = make([]uint8, docs)
	}
	codes, index := g.spare.codes[:docs], g.index[l.from:l.to]
	parallel.For(chunks(len(index)), g.Workers, func(_, c int) {
		g.matrix.read(chunkOf(codes, c), slot, chunkOf(index, c))
	})
	return codes
}

// goesLeft returns, for each code, 1 if the split sends it left, and otherwise 0.
func goesLeft(by *split) (goes [256]uint8) {
	for code := range goes {
		if by.left(uint8(code)) {
			goes[code] = 1
		}
	}
	return goes
}

// partition reorders the documents of a leaf in g.index, so that documents that the split sends left come first. The
// order within the left and within the right documents does not change. codes are the codes of the documents, which
// read returned. partition returns the number of documents on the left.
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
	// Each chunk writes its left documents to the front of its spare memory, and its right documents to the back. Then
	// both are copied to their final places. The loop writes each document to both ends and overwrites the wrong copy
	// later. This avoids a branch, which the processor would often mispredict.
	parallel.For(n, g.Workers, func(_, c int) {
		rows, of, to := chunkOf(index, c), chunkOf(codes, c), chunkOf(spare, c)
		of = of[:len(rows)]
		left, right := 0, len(rows)-1
		for i, row := range rows {
			to[left], to[right] = row, row // right documents end up in reverse order
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

// chunks returns the number of chunks into which n elements are divided for workers.
func chunks(n int) int { return (n + chunk - 1) / chunk }

// chunkOf returns the c-th chunk of a slice.
func chunkOf[T any](of []T, c int) []T { return of[c*chunk : min(len(of), (c+1)*chunk)] }

// Values returns the Newton step of each leaf of the last tree,
//
//	v = soft(Σλ, L1)/(Σsecond + L2),
//
// where the sums are over those documents of the leaf on which the tree was grown. soft is soft thresholding by L1. v
// is 0 if the denominator is 0. Values sums the floating-point arguments, not the rounded integers of the histograms. v
// is clamped to the bounds of monotone constraints.
func (g *Grower) Values(lambda, second []float64) []float64 {
	values := make([]float64, len(g.leaves))
	parallel.For(len(g.leaves), g.Workers, func(_, i int) {
		values[i] = g.newton(lambda, second, g.Rows(i))
	})
	g.Clamp(values)
	return values
}

// Step returns the Newton step of a leaf, soft(gradient, L1)/(curvature + L2), where soft is soft thresholding.
// gradient is the leaf's Σλ, and curvature is its sum of second derivatives. Step returns 0 if the denominator is not
// positive.
func (o *Options) Step(gradient, curvature float64) float64 {
	if h := curvature + o.L2; h > 0 {
		return o.soft(gradient) / h
	}
	return 0
}

// newton returns the Newton step of a leaf with the given rows.
func (o *Options) newton(lambda, second []float64, rows []uint32) float64 {
	var gradient, curvature float64
	for _, r := range rows {
		gradient += lambda[r]
		curvature += second[r]
	}
	return o.Step(gradient, curvature)
}

// Rows returns those rows in a leaf of the last tree on which the tree was grown. The slice is valid until the next
// tree.
func (g *Grower) Rows(leaf int) []uint32 { return g.index[g.leaves[leaf].from:g.leaves[leaf].to] }

// Visit calls visit such that every row of the matrix is in one call, together with the row's leaf in the last tree.
// This includes rows on which the tree was not grown. Calls are concurrent, and there may be several calls with the
// same leaf.
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

// Add adds the value of a leaf of the last tree to the scores of all rows in the leaf. scores has an element for each
// row of the matrix, and values has an element for each leaf.
func (g *Grower) Add(scores, values []float64) { g.Visit(adder(scores, values)) }

// adder returns a function that adds the value of a leaf to the scores of the leaf's rows.
func adder(scores, values []float64) func(leaf int, rows []uint32) {
	return func(leaf int, rows []uint32) {
		for _, r := range rows {
			scores[r] += values[leaf]
		}
	}
}
