package tree

import "math"

// exactSums has the sums of gradients and second derivatives over some documents, and the number of documents.
type exactSums struct {
	gradient, curvature float64
	docs                int
}

func (s *exactSums) add(gradient, curvature float64) {
	s.gradient += gradient
	s.curvature += curvature
	s.docs++
}

func (s *exactSums) join(other exactSums) {
	s.gradient += other.gradient
	s.curvature += other.curvature
	s.docs += other.docs
}

// exactScan searches for the best threshold of one feature in one leaf.
type exactScan struct {
	*Exact
	leaf    *exactLeaf
	feature int
	column  []uint64   // words of the leaf's rows with a value, in ascending order; see wordOf
	after   []exactSum // after[i] has the sums over column[i:]
	missing exactSums
	only    *float32 // the only threshold to consider; nil for all
	best    valueSplit
}

// exactSum has the sums of exactSums without the number of documents.
type exactSum struct{ gradient, curvature float64 }

// bestOf returns the best split of the leaf l by feature f. column has the words of the leaf's rows in ascending order.
// Among splits of equal gain, bestOf prefers missing values on the right, and then the lowest threshold.
func (g *Exact) bestOf(l *exactLeaf, f int, column []uint64, worker int) valueSplit {
	s := exactScan{Exact: g, leaf: l, feature: f}
	present := len(column)
	for ; present > 0 && isMissing(column[present-1]); present-- {
		row := uint32(column[present-1])
		s.missing.add(g.lambda[row], g.second[row])
	}
	if s.column = column[:present]; present == 0 {
		return valueSplit{}
	}
	if cap(g.suffix[worker]) < present {
		g.suffix[worker] = make([]exactSum, g.rows)
	}
	s.after = g.suffix[worker][:present]
	var sum exactSum
	for i := present - 1; i >= 0; i-- {
		row := uint32(column[i])
		sum.gradient += g.lambda[row]
		sum.curvature += g.second[row]
		s.after[i] = sum
	}
	s.best.gain = g.LeastGain
	s.draw()
	s.scan(false)
	if s.missing.docs > 0 {
		s.scan(true)
	}
	return s.best
}

// draw sets s.only to a random threshold between the smallest and the largest value, if the options ask for random
// thresholds.
func (s *exactScan) draw() {
	low, high := valueOf(s.column[0]), valueOf(s.column[len(s.column)-1])
	if !s.RandomThresholds || low == high {
		return
	}
	u := float64(mix(s.leaf.key^uint64(s.feature))>>11) / (1 << 53)
	v := float32(float64(low) + float64(u*(float64(high)-float64(low))))
	if v >= high {
		v = math.Nextafter32(high, low)
	}
	s.only = &v
}

// from returns the sums over column[i:].
func (s *exactScan) from(i int) exactSums {
	return exactSums{s.after[i].gradient, s.after[i].curvature, len(s.column) - i}
}

// scan considers all thresholds, with missing values on the side that missingLeft selects. With missing values on the
// right, scan also considers the split with all present values on the left.
func (s *exactScan) scan(missingLeft bool) {
	var left exactSums
	if missingLeft {
		left = s.missing
	}
	for i, word := range s.column[:len(s.column)-1] {
		left.add(s.lambda[uint32(word)], s.second[uint32(word)])
		after := s.column[i+1]
		if word>>32 == after>>32 {
			continue
		}
		right := s.from(i + 1)
		if !missingLeft {
			right.join(s.missing)
		}
		v, next := valueOf(word), valueOf(after)
		if s.only == nil {
			s.consider(left, right, midway(v, next), missingLeft)
		} else if v <= *s.only && *s.only < next {
			s.consider(left, right, *s.only, missingLeft)
		}
	}
	if !missingLeft && s.only == nil {
		s.consider(s.from(0), s.missing, math.MaxFloat32, false)
	}
}

// midway returns the mean of two numbers, or low if rounding makes the mean equal to high.
func midway(low, high float32) float32 {
	if m := float32((float64(low) + float64(high)) / 2); m >= low && m < high {
		return m
	}
	return low
}

// exactNoise is the largest relative gain of a split that counts as a rounding error, relative to the total strength of
// both sides.
const exactNoise = 1e-12

// consider makes a split the best one if it is allowed and better than the best so far.
func (s *exactScan) consider(left, right exactSums, threshold float32, missingLeft bool) {
	if min(left.docs, right.docs) < max(1, s.LeafDocuments) || min(left.curvature, right.curvature) < s.LeafCurvature {
		return
	}
	a := s.value(left.gradient, left.curvature, s.leaf.bounds)
	b := s.value(right.gradient, right.curvature, s.leaf.bounds)
	if sign := s.sign(s.feature); sign > 0 && a > b || sign < 0 && a < b {
		return
	}
	l := s.leaf
	sides := s.strengthAt(left.gradient, left.curvature, a) + s.strengthAt(right.gradient, right.curvature, b)
	gain := sides - s.strengthAt(l.gradient, l.curvature, s.value(l.gradient, l.curvature, l.bounds))
	if gain > s.best.gain && gain > exactNoise*math.Abs(sides) {
		if s.missing.docs == 0 {
			missingLeft = 2*left.curvature >= l.curvature
		}
		s.best = valueSplit{gain, s.feature, threshold, missingLeft, true}
	}
}
