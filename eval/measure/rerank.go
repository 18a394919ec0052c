package measure

import (
	"cmp"
	"slices"

	"github.com/listwise/listwise/dataset"
)

// Rerank returns scores for a system that reranks only the first documents of another ranking, such as
// that of a search engine. places contains the place of each row of d in the other ranking of its query,
// from 0. The first depth documents of each query are ranked by scores and keep their ties. The other
// documents follow in the order of their places, without ties. A document among the first that the system
// did not retrieve keeps the score [dataset.NotRetrieved].
//
// The result is for [Evaluate] and [EvaluateRun] with the same ties. Only the order of the results within a
// query has a meaning. No score may be NaN.
func Rerank(d *dataset.Dataset, places []int, scores []float64, depth int, ties TiePolicy) []float64 {
	reranked := make([]float64, len(scores))
	var levels []float64 // the different scores of the first documents, ascending
	for i := range d.Queries {
		q := &d.Queries[i]
		levels = levels[:0]
		for row := q.Start; row < q.Start+q.Len(); row++ {
			if places[row] < depth {
				levels = append(levels, scoreUnder(ties, scores[row]))
			}
		}
		slices.Sort(levels)
		levels = slices.Compact(levels)
		for row := q.Start; row < q.Start+q.Len(); row++ {
			switch {
			case places[row] >= depth:
				reranked[row] = -float64(places[row])
			case scores[row] == dataset.NotRetrieved:
				reranked[row] = dataset.NotRetrieved
			default:
				// Levels replace scores, since no float64 is below the lowest scores.
				level, _ := slices.BinarySearch(levels, scoreUnder(ties, scores[row]))
				reranked[row] = float64(1 + level)
			}
		}
	}
	return reranked
}

// scoreUnder returns a score as Evaluate compares it.
func scoreUnder(ties TiePolicy, score float64) float64 {
	if ties == TiesTREC {
		return TRECScore(score)
	}
	return score
}

// Places returns the place of each row of d, from 0, in the ranking of its query by descending values.
// Rows of equal values stay in their order.
func Places(d *dataset.Dataset, values []float32) []int {
	places := make([]int, len(values))
	var order []int
	for i := range d.Queries {
		q := &d.Queries[i]
		order = order[:0]
		for row := q.Start; row < q.Start+q.Len(); row++ {
			order = append(order, row)
		}
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(values[b], values[a]) })
		for place, row := range order {
			places[row] = place
		}
	}
	return places
}
