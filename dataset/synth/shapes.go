package synth

import (
	"math/rand/v2"

	"github.com/listwise/listwise/internal/elementary"
	"github.com/listwise/listwise/internal/random"
)

// Sizes and shares are those of the collections. The noise is set so that a linear model has about the same
// measures as on the collection.

var gov1 = Shape{
	Name:     "gov1",
	About:    "named-page and home-page finding on .gov (LETOR 3.0 NP, HP): one relevant document in a thousand",
	Defaults: Options{Queries: 75, Docs: 1000, Features: 64, Relevant: 1, Noise: 0.1, Seed: 1},
	docs:     constant,
	copies:   0.02,
}

var gov10 = Shape{
	Name:     "gov10",
	About:    "topic distillation on .gov (LETOR 3.0 TD): about ten relevant documents in a thousand",
	Defaults: Options{Queries: 50, Docs: 1000, Features: 64, Relevant: 10, Noise: 1.2, Seed: 1},
	docs:     constant,
	copies:   0.02,
	spread:   0.7,
}

var ohsumed = Shape{
	Name:     "ohsumed",
	About:    "medical abstracts with three grades (LETOR 3.0 OHSUMED)",
	Defaults: Options{Queries: 106, Docs: 152, Features: 45, Relevant: 45, Noise: 2.4, Seed: 1},
	docs: func(rng *rand.Rand) float64 {
		return min(max(1+float64(0.38*random.Normal(rng)), 40.0/152), 320.0/152)
	},
	spread: 1,
	best:   0.466,
	copies: 0.13,
}

var mq2008 = Shape{
	Name:     "mq2008",
	About:    "the million-query track (LETOR 4.0 MQ2008): short lists, many of them without a relevant document",
	Defaults: Options{Queries: 784, Docs: 19, Features: 46, Relevant: 4, Noise: 1.5, Seed: 1},
	docs: func(rng *rand.Rand) float64 {
		return min(0.26+elementary.Exp(-1.5+float64(1.75*random.Normal(rng))), 6.3)
	},
	spread: 2,
	best:   0.3175,
	copies: 0.004,
}

// intranet has the published size and number of grades of a data set that is not public. The noise is chosen
// by the NDCG in the paper's figure. The paper does not state the shares of the grades.
var intranet = Shape{
	Name:     "intranet",
	About:    "intranet search with four grades (LambdaRank's paper, 6.3.2)",
	Defaults: Options{Queries: 400, Docs: 59, Features: 87, Relevant: 12, Noise: 1.3, Seed: 1},
	docs: func(rng *rand.Rand) float64 {
		return 59.4 / 59 * min(max(1+float64(0.4*random.Normal(rng)), 0.1), 1.9)
	},
	spread: 0.7,
	best:   0.4,
	top:    0.3,
	copies: 0.02,
}

func constant(*rand.Rand) float64 { return 1 }
