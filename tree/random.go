package tree

// Seed sets the seed by which the next trees draw their thresholds. What is drawn for a leaf
// depends on it, on the path to the leaf and on the feature, and on nothing else.
func (g *Grower) Seed(seed uint64) { g.seed = seed }

// codes is the range of the codes that occur in a node, without that of missing values.
type codes struct {
	some            bool
	lowest, highest int
}

// add extends the range to the codes that have sums.
func (r *codes) add(of *[256]sums) {
	for c, v := range of[:missingCode] {
		if v == 0 {
			continue
		}
		if !r.some {
			r.some, r.lowest, r.highest = true, c, c
		}
		r.lowest, r.highest = min(r.lowest, c), max(r.highest, c)
	}
}

// draw returns as [from, to) the one cut to be looked at, evenly among those that divide the
// range; where some values are missing, the one above the range divides these from all others.
// The result is empty if there is none.
func (r *codes) draw(key uint64, cuts int, missing bool) (from, to int) {
	n := r.highest - r.lowest
	if missing {
		n++
	}
	if !r.some || n == 0 {
		return 0, 0
	}
	from = min(cuts, r.lowest+int(key%uint64(n)))
	return from, from + 1
}

// mix is the finaliser of SplitMix64: it maps neighbouring numbers to unrelated ones.
func mix(z uint64) uint64 {
	z += 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
