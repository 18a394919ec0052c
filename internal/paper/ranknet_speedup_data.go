package paper

import (
	"strconv"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/synth"
	"github.com/listwise/listwise/internal/random"
)

// webShares are the shares of the grades 0 to 4 in the first fold of MSLR-WEB10K,
// the web data at hand whose grades are counted; those of the paper's are not
// published.
var webShares = []float64{.5225, .3215, .1314, .0175, .0071}

// webShape is the size of such data; the paper's section 6.4 has 367 features and 26.1
// documents a query in the mean.
type webShape struct{ queries, docs, features int }

// generate returns data of that shape with grades in webShares. What the features hold
// changes no time, so they are normal and independent of the grades.
func (s webShape) generate(seed uint64) (*dataset.Dataset, error) {
	var b dataset.Builder
	x, grades := make([]float32, s.docs*s.features), make([]float64, s.docs)
	for q := range s.queries {
		id := strconv.Itoa(q + 1)
		rng := random.Stream(seed, "paper web data", id)
		for i := range x {
			x[i] = float32(random.Normal(rng))
		}
		for i := range grades {
			grades[i] = gradeOf(rng.Float64(), webShares)
		}
		if err := b.Add(id, grades, x, nil); err != nil {
			return nil, err
		}
	}
	return b.Dataset(), nil
}

// gradeOf returns the grade whose part of the unit interval holds u.
func gradeOf(u float64, shares []float64) float64 {
	for grade, p := range shares {
		if u -= p; u < 0 {
			return float64(grade)
		}
	}
	return 0 // what rounding leaves of the shares
}

// cubicLists returns the artificial data of RankNet (50 features, 6 equally frequent
// grades) with docs documents a query.
func cubicLists(queries, docs int, seed uint64) (*dataset.Dataset, error) {
	return synth.Cubic{Queries: queries, Docs: docs, Features: 50, Shares: synth.EqualShares(6), Polynomial: seed, Seed: seed}.Generate()
}
