package method

import "github.com/listwise/listwise/learn/loss"

func newRankNet() *Method {
	return gradientMethod(Method{
		Name:    "ranknet",
		Title:   "RankNet",
		Summary: "Pairwise logistic loss over all pairs of differently graded documents.",
		Source:  "Burges, Shaked, Renshaw, Lazier, Deeds, Hamilton, Hullender: Learning to Rank Using Gradient Descent, ICML 2005",
		Hyperparameters: []Hyperparameter{
			{Name: "sigma", Kind: Number, Default: "1", Min: leastPositive, Max: 1e6, Doc: "slope of the logistic loss"},
			{Name: "mean", Kind: Switch, Default: "false", Doc: "divide a query's loss by its number of pairs, so that queries have equal weight"},
		},
	}, regularization("0.01", gridPairs), nil, func(p *Problem) (loss.Loss, error) {
		return loss.RankNet{Sigma: p.Values.Number("sigma"), Mean: p.Values.Bool("mean")}, nil
	})
}
