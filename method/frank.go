package method

import (
	"slices"

	"github.com/listwise/listwise/boost"
	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/loss"
	"github.com/listwise/listwise/train"
)

var (
	frankSearches = map[string]boost.FRankSearch{"gradient": boost.ByGradient, "features": boost.ByFeature, "loss": boost.ByLoss}
	frankAlphas   = map[string]boost.FRankAlpha{"formula": boost.FRankFormula, "minimum": boost.FRankMinimum}
)

func newFRank() *Method {
	return &Method{
		Name:    "frank",
		Title:   "FRank",
		Summary: "Boosts thresholds on features by the fidelity loss over pairs of documents.",
		Source:  "Tsai, Liu, Qin, Chen, Ma: FRank: A Ranking Method with Fidelity Loss, SIGIR 2007",
		Hyperparameters: slices.Concat(boostingParameters("300"), stumpParameters(), []Hyperparameter{
			{Name: "search", Kind: Choice, Default: "gradient", Choices: []string{"gradient", "features", "loss"}, Doc: "the weak ranker to add: of the steepest gradient; or of the least loss, among each feature's steepest (features) or all as in the paper (loss; slow without cuts)"},
			{Name: "alpha", Kind: Choice, Default: "formula", Choices: []string{"formula", "minimum"}, Doc: "weight of a weak ranker: the paper's formula, or the loss's minimum along it"},
			largestWork,
		}),
		scorers: []string{stumpScorer},
		plan: func(_ *Method, p *Problem) (loss.Loss, train.Learner, error) {
			return boostingOf(p, fidelityCost{}, func(p *Problem, d *dataset.Dataset) (train.Booster, error) {
				b, err := boost.NewFRank(d, boost.FRankOptions{
					Options: boostingOptions(p),
					Search:  frankSearches[p.Values.Text("search")],
					Alpha:   frankAlphas[p.Values.Text("alpha")],
				})
				if err != nil {
					return nil, explainPairs(err)
				}
				return &stumpRounds{algorithm: b, features: d.Features}, nil
			})
		},
	}
}

// fidelityCost is what a round of FRank takes at least: three passes over the pairs, of a
// square root and a division each, where RankNet's operations are two a pair.
type fidelityCost struct{}

// Cost implements [loss.Coster].
func (fidelityCost) Cost(grades []float64) loss.Cost {
	return loss.Cost{Operations: 9 * loss.RankNet{}.Cost(grades).Operations}
}
