package ascent

import (
	"math"
	"slices"

	"github.com/listwise/listwise/eval/measure"
)

// pattern divides the documents of a query into classes. A measure does not distinguish documents of the same class.
type pattern struct {
	class   []int32 // class of each document, from 0
	classes int

	// terms is not nil if the measure of the query is a sum over its relevant documents, which are class 1, while all
	// other documents are class 0. terms is then the matrix of the sum's possible terms, in rows of width elements. A
	// relevant document with i relevant and a irrelevant documents above it contributes the term in row i and column a.
	// If terms is nil, every grade is a class.
	terms []float64
	width int
}

// newPattern returns the pattern of a query with the given grades.
func newPattern(m measure.Measure, grades []float64, t *tables) pattern {
	if sum, ok := m.(measure.Additive); ok {
		if p, ok := newSum(sum, grades, t); ok {
			return p
		}
	}
	different := slices.Clone(grades)
	slices.Sort(different)
	different = slices.Compact(different)
	p := pattern{class: make([]int32, len(grades)), classes: len(different)}
	for i, g := range grades {
		c, _ := slices.BinarySearch(different, g)
		p.class[i] = int32(c)
	}
	return p
}

// newSum returns a pattern with terms. ok is false if t has no memory for the terms. It is also false if the sum of the
// terms is not the measure, because the measure distinguishes more than two grades of the query.
func newSum(m measure.Additive, grades []float64, t *tables) (p pattern, ok bool) {
	p = pattern{class: make([]int32, len(grades)), classes: 2}
	good := 0
	for i, g := range grades {
		if relevant(m, g) {
			p.class[i] = 1
			good++
		}
	}
	bad := len(grades) - good
	p.width = bad + 1
	if p.terms = t.of(m, good, bad); p.terms == nil {
		return p, false
	}
	ranked := slices.Clone(grades)
	slices.Sort(ranked)
	for _, order := range [][]float64{
		ranked, // worst first
		slices.Concat(ranked[bad:], ranked[:bad]), // relevant first, the worst of them on top
		interleaved(ranked),
	} {
		if !p.isValueOf(m, order) {
			return p, false
		}
	}
	slices.Reverse(ranked)
	return p, p.isValueOf(m, ranked)
}

// tables stores the matrices for pattern.terms, by the numbers of relevant and irrelevant documents of a query. Queries
// that agree in both numbers share a matrix.
type tables struct {
	known map[[2]int][]float64
	size  int
}

// maxTerms is the largest total number of terms in a tables, which limits its memory to 32 MB. A query whose terms
// would exceed the limit gets no terms.
const maxTerms = 4 << 20

// of returns the matrix of terms for queries with good relevant and bad irrelevant documents, or nil if it would exceed
// maxTerms.
func (t *tables) of(m measure.Additive, good, bad int) []float64 {
	key := [2]int{good, bad}
	if terms := t.known[key]; terms != nil {
		return terms
	}
	width := bad + 1
	if t.size+(good+1)*width > maxTerms {
		return nil
	}
	terms := make([]float64, 0, (good+1)*width)
	for i := range good {
		for a := range width {
			terms = append(terms, m.GoodGain(i, a, good, bad))
		}
	}
	terms = terms[:cap(terms)] // sum may read terms after the last one and multiplies them by 0
	if t.known == nil {
		t.known = make(map[[2]int][]float64)
	}
	t.known[key], t.size = terms, t.size+len(terms)
	return terms
}

// relevant reports whether the measure distinguishes the grade from grade 0.
func relevant(m measure.Measure, grade float64) bool {
	above, _ := m.Value([]float64{grade, 0})
	below, _ := m.Value([]float64{0, grade})
	return above != below
}

// isValueOf reports whether the sum of the terms equals the measure m of a ranking, given the grades by rank.
func (p *pattern) isValueOf(m measure.Measure, ranked []float64) bool {
	var sum float64
	at := 0
	for _, g := range ranked {
		if relevant(m, g) {
			sum += p.terms[at]
			at += p.width
		} else {
			at++
		}
	}
	v, _ := m.Value(ranked)
	return math.Abs(v-sum) < 1e-9
}

// sum returns the measure of an order of the documents, from terms. It does not branch on the class of a document,
// because the branch would be unpredictable.
func (p *pattern) sum(order []int32) float64 {
	var sum float64
	at, down := 0, p.width-1
	for _, i := range order {
		c := int(p.class[i])
		sum += float64(p.terms[at] * float64(c))
		at += 1 + c*down
	}
	return sum
}

// interleaved returns the elements of list, taken from both ends in turn.
func interleaved(list []float64) []float64 {
	var out []float64
	for i, j := 0, len(list)-1; i <= j; i, j = i+1, j-1 {
		out = append(out, list[i])
		if i < j {
			out = append(out, list[j])
		}
	}
	return out
}

// walk updates the value of one query's measure during a sequence of crossings of documents of different classes. The
// value depends only on the class at each rank, so the order of documents of the same class does not matter.
type walk struct {
	*pattern
	measure measure.Measure
	above   []int32   // by document, then by class: number of documents of the class above the document; not updated for the document's own class
	counts  []int32   // number of documents of each class, for start
	ranked  []float64 // grades by rank
	value   float64
}

// start sets the order of the documents, best first, and returns the measure of the order.
func (w *walk) start(m measure.Measure, p *pattern, grades []float64, order []int32) float64 {
	w.measure, w.pattern = m, p
	w.above, w.counts = resize(w.above, len(grades)*p.classes), resize(w.counts, p.classes)
	clear(w.counts)
	w.ranked = w.ranked[:0]
	for _, i := range order {
		copy(w.above[int(i)*p.classes:], w.counts)
		w.counts[p.class[i]]++
		w.ranked = append(w.ranked, grades[i])
	}
	w.value, _ = m.Value(w.ranked)
	return w.value
}

// cross moves document b above document a and returns the change of the value. The documents must have different
// classes. Any documents between a and b must have the class of a or the class of b.
func (w *walk) cross(a, b int32) float64 {
	k, ca, cb := w.classes, int(w.class[a]), int(w.class[b])
	aboveA, aboveB := w.above[int(a)*k:int(a+1)*k], w.above[int(b)*k:int(b+1)*k]
	var by float64
	switch {
	case w.terms == nil:
		by = w.exchange(rank(aboveA, aboveB, ca))
	case cb == 1: // a relevant document rises
		at := int(aboveA[1])*w.width + int(aboveB[0])
		by = w.terms[at-1] - w.terms[at]
	default:
		at := int(aboveB[1]-1)*w.width + int(aboveA[0])
		by = w.terms[at+1] - w.terms[at]
	}
	aboveA[cb]++
	aboveB[ca]--
	return by
}

// rank returns the rank of document a, from 0, if b is directly below a. ca is the class of a. The number of documents
// of class ca above a is not stored, so rank uses the number above b, minus 1 for a itself.
func rank(aboveA, aboveB []int32, ca int) int {
	n := int(aboveB[ca]) - 1
	for c, above := range aboveA {
		if c != ca {
			n += int(above)
		}
	}
	return n
}

// exchange exchanges the grades at rank and rank+1 and returns the change of the value.
func (w *walk) exchange(rank int) float64 {
	w.ranked[rank], w.ranked[rank+1] = w.ranked[rank+1], w.ranked[rank]
	before := w.value
	w.value, _ = w.measure.Value(w.ranked)
	return w.value - before
}

func resize[T any](s []T, n int) []T {
	if n > cap(s) {
		return make([]T, n)
	}
	return s[:n]
}
