package method

import (
	"slices"

	"github.com/listwise/listwise/learn/boost"
	"github.com/listwise/listwise/learn/loss"
	"github.com/listwise/listwise/learn/train"
)

func newRankBoost() *Method {
	return &Method{
		Name:    "rankboost",
		Title:   "RankBoost",
		Summary: "Boosting of thresholds on features with the pairwise exponential loss.",
		Source:  "Freund, Iyer, Schapire, Singer: An Efficient Boosting Algorithm for Combining Preferences, JMLR 4, 2003",
		Hyperparameters: slices.Concat(boostingParameters("300"), stumpParameters(), []Hyperparameter{
			{Name: "alpha", Kind: Choice, Default: "bound", Choices: []string{"bound", "exact"}, Doc: "weight of a weak ranker: minimises the paper's bound on the loss, ½ ln((1+r)/(1−r)), or the exact loss, ½ ln(W₊/W₋)"},
		}),
		whole:   true,
		scorers: []string{stumpScorer},
		plan: func(_ *Method, p *Problem) (loss.Loss, train.Learner, error) {
			return nil, train.Boosting{
				Rounds: p.Values.Int("rounds"),
				Takes:  train.Weighs{Queries: true, Documents: true},
				Start:  func(t *train.Task) (train.Booster, error) { return startRankBoost(p, t) },
				Bytes:  stumpBytes(false),
			}, nil
		},
	}
}

// startRankBoost begins with the task's normalized data.
func startRankBoost(p *Problem, t *train.Task) (train.Booster, error) {
	d := t.Normalized()
	b, err := boost.NewRankBoost(d, boostingOptions(p, t), p.Values.Text("alpha") == "exact")
	if err != nil {
		return nil, explainPairs(err)
	}
	return &stumpRounds{algorithm: b, features: d.Features}, nil
}
