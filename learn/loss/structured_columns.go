package loss

import (
	"math/bits"

	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/learn/loss/bipartite"
)

// columnSearch finds the worst ranking for a gain whose terms γ_i(a) are convex in a:
// one more bad above a good costs less, the more there are already. AP and AUC have such
// terms. It places the bads in descending order of their scores. If the l-th bad stands
// above the goods from i on, it adds
//
//	V_l(i) = Σ_{k≥i} 2κ(s_bl − s_gk) + γ_k(l−1) − γ_k(l),
//
// to the value of the ranking, which is Σ_l V_l(i_l). Each term of V_l falls with l, so
// if V_l(i') ≥ V_l(i) for an i' > i, the same holds for all later bads: the best i of
// the bads, each on its own (the last of equals), ascend and are a path (Yue et al.,
// SIGIR 2007, Section 4, where this makes the greedy algorithm exact). Because they
// ascend, the best i of a bad lies between those of its neighbours: taken by halves, all
// of them take O(n⁺ + n⁻ log n⁻) steps instead of the n⁺n⁻ cells of the lattice.
type columnSearch struct {
	gain  func(i, a int) float64 // γ_i(a)
	falls [][]float64            // falls[l][i] = γ_i(l) − γ_i(l+1); nil for large queries
}

// mostFalls is the size of the largest query, in pairs, whose falls are kept.
const mostFalls = 1 << 18

// tabulate keeps the falls of a query that is not too large.
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

// convexSlack allows for rounding in differences of γ.
const convexSlack = 1e-14

// newColumnSearch returns nil if a γ is not convex, or if not every good has one:
// then the rows are quicker.
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

// newKnownColumnSearch is newColumnSearch for the measures that are known to be
// convex, and nil for others. In large queries their terms are computed when they are
// needed: a table of n⁺(n⁻+1) would be gigabytes for some ten thousand documents.
func newKnownColumnSearch(gain measure.Additive, good, bad int) *columnSearch {
	if !knownConvex(gain) {
		return nil
	}
	c := &columnSearch{gain: func(i, a int) float64 { return gain.GoodGain(i, a, good, bad) }}
	return c.tabulate(good, bad)
}

// knownConvex reports whether a gain is average precision or AUC.
func knownConvex(gain measure.Additive) bool {
	name := measure.Family(gain)
	return (name == "map" || name == "ap" || name == "auc") && measure.CutoffOf(gain) == 0
}

// fall returns γ_i(l) − γ_i(l+1), by how much the (l+1)-th bad above the i-th good
// reduces the gain.
func (c *columnSearch) fall(i, l int) float64 { return c.gain(i, l) - c.gain(i, l+1) }

func (c *columnSearch) worst(paths lattice, scratch *Scratch) (value, delta float64) {
	good, bad := len(paths.good), len(paths.bad)
	from := scratch.Floats(bad)
	// The bad in the middle comes first, then those in the middles of the halves, and so on.
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
	l, sum := 0, 0.0 // of the bads before the l-th
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

// bestStart returns the last of the i, least ≤ i ≤ most, for which V_l(i) is largest.
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
