package loss

import "math/bits"

// columnSearch finds the worst ranking for a gain whose terms γ_i(a) are convex in a:
// one more bad above a good costs less, the more there are already. AP and AUC are
// such. It goes by bads, best score first. The l-th bad stands above the goods from
// some i on, at a profit of
//
//	V_l(i) = Σ_{k≥i} 2κ(s_bl − s_gk) + γ_k(l−1) − γ_k(l),
//
// and the value of a ranking is Σ_l V_l(i_l). Each term of V_l falls with l, so if i'
// > i is worth as much as i to one bad, it is to all later ones: the best i of every
// bad on its own (the last of equals) ascend, and are a path (Yue et al., SIGIR 2007,
// Section 4, where this makes the greedy algorithm exact). Because they ascend, a
// bad between two whose i are known has few to look at, and all take O(n⁺ + n⁻ log
// n⁻) steps in place of the n⁺n⁻ cells of the lattice.
type columnSearch struct {
	// lost[l][i] = Σ_{k≥i} γ_k(l) − γ_k(l+1), what the gain loses when the bad after
	// l others goes above the goods from i on; n⁺ + 1 numbers a row. Rows are stored
	// once if they are all the same.
	lost [][]float64
}

// convexSlack allows for rounding in differences of γ.
const convexSlack = 1e-14

// newColumnSearch returns nil if a γ is not convex, or if not every good has one:
// then the rows are quicker.
func newColumnSearch(gains *gainTable) *columnSearch {
	good := len(gains.rows)
	if len(gains.rows[good-1]) == 0 {
		return nil
	}
	c := &columnSearch{lost: make([][]float64, gains.bad)}
	if step, ok := gains.perInversion(); ok {
		row := make([]float64, good+1)
		for i := range row {
			row[i] = float64(good-i) * step
		}
		for l := range c.lost {
			c.lost[l] = row
		}
		return c
	}
	all := make([]float64, gains.bad*(good+1))
	for l := range c.lost {
		row := all[l*(good+1) : (l+1)*(good+1)]
		for i := good - 1; i >= 0; i-- {
			loss := gains.at(i, l) - gains.at(i, l+1)
			if l > 0 && loss > gains.at(i, l-1)-gains.at(i, l)+convexSlack {
				return nil
			}
			row[i] = row[i+1] + loss
		}
		c.lost[l] = row
	}
	return c
}

func (c *columnSearch) worst(paths lattice, scratch *Scratch) (value, delta float64) {
	good, bad := len(paths.good), len(paths.bad)
	below := scratch.Floats(good + 1) // Σ_{k≥i} good[k]
	below[good] = 0
	for i := good - 1; i >= 0; i-- {
		below[i] = below[i+1] + paths.good[i]
	}
	from := scratch.Floats(bad)
	// First the bad in the middle, then those in the middles of the halves, and so on.
	for step := 1 << (bits.Len(uint(bad)) - 1); step > 0; step /= 2 {
		for l := step - 1; l < bad; l += 2 * step {
			least, most := 0, good
			if l >= step {
				least = int(from[l-step])
			}
			if l+step < bad {
				most = int(from[l+step])
			}
			best, at := bestStart(paths.bad[l], below, c.lost[l], least, most)
			from[l] = float64(at)
			value += best
			delta += c.lost[l][at]
		}
	}
	l := 0
	for i := range paths.above {
		for l < bad && int(from[l]) <= i {
			l++
		}
		paths.above[i] = float64(l)
	}
	return value, delta
}

// bestStart returns the largest of V(i) = (n⁺ − i)·bad − below[i] + lost[i], least ≤ i
// ≤ most, and the last i that has it.
func bestStart(bad float64, below, lost []float64, least, most int) (best float64, at int) {
	good := len(below) - 1
	at = most
	best = float64(good-most)*bad - below[most] + lost[most]
	for i := most - 1; i >= least; i-- {
		if v := float64(good-i)*bad - below[i] + lost[i]; v > best {
			best, at = v, i
		}
	}
	return best, at
}
