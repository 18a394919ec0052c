package method

import (
	"slices"

	"github.com/listwise/listwise/learn/boost"
	"github.com/listwise/listwise/learn/loss"
	"github.com/listwise/listwise/learn/train"
)

var (
	frankSearches = map[string]boost.FRankSearch{"gradient": boost.ByGradient, "features": boost.ByFeature, "loss": boost.ByLoss}
	frankAlphas   = map[string]boost.FRankAlpha{"formula": boost.FRankFormula, "minimum": boost.FRankMinimum}
)

func newFRank() *Method {
	return &Method{
		Name:    "frank",
		Title:   "FRank",
		Summary: "Boosting of thresholds on features with the pairwise fidelity loss.",
		Source:  "Tsai, Liu, Qin, Chen, Ma: FRank: A Ranking Method with Fidelity Loss, SIGIR 2007",
		Hyperparameters: slices.Concat(boostingParameters("300"), stumpParameters(), []Hyperparameter{
			{Name: "search", Kind: Choice, Default: "gradient", Choices: []string{"gradient", "features", "loss"}, Doc: "choose the weak ranker with the steepest gradient; or with the least loss, among the steepest of each feature (features) or among all, as in the paper (loss; slow without cuts)"},
			{Name: "alpha", Kind: Choice, Default: "formula", Choices: []string{"formula", "minimum"}, Doc: "weight of a weak ranker: the paper's formula, or a line search to the minimum of the loss"},
			largestWork,
		}),
		whole:   true,
		scorers: []string{stumpScorer},
		plan: func(_ *Method, p *Problem) (loss.Loss, train.Learner, error) {
			return nil, train.Boosting{
				Rounds: p.Values.Int("rounds"),
				Takes:  train.Weighs{Queries: true},
				Start:  func(t *train.Task) (train.Booster, error) { return startFRank(p, t) },
				Bytes:  stumpBytes(frankSearches[p.Values.Text("search")] != boost.ByGradient),
			}, nil
		},
	}
}

// startFRank begins with the task's normalized data.
func startFRank(p *Problem, t *train.Task) (train.Booster, error) {
	d := t.Normalized()
	o := boost.FRankOptions{
		Options: boostingOptions(p, t),
		Search:  frankSearches[p.Values.Text("search")],
		Alpha:   frankAlphas[p.Values.Text("alpha")],
	}
	rankers := 1
	switch o.Search {
	case boost.ByGradient:
	case boost.ByFeature:
		rankers += d.Features
	case boost.ByLoss:
		rankers += boost.WeakRankers(d, o.Options)
	}
	if err := t.CheckWork(nil, newFidelityCost(rankers, o)); err != nil {
		return nil, err
	}
	b, err := boost.NewFRank(d, o)
	if err != nil {
		return nil, explainPairs(err)
	}
	return &stumpRounds{algorithm: b, features: d.Features}, nil
}

// fidelityCost is what a round of FRank takes: one pass over all pairs, for their weights, and
// passes over those that a weak ranker splits, to find its weight and the loss with it.
type fidelityCost struct{ splits float64 }

// newFidelityCost counts the passes over split pairs, given the number of weak rankers that are compared or added a
// round: with the paper's formula two for each, the sums and the loss; with the minimum those, up
// to six for a bracket and thirty to halve it.
func newFidelityCost(rankers int, o boost.FRankOptions) fidelityCost {
	passes := 2
	if o.Alpha == boost.FRankMinimum {
		passes += 36
	}
	return fidelityCost{float64(rankers * passes)}
}

// Cost implements [loss.Coster]: a square root and a division a pair and pass, and of the
// pairs about half are split. RankNet's operations are two a pair.
func (c fidelityCost) Cost(grades []float64) loss.Cost {
	pairs := loss.RankNet{}.Cost(grades).Operations / 2
	return loss.Cost{Operations: (6 + float64(4*c.splits)) * pairs}
}
