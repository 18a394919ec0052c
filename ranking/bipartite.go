// Package ranking represents rankings of one query's good (relevant) documents
// against its bad (irrelevant) ones, the only rankings that LogRank's losses
// distinguish: exchanging two documents of the same class changes nothing.
//
// Start reading at [Bipartite], the two classes, and at [Order], a ranking of
// them as alternating blocks that is changed one pair at a time. The package
// must not know of features, scores, models, or of how rankings are chosen.
package ranking

// Bipartite is a query's documents split into two classes. Good and Bad hold
// documents' indices within the query, ascending; together they hold each of
// 0 … Docs()−1 once.
type Bipartite struct {
	Good, Bad []int32
}

// Split makes the documents with a grade of at least threshold good and all
// others bad.
func Split(grades []float64, threshold float64) Bipartite {
	var good int
	for _, g := range grades {
		if g >= threshold {
			good++
		}
	}
	p := Bipartite{Good: make([]int32, 0, good), Bad: make([]int32, 0, len(grades)-good)}
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
func (p Bipartite) Docs() int { return len(p.Good) + len(p.Bad) }

// Pairs returns the number n⁺n⁻ of pairs of a good and a bad document. When it
// is zero there is nothing to rank.
func (p Bipartite) Pairs() int { return len(p.Good) * len(p.Bad) }
