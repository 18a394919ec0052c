package loss

import (
	"math"

	"github.com/listwise/listwise/learn/loss/bipartite"
)

// rowSearch finds the worst ranking for any gain, by the recursion over the lattice
//
//	F_i(j) = c_i(j) − γ_i(j) + max_{j'≤j} F_{i−1}(j').
//
// It needs only the cells with a gain: those of row i left of width_i, which does not
// grow with i. A path that reaches a column j ≥ width_i has no gain in the rows from i
// on, where it is best for every good to have above it the bads with higher scores, or
// j bads if that is more. Let p_i bads score more than the i-th good. The terms of the
// rows from m on are then a sum of two parts,
//
//	T_m(j) = Σ_{i≥m} c_i(max(j, p_i)) = Σ_{m≤i<t} (S_j − j·s_gi) + Σ_{i≥t} c_i(p_i),
//
// t being the first row from m on with p_i ≥ j, and S_j = Σ_{l≤j} s_bl, which takes
// constant time. So NDCG@k takes k(k+1)/2 cells, the reciprocal rank n⁻ + 1, and the
// rest is O(n⁺ + n⁻) after sorting; a gain to which every rank contributes takes all
// n⁺(n⁻+1) cells.
type rowSearch struct {
	gains *bipartite.GainTable
	width []int // of the rows with gains
	cells int   // their sum
	ideal float64
}

func newRowSearch(gains *bipartite.GainTable) *rowSearch {
	r := &rowSearch{gains: gains, ideal: gains.Column(0)}
	width := 0
	for i := len(gains.Rows) - 1; i >= 0; i-- {
		width = max(width, len(gains.Rows[i]))
		if width > 0 && r.width == nil {
			r.width = make([]int, i+1)
		}
		if width > 0 {
			r.width[i] = width
			r.cells += width
		}
	}
	return r
}

// rowWork is one search.
type rowWork struct {
	*rowSearch
	lattice
	tail
	most []float64 // max_{j'≤j} F_i(j') of the current row
	from []float64 // of all rows: the j' where that is
}

// path is a candidate: up to row exit−1 it goes through cells with gains, ending at
// the best column up to start; from row exit on it is the tail from column start.
type path struct {
	value       float64
	exit, start int
}

func (r *rowSearch) worst(paths lattice, scratch *Scratch) (value, delta float64) {
	w := rowWork{rowSearch: r, lattice: paths, tail: newTail(paths, scratch)}
	best := path{value: math.Inf(-1)}
	if width := r.widthOf(0); width <= len(w.bad) {
		best = path{w.at(0, width), 0, width}
	}
	if len(r.width) > 0 {
		w.most, w.from = scratch.Floats(r.width[0]), scratch.Floats(r.cells)
		clear(w.most)
	}
	cells := w.from
	for i, width := range r.width {
		w.row(i, cells[:width])
		best = w.leave(i+1, best)
		cells = cells[width:]
	}
	w.trace(best)
	delta = r.ideal
	for i, a := range w.above {
		delta -= r.gains.At(i, int(a))
	}
	return max(0, r.ideal+best.value), max(0, delta)
}

// widthOf returns the width of a row, 0 for those without gains.
func (r *rowSearch) widthOf(i int) int {
	if i < len(r.width) {
		return r.width[i]
	}
	return 0
}

// row goes on by one row.
func (w *rowWork) row(i int, from []float64) {
	g, gains := w.good[i], w.gains.Rows[i]
	best, at := math.Inf(-1), 0
	for j := range from {
		v := w.most[j] + w.sums[j] - float64(float64(j)*g)
		if j < len(gains) {
			v -= gains[j]
		}
		if v > best {
			best, at = v, j
		}
		w.most[j], from[j] = best, float64(at)
	}
}

// leave returns the better of best and the paths that leave the cells with gains
// after row exit−1.
func (w *rowWork) leave(exit int, best path) path {
	last, next := w.width[exit-1]-1, w.widthOf(exit)
	if exit == len(w.good) {
		if v := w.most[last]; v > best.value {
			return path{v, exit, last}
		}
		return best
	}
	for start := next; start <= min(max(last, next), len(w.bad)); start++ {
		if v := w.most[min(start, last)] + w.at(exit, start); v > best.value {
			best = path{v, exit, start}
		}
	}
	return best
}

// trace sets above to the path.
func (w *rowWork) trace(p path) {
	for i := p.exit; i < len(w.good); i++ {
		w.above[i] = max(float64(p.start), w.peak[i])
	}
	j, end := p.start, 0
	for _, width := range w.width[:p.exit] {
		end += width
	}
	for i := p.exit - 1; i >= 0; i-- {
		width := w.width[i]
		j = int(w.from[end-width+min(j, width-1)])
		w.above[i] = float64(j)
		end -= width
	}
}

// tail computes T_m(j), the terms of the rows without gains.
type tail struct {
	sums    []float64 // S_j
	peak    []float64 // p_i
	best    []float64 // Σ_{k≥i} c_k(p_k)
	goods   []float64 // Σ_{k<i} s_gk
	reaches []float64 // the first i with p_i ≥ j
}

func newTail(paths lattice, scratch *Scratch) tail {
	good, bad := len(paths.good), len(paths.bad)
	t := tail{
		sums: scratch.Floats(bad + 1), peak: scratch.Floats(good), best: scratch.Floats(good + 1),
		goods: scratch.Floats(good + 1), reaches: scratch.Floats(bad + 1),
	}
	t.sums[0], t.goods[0], t.best[good] = 0, 0, 0
	for l, v := range paths.bad {
		t.sums[l+1] = t.sums[l] + v
	}
	p := 0
	for i, g := range paths.good {
		for p < bad && paths.bad[p] > g {
			p++
		}
		t.peak[i] = float64(p)
		t.goods[i+1] = t.goods[i] + g
	}
	for i := good - 1; i >= 0; i-- {
		t.best[i] = t.best[i+1] + t.sums[int(t.peak[i])] - float64(t.peak[i]*paths.good[i])
	}
	i := 0
	for j := range t.reaches {
		for i < good && int(t.peak[i]) < j {
			i++
		}
		t.reaches[j] = float64(i)
	}
	return t
}

// at returns T_m(j).
func (t *tail) at(m, j int) float64 {
	first := max(m, int(t.reaches[j]))
	return float64(float64(first-m)*t.sums[j]) - float64(float64(j)*(t.goods[first]-t.goods[m])) + t.best[first]
}
