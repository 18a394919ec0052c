package method

import "github.com/listwise/listwise/learn/loss"

// newYetiRank and newYetiLoss make methods whose noise is drawn for every epoch or tree, as the
// papers draw it for every tree.
func newYetiRank() *Method {
	return gradientMethod(Method{
		Name:    "yetirank",
		Title:   "YetiRank",
		Summary: "Pairwise logistic loss over documents that are adjacent in randomly perturbed rankings; gradient descent or trees.",
		Source:  "Gulin, Kuralenok, Pavlov: Winning the Transfer Learning Track of Yahoo!'s Learning to Rank Challenge with YetiRank, JMLR W&CP 14, 2011",
		Hyperparameters: append([]Hyperparameter{
			{Name: "rank_decay", Kind: Number, Default: "0.99", Min: leastPositive, Max: 1, Doc: "factor of a pair's weight from one rank to the next"},
		}, yetiParameters()...),
	}, regularization("1e6", nil), ratesOfFields, func(p *Problem) (loss.Loss, error) {
		l, err := yetiRank(p)
		l.Decay = p.Values.Number("rank_decay")
		return l, err
	})
}

func newYetiLoss() *Method {
	return gradientMethod(Method{
		Name:           "yetiloss",
		Title:          "YetiLoss",
		Summary:        "YetiRank with pairs weighted by the change of the measure if swapped; gradient descent or trees.",
		Source:         "Lyzhin, Ustimenko, Gulin, Prokhorenkova: Which Tricks Are Important for Learning to Rank?, ICML 2023, Section 3.1",
		UsesMeasure:    true,
		DefaultMeasure: "ndcg@10",
		takes:          anyOne,
		Hyperparameters: append([]Hyperparameter{
			{Name: "neighbours", Kind: Integer, Default: "1", Min: 1, Max: 1e6, Doc: "maximum distance of the ranks of a pair"},
		}, yetiParameters()...),
	}, regularization("1e6", nil), ratesOfFields, func(p *Problem) (loss.Loss, error) {
		l, err := yetiRank(p)
		l.Measure, l.Neighbours = p.Measure, p.Values.Int("neighbours")
		return l, err
	})
}

// yetiParameters are the hyperparameters of both.
func yetiParameters() []Hyperparameter {
	return []Hyperparameter{
		{Name: "samples", Kind: Integer, Default: "10", Min: 1, Max: 1e6, Doc: "number of noise samples to average"},
		{Name: "noise", Kind: Choice, Default: "logistic", Choices: []string{"logistic", "gumbel"}, Doc: "distribution of the noise added to the scores"},
		redrawAnew("the noise", ", as the papers do"),
	}
}

// yetiRank returns the loss with what both have in common.
func yetiRank(p *Problem) (loss.YetiRank, error) {
	noise, err := loss.ParseNoise(p.Values.Text("noise"))
	return loss.YetiRank{Draws: p.Values.Int("samples"), Noise: noise}, err
}
