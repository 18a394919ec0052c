// Package bipartite contains the common parts of losses on rankings of a query's good (relevant) and bad
// (irrelevant) documents. These are the two classes, the scale of the feature map on their pairs, and
// the terms of a measure that depends only on the classes.
//
// Start reading at [Classes]. The package must not depend on any loss.
package bipartite

// Classes is a query's documents split into two classes. Good and Bad contain document indices within
// the query in ascending order. Together they contain each of 0 … Docs()−1 once.
type Classes struct {
	Good, Bad []int32
}

// Split assigns the documents with a grade of at least threshold to Good, and all others to Bad.
func Split(grades []float64, threshold float64) Classes {
	var good int
	for _, g := range grades {
		if g >= threshold {
			good++
		}
	}
	p := Classes{Good: make([]int32, 0, good), Bad: make([]int32, 0, len(grades)-good)}
	for i, g := range grades {
		if g >= threshold {
			p.Good = append(p.Good, int32(i))
		} else {
			p.Bad = append(p.Bad, int32(i))
		}
	}
	return p
}

// Docs returns the number of documents.
func (p Classes) Docs() int { return len(p.Good) + len(p.Bad) }

// Pairs returns the number n⁺n⁻ of pairs of a good and a bad document. If it is 0, there is nothing to
// rank.
func (p Classes) Pairs() int { return len(p.Good) * len(p.Bad) }
