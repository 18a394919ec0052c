package loss

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"

	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/internal/kernel"
	"github.com/listwise/listwise/learn/loss/bipartite"
)

// StructuredHinge is the margin-rescaled structured hinge of SVMmap and similar methods. It is the
// largest violation of the margin Δ(y) over all rankings y of a query's good and bad documents:
//
//	L(s) = max_y Δ(y) − w·δφ(y),   w·δφ(y) = 2κ Σ_{(g,b) inverted in y} (s_g − s_b).
//
// Δ(y) = G(y*) − G(y) is the loss of the gain G, and y* is the ideal ranking. With average precision the
// hinge is SVMmap (Y. Yue, T. Finley, F. Radlinski, T. Joachims, A Support Vector Method for Optimizing
// Average Precision, SIGIR 2007). With NDCG@k and the reciprocal rank it is SVM-NDCG and SVM-MRR (S.
// Chakrabarti, R. Khanna, U. Sawant, C. Bhattacharyya, Structured Learning for Non-Smooth Ranking
// Losses, KDD 2008). With AUC it is a sum of pairwise hinges (T. Joachims, A Support Vector Method for
// Multivariate Performance Measures, ICML 2005). The hinge is convex and piecewise linear. It is at
// least the Δ of the ranking by score.
//
// The maximum is exact. Some worst ranking y has the goods, and likewise the bads, in the order of their
// scores. Such a ranking is a path through a lattice, as in LogRank's lattice form. Row i is the i-th
// good document. Column j_i is the number of bad documents above it. With s_g1 ≥ s_g2 ≥ … and s_b1 ≥ s_b2 ≥ …,
//
//	L(s) = G(y*) + max over 0 ≤ j_1 ≤ … ≤ j_n⁺ ≤ n⁻ of Σ_i c_i(j_i) − γ_i(j_i),
//	c_i(j) = 2κ Σ_{l≤j} (s_bl − s_gi),   G(y) = Σ_i γ_i(j_i)
//
// where γ_i(j) is the term of the gain for the i-th good with j bads above it. There are two searches for
// the maximum: columnSearch for measures with convex terms, and rowSearch for all others.
//
// If several rankings attain the maximum, λ is the subgradient of one of them. λ is averaged over
// documents of one class with equal scores, so it does not depend on the order of documents in a file.
//
// With a cutoff k far below n⁻, a ranking with any k bads above all goods has Δ = G(y*). L is then below
// G(y*), its value at w = 0, only if the mean score of the goods exceeds that of the k highest bads. On
// some data, such as OHSUMED with NDCG@10, no w achieves that for the sum over queries. The minimum is
// then at w = 0. NDCG without a cutoff does not have this problem.
type StructuredHinge struct {
	// Gain is the measure G, computed on binary grades.
	Gain measure.Additive

	// Kappa is the scale κ of the feature map. SVMmap uses [bipartite.KappaPairs].
	Kappa bipartite.Kappa

	// Threshold is the lowest grade of a good document; 0 means 1.
	Threshold float64

	// Weight multiplies the loss; 0 means 1.
	Weight float64
}

var _ Loss = StructuredHinge{}

// Validate returns an error for options that fit no query.
func (l StructuredHinge) Validate() error {
	switch {
	case l.Gain == nil:
		return errors.New("no measure to train for")
	case !(l.Threshold >= 0) || math.IsInf(l.Threshold, 1):
		return fmt.Errorf("threshold %v, expected a finite non-negative number", l.Threshold)
	}
	if err := l.Kappa.Validate(); err != nil {
		return err
	}
	return positiveOrZero("weight", l.Weight)
}

// Bind implements [Loss]. It draws no random numbers. It returns a [CuttingPlane], or [Nothing] for a
// query without good or without bad documents.
func (l StructuredHinge) Bind(grades []float64, _ *rand.Rand) (QueryLoss, error) {
	if err := l.Validate(); err != nil {
		return nil, err
	}
	pairs := bipartite.Split(grades, orDefault(l.Threshold, 1))
	if pairs.Pairs() == 0 {
		return Nothing, nil
	}
	search, err := newWorstSearch(l.Gain, len(pairs.Good), len(pairs.Bad))
	if err != nil {
		return nil, err
	}
	return &boundStructured{
		Scaled: bipartite.Scaled{Classes: pairs, Slope: 2 * l.Kappa.Scale(pairs)},
		weight: orDefault(l.Weight, 1),
		search: search,
	}, nil
}

// Traits implements [Loss].
func (StructuredHinge) Traits() Traits { return Traits{Convex: true, ShiftInvariant: true} }

// worstSearch finds the worst ranking of a query.
type worstSearch interface {
	// worst finds the ranking y with the largest value Δ(y) − w·δφ(y). It returns this value and
	// Δ(y), and sets paths.above to the ranking. It does not retain its arguments.
	worst(paths lattice, scratch *Scratch) (value, delta float64)
}

// lattice contains the scores of a query, multiplied by 2κ, and one path through the lattice: a ranking.
type lattice struct {
	good, bad []float64 // scores, in descending order
	above     []float64 // number of bads above each good, in ascending order
}

func newWorstSearch(gain measure.Additive, good, bad int) (worstSearch, error) {
	if c := newKnownColumnSearch(gain, good, bad); c != nil {
		return c, nil
	}
	gains, err := bipartite.NewGainTable(gain, good, bad)
	if err != nil {
		return nil, err
	}
	if c := newColumnSearch(gains); c != nil {
		return c, nil
	}
	return newRowSearch(gains), nil
}

type boundStructured struct {
	bipartite.Scaled
	weight float64
	search worstSearch
}

func (b *boundStructured) Eval(scores, lambda []float64, scratch *Scratch) float64 {
	value, _ := b.eval(scores, lambda, scratch)
	return b.weight * value
}

// Support implements [CuttingPlane]. The plane is Δ(y) − w·δφ(y), where y is the worst ranking at the
// given scores; Support returns its constant Δ(y).
func (b *boundStructured) Support(scores, lambda []float64, scratch *Scratch) float64 {
	_, delta := b.eval(scores, lambda, scratch)
	return b.weight * delta
}

func (b *boundStructured) eval(scores, lambda []float64, scratch *Scratch) (value, delta float64) {
	scratch.Reset()
	good, goodAt := b.Sorted(b.Good, scores, scratch)
	bad, badAt := b.Sorted(b.Bad, scores, scratch)
	bipartite.Centre(good, bad)
	paths := lattice{good, bad, scratch.Floats(len(good))}
	value, delta = b.search.worst(paths, scratch)
	if lambda == nil {
		return value, delta
	}
	below := countBelow(paths.above, len(bad), scratch)
	kernel.AverageTies(paths.above, good)
	kernel.AverageTies(below, bad)
	scale := b.weight * b.Slope
	for i, at := range goodAt {
		lambda[b.Good[int(at)]] = scale * paths.above[i]
	}
	for l, at := range badAt {
		lambda[b.Bad[int(at)]] = -scale * below[l]
	}
	return value, delta
}

// countBelow returns the number of goods below each bad, from the numbers of bads
// above each good.
func countBelow(above []float64, bad int, scratch *Scratch) []float64 {
	below := scratch.Floats(bad)
	i := 0
	for l := range below {
		for i < len(above) && int(above[i]) <= l {
			i++
		}
		below[l] = float64(len(above) - i)
	}
	return below
}

// rowSearch finds the worst ranking for any gain. It uses the recursion over the lattice
//
//	F_i(j) = c_i(j) − γ_i(j) + max_{j'≤j} F_{i−1}(j').
//
// It evaluates only the cells with a gain, γ_i(j) ≠ 0. In row i these are the columns below width_i, and
// width_i does not increase with i. A path that reaches a column j ≥ width_i in row i has no gain in
// this row and all later rows. These rows are the tail of the path. Let p_i be the number of bads with a
// higher score than the i-th good. In the tail, each term is largest if max(j, p_i) bads are above the
// i-th good. The sum of the terms from row m on is then
//
//	T_m(j) = Σ_{i≥m} c_i(max(j, p_i)) = Σ_{m≤i<t} (S_j − j·s_gi) + Σ_{i≥t} c_i(p_i),
//
// where t is the first row from m on with p_i ≥ j, and S_j = Σ_{l≤j} s_bl. With prefix sums, T_m(j) takes
// constant time. NDCG@k has k(k+1)/2 cells with a gain, and the reciprocal rank has n⁻ + 1. All other work
// is O(n⁺ + n⁻) after sorting. If every rank contributes to the gain, there are n⁺(n⁻+1) cells.
type rowSearch struct {
	gains *bipartite.GainTable
	width []int   // width_i of the rows with gains
	cells int     // sum of width
	ideal float64 // G(y*)
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

// rowWork is the state of one search.
type rowWork struct {
	*rowSearch
	lattice
	tail
	most []float64 // max_{j'≤j} F_i(j') of the current row
	from []float64 // the j' that attains this maximum, for all cells row by row
}

// path is a candidate for the worst ranking. Before row exit, it follows the best path through cells
// with gains that ends at a column of at most start. Rows from exit on are the tail, in which max(start,
// p_i) bads are above the i-th good. value is the value of the whole path.
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

// widthOf returns width_i, or 0 if row i has no cells with gains.
func (r *rowSearch) widthOf(i int) int {
	if i < len(r.width) {
		return r.width[i]
	}
	return 0
}

// row computes most and from for row i. Before the call, most must contain the values of row i−1.
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

// leave returns the better of two paths: best, and the best path whose tail begins at row exit.
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

// trace sets w.above to the ranking of path p. Before the tail, it reads the columns from w.from, last
// row first.
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

// tail computes T_m(j), the sum of the terms from row m on if none of these rows has a gain.
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

// columnSearch finds the worst ranking for a gain whose terms γ_i(a) are convex in a, such as AP and
// AUC. Convex means that another bad above a good costs less if more bads are above the good already.
// The search places the bads in descending order of their scores. If the l-th bad is above the goods
// from i on, it adds
//
//	V_l(i) = Σ_{k≥i} 2κ(s_bl − s_gk) + γ_k(l−1) − γ_k(l),
//
// to the value of the ranking, which is Σ_l V_l(i_l). Each term of V_l decreases with l. So if
// V_l(i') ≥ V_l(i) for an i' > i, the same holds for all later bads. Let i_l be the largest i that
// maximises V_l. Then i_l does not decrease with l, so the i_l form a path. (Yue et al., SIGIR 2007,
// Section 4, prove in the same way that the greedy algorithm is exact.) Given the i_l of an earlier and
// a later bad, only the i between them remain. Divide and conquer over the bads therefore takes
// O(n⁺ + n⁻ log n⁻) steps, while the lattice has n⁺n⁻ cells.
type columnSearch struct {
	gain  func(i, a int) float64 // γ_i(a)
	falls [][]float64            // falls[l][i] = γ_i(l) − γ_i(l+1); nil for large queries
}

// mostFalls is the largest number of pairs of a query for which tabulate makes a table.
const mostFalls = 1 << 18

// tabulate stores the decreases γ_i(l) − γ_i(l+1) of all goods i and numbers of bads l in a table, if
// the query has at most mostFalls pairs.
func (c *columnSearch) tabulate(good, bad int) *columnSearch {
	if good > mostFalls/bad {
		return c
	}
	all := make([]float64, good*bad)
	c.falls = make([][]float64, bad)
	for l := range c.falls {
		c.falls[l] = all[l*good : (l+1)*good]
		for i := range c.falls[l] {
			c.falls[l][i] = c.fall(i, l)
		}
	}
	return c
}

// convexSlack is the tolerance for rounding errors in differences of γ.
const convexSlack = 1e-14

// newColumnSearch returns nil if a term γ_i is not convex. It also returns nil if the last goods have no
// gain, because rowSearch is then faster.
func newColumnSearch(gains *bipartite.GainTable) *columnSearch {
	good := len(gains.Rows)
	if len(gains.Rows[good-1]) == 0 {
		return nil
	}
	c := &columnSearch{gain: gains.At}
	if _, ok := gains.PerInversion(); ok {
		return c.tabulate(good, gains.Bad)
	}
	for i := range good {
		for l := 1; l < gains.Bad; l++ {
			if c.fall(i, l) > c.fall(i, l-1)+convexSlack {
				return nil
			}
		}
	}
	return c.tabulate(good, gains.Bad)
}

// newKnownColumnSearch returns a search for AP and AUC, which are known to be convex, and nil for other
// measures. The search needs no table of all gains, which has n⁺(n⁻+1) elements: gigabytes for tens of
// thousands of documents. For large queries, it computes the gains when they are needed.
func newKnownColumnSearch(gain measure.Additive, good, bad int) *columnSearch {
	if !knownConvex(gain) {
		return nil
	}
	c := &columnSearch{gain: func(i, a int) float64 { return gain.GoodGain(i, a, good, bad) }}
	return c.tabulate(good, bad)
}

// knownConvex reports whether a gain is average precision or AUC, without a cutoff.
func knownConvex(gain measure.Additive) bool {
	name := measure.Family(gain)
	return (name == "map" || name == "ap" || name == "auc") && measure.CutoffOf(gain) == 0
}

// fall returns γ_i(l) − γ_i(l+1): the decrease of the gain if the i-th good has l+1 instead of l bads
// above it.
func (c *columnSearch) fall(i, l int) float64 { return c.gain(i, l) - c.gain(i, l+1) }

func (c *columnSearch) worst(paths lattice, scratch *Scratch) (value, delta float64) {
	good, bad := len(paths.good), len(paths.bad)
	from := scratch.Floats(bad)
	// Divide and conquer: first the bad in the middle, then the middle of each half, and so on.
	for step := 1 << (bits.Len(uint(bad)) - 1); step > 0; step /= 2 {
		for l := step - 1; l < bad; l += 2 * step {
			least, most := 0, good
			if l >= step {
				least = int(from[l-step])
			}
			if l+step < bad {
				most = int(from[l+step])
			}
			from[l] = float64(c.bestStart(paths, l, least, most))
		}
	}
	l, sum := 0, 0.0 // sum is over the bads before the l-th
	for i, s := range paths.good {
		for l < bad && int(from[l]) <= i {
			sum += paths.bad[l]
			l++
		}
		paths.above[i] = float64(l)
		value += sum - float64(float64(l)*s)
		delta += c.gain(i, 0) - c.gain(i, l)
	}
	delta = max(0, delta)
	return max(0, value+delta), delta
}

// bestStart returns the i with the largest V_l(i), least ≤ i ≤ most; the last one if several are equal.
func (c *columnSearch) bestStart(paths lattice, l, least, most int) (at int) {
	at = most
	above, best, score := 0.0, 0.0, paths.bad[l] // above is V_l(i) − V_l(most)
	if c.falls != nil {
		falls, goods := c.falls[l][:most], paths.good[:most]
		for i := most - 1; i >= least; i-- {
			above += score - goods[i] + falls[i]
			if above > best {
				best, at = above, i
			}
		}
		return at
	}
	for i := most - 1; i >= least; i-- {
		above += score - paths.good[i] + c.fall(i, l)
		if above > best {
			best, at = above, i
		}
	}
	return at
}
