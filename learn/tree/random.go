package tree

// Seed sets the seed by which the next trees draw their thresholds. What is drawn for a leaf
// depends on it, on the path to the leaf and on the feature, and on nothing else.
func (g *Grower) Seed(seed uint64) { g.seed = seed }

// draw leaves one of the candidates, evenly among those that divide the codes that occur; where
// some values are missing, the one that divides these from all others is among them. None is
// left if there is none.
func (c *candidates) draw(key uint64, of *[256]sums, missing bool) {
	lowest, highest := -1, 0
	for k, code := range c.order {
		if of[code] == 0 {
			continue
		}
		if highest = k; lowest < 0 {
			lowest = k
		}
	}
	n := highest - lowest
	if missing {
		n++
	}
	if lowest < 0 || n == 0 {
		c.from, c.to = 0, 0
		return
	}
	c.from = lowest + int(key%uint64(n))
	c.to = c.from + 1
}

// mix is the finaliser of SplitMix64: it maps neighbouring numbers to unrelated ones.
func mix(z uint64) uint64 {
	z += 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
