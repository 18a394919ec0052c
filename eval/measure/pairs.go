package measure

import "slices"

// pairs is the pairwise accuracy: the share of pairs of documents with different grades in which the
// better document is ranked higher (Burges, Ragno and Le, 2006, section 2). A tied pair counts one
// half. For binary grades it is the AUC. The convention defines the value of a query without such a
// pair.
type pairs struct{ auc }

func newPairs(s spec) Averager { return pairs{auc{newBinary(s)}} }

var _ Additive = pairs{}

// relevance overrides auc's method. pairs uses all grades, so it has no lowest relevant grade.
func (pairs) relevance() (threshold float64, ok bool) { return 0, false }

// Value implements Measure.
func (m pairs) Value(ranked []float64) (float64, bool) {
	s := getScratch()
	defer s.put()
	t := newGradeTree(s, ranked)
	var right int64
	for _, l := range ranked {
		right += t.above(l)
		t.add(l)
	}
	return m.share(2*right, s, ranked)
}

// Average implements Averager.
func (m pairs) Average(ranked []float64, ends []int) (float64, bool) {
	s := getScratch()
	defer s.put()
	t := newGradeTree(s, ranked)
	var right2 int64 // twice the number of pairs in order, so that it is whole
	start := 0
	for _, end := range withRest(ends, len(ranked)) {
		group := ranked[start:end]
		for _, l := range group {
			right2 += 2 * t.above(l)
		}
		for _, l := range group {
			t.add(l)
		}
		if len(group) > 1 {
			right2 += unequalPairs(s, group)
		}
		start = end
	}
	return m.share(right2, s, ranked)
}

func (m pairs) share(right2 int64, s *scratch, ranked []float64) (float64, bool) {
	all := unequalPairs(s, ranked)
	if all == 0 {
		return m.convention.valueless()
	}
	return float64(right2) / float64(2*all), true
}

// gradeTree counts the documents of each grade added so far. It is a Fenwick tree over the distinct
// grades.
type gradeTree struct {
	levels []float64 // distinct grades, ascending
	counts []int64   // counts[i] covers the levels i−lowbit(i)+1 … i, from 1
	total  int64
}

func newGradeTree(s *scratch, grades []float64) gradeTree {
	s.grades = append(s.grades[:0], grades...)
	slices.Sort(s.grades)
	levels := slices.Compact(s.grades)
	s.counts = resize(s.counts, len(levels)+1)
	clear(s.counts)
	return gradeTree{levels: levels, counts: s.counts}
}

func (t *gradeTree) add(grade float64) {
	i, _ := slices.BinarySearch(t.levels, grade)
	for i++; i < len(t.counts); i += i & -i {
		t.counts[i]++
	}
	t.total++
}

// above returns the number of documents added so far whose grade is higher.
func (t *gradeTree) above(grade float64) int64 {
	i, _ := slices.BinarySearch(t.levels, grade)
	n := t.total
	for i++; i > 0; i -= i & -i {
		n -= t.counts[i]
	}
	return n
}
