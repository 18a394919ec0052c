package tree

import "github.com/listwise/listwise/internal/parallel"

// part gives the smaller sibling histograms, and takes them from those of the larger one,
// which are the parent's; then is called for all blocks, from one up to another.
func (g *Grower) part(smaller, larger *leaf, then func(from, to int)) {
	smaller.sums = g.take()
	g.fill(smaller, func(from, to int) {
		for b := from; b < to; b++ {
			larger.sums[b].less(&smaller.sums[b])
		}
		then(from, to)
	})
}

// fill sets the histograms of a leaf.
func (g *Grower) fill(l *leaf, then func(from, to int)) {
	clear(l.sums)
	g.add(l.sums, l, false, then)
}

// add adds the sums of a leaf's documents to histograms, or takes them away.
func (g *Grower) add(h []histogram, of *leaf, minus bool, then func(from, to int)) {
	rows := g.index[of.from:of.to]
	g.blocks(len(rows), func(w *gatherer, from, to int) {
		w.add(h, g.matrix, from, to, rows, g.packed, minus)
		then(from, to)
	})
}

// blocks runs do for all blocks of features, from one up to another, side by side if that is
// worth it.
func (g *Grower) blocks(docs int, do func(w *gatherer, from, to int)) {
	all, parts := g.matrix.blocks, 1
	if docs*all >= 1<<14 {
		parts = parallel.Workers(g.Workers, all)
	}
	for len(g.gatherers) < parts {
		g.gatherers = append(g.gatherers, gatherer{})
	}
	parallel.For(parts, parts, func(_, i int) { do(&g.gatherers[i], i*all/parts, (i+1)*all/parts) })
}

// take returns histograms, a block each.
func (g *Grower) take() []histogram {
	if n := len(g.free); n > 0 {
		h := g.free[n-1]
		g.free = g.free[:n-1]
		return h
	}
	return make([]histogram, g.matrix.blocks)
}

// thin gives back the histograms of leaves that come after as many others as can still be
// divided: they may only be divided if the best split of one of these leaves too few documents.
func (g *Grower) thin() {
	if g.Growth != LeafWise {
		return
	}
	for {
		kept, last := 0, -1
		for i := range g.leaves {
			if l := &g.leaves[i]; l.sums != nil {
				if kept++; last < 0 || !g.before(l, &g.leaves[last]) {
					last = i
				}
			}
		}
		if kept <= g.Leaves-len(g.leaves) {
			return
		}
		g.release(&g.leaves[last])
	}
}

// restore fills the histograms of a leaf that thin has taken them from.
func (g *Grower) restore(l *leaf) {
	if l.sums != nil {
		return
	}
	l.sums = g.take()
	g.fill(l, func(int, int) {})
}

// release gives back a leaf's histograms.
func (g *Grower) release(l *leaf) {
	if l.sums != nil {
		g.free, l.sums = append(g.free, l.sums), nil
	}
}
