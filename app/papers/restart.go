package papers

import (
	"fmt"
	"math"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/learn/loss/bipartite"
	"github.com/listwise/listwise/learn/loss/logrank/ranking"
)

// additive returns a measure that can be the gain of a ranking.
func additive(name string) (measure.Additive, error) {
	m, err := measure.Parse(name, letor3, measure.Options{})
	if err != nil {
		return nil, err
	}
	a, ok := m.(measure.Additive)
	if !ok {
		return nil, fmt.Errorf("measure %s is not a sum over relevant documents", name)
	}
	return a, nil
}

// topFor returns how many bads to put above all goods so that the loss Δ of the
// ranking is as near as can be to the one wanted, and that Δ. The fewest win
// among equals, except that Δ = 1 asks for the worst ranking of all, where others
// have no gain either.
func topFor(pairs bipartite.Classes, gain ranking.Gain, wanted float64) (top int, delta float64) {
	good, bad := len(pairs.Good), len(pairs.Bad)
	best := math.Inf(1)
	for j := range bad + 1 {
		d := 1.0
		for i := range good {
			d -= gain.GoodGain(i, j, good, bad)
		}
		if distance := math.Abs(d - wanted); distance < best-1e-12 || wanted >= 1 && distance < best+1e-12 {
			best, top, delta = distance, j, within(d)
		}
	}
	return top, delta
}

// within returns a loss Δ, which as 1 less a sum may miss 0 or 1 by rounding,
// between the two.
func within(delta float64) float64 { return min(max(delta, 0), 1) }

// ranked is a query that has pairs to rank.
type ranked struct {
	query *dataset.Query
	pairs bipartite.Classes
}

// rankable returns the queries of d with good and bad documents.
func rankable(d *dataset.Dataset) []ranked {
	var list []ranked
	for i := range d.Queries {
		q := &d.Queries[i]
		if pairs := bipartite.Split(q.Grades, 1); pairs.Pairs() > 0 {
			list = append(list, ranked{q, pairs})
		}
	}
	return list
}
