package synth

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/internal/random"
)

// Square describes the synthetic data of ListMLE (Xia, Liu, Wang, Zhang and Li, Listwise Approach to Learning
// to Rank: Theory and Algorithm, ICML 2008). Documents are independent points x of the unit square. The
// documents of a query are ranked by
//
//	y = x₁ + 10 x₂ + ε,   ε ~ N(0, Noise²)
//
// The whole permutation is the ground truth. The document with the largest y has as grade the number of
// documents n, the next one n−1, and so on down to 1. So all grades of a query are different.
type Square struct {
	Queries int     // number of queries, at least 1
	Docs    int     // documents of every query, at least 2; the paper has 15
	Noise   float64 // standard deviation of ε, 0 or more; the paper has 0.005
	Seed    uint64
}

// SquareWeights are the weights of x₁ and x₂ in y, see [Square]. No ranker orders a random pair of documents
// correctly more often than the linear ranker with these weights.
var SquareWeights = [2]float64{1, 10}

// Generate returns the data set. Query ids count from 1. Equal descriptions give equal data. A query does not
// depend on other queries. So with more queries, the first ones stay the same.
func (s Square) Generate() (*dataset.Dataset, error) {
	if err := s.check(); err != nil {
		return nil, fmt.Errorf("square data: %w", err)
	}
	var b dataset.Builder
	x, y := make([]float32, 2*s.Docs), make([]float64, s.Docs)
	order, grades, docs := make([]int, s.Docs), make([]float64, s.Docs), make([]string, s.Docs)
	for i := range s.Queries {
		id := strconv.Itoa(i + 1)
		rng := random.Stream(s.Seed, "synth square", id)
		for k := range y {
			x[2*k], x[2*k+1] = rng.Float32(), rng.Float32()
			y[k] = squareTarget(x[2*k], x[2*k+1]) + float64(s.Noise*random.Normal(rng))
			order[k], docs[k] = k, fmt.Sprintf("%s-%04d", id, k+1)
		}
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(y[b], y[a]) })
		for rank, k := range order {
			grades[k] = float64(s.Docs - rank)
		}
		if err := b.Add(id, grades, x, docs); err != nil {
			return nil, fmt.Errorf("square data: %w", err)
		}
	}
	return b.Dataset(), nil
}

// squareTarget returns y without noise. Products are rounded one by one, so that
// no processor fuses them with sums.
func squareTarget(x1, x2 float32) float64 {
	return float64(SquareWeights[0]*float64(x1)) + float64(SquareWeights[1]*float64(x2))
}

func (s Square) check() error {
	switch {
	case s.Queries < 1:
		return fmt.Errorf("%d queries: expected 1 or more", s.Queries)
	case s.Docs < 2:
		return fmt.Errorf("%d documents a query: expected 2 or more", s.Docs)
	case !(s.Noise >= 0) || math.IsInf(s.Noise, 1):
		return fmt.Errorf("noise %v: expected a finite number, 0 or more", s.Noise)
	}
	return nil
}
