package method

import "github.com/listwise/listwise/learn/loss"

func newStochasticRank() *Method {
	return gradientMethod(Method{
		Name:           "stochasticrank",
		Title:          "StochasticRank",
		Summary:        "Expected measure under normal noise, with an unbiased gradient estimate; gradient descent or trees.",
		Source:         "Ustimenko, Prokhorenkova: StochasticRank: Global Optimization of Scale-Free Discrete Functions, ICML 2020",
		UsesMeasure:    true,
		DefaultMeasure: "ndcg@10",
		takes:          anyOne,
		Hyperparameters: []Hyperparameter{
			{Name: "sigma", Kind: Number, Default: "1", Min: leastPositive, Max: 1e6, Doc: "standard deviation of the noise"},
			{Name: "samples", Kind: Integer, Default: "1", Min: 1, Max: 1e6, Doc: "number of noise samples to average"},
			{Name: "mu", Kind: Number, Default: "0", Min: 0, Max: 1e6, Doc: "shift of scores by grade before noise is added, in units of sigma"},
			{Name: "scale_free", Kind: Switch, Default: "true", Doc: "ignore the part of the gradient that only rescales the scores"},
			redrawAnew("the noise", ", as the paper does"),
		},
	}, regularization("1e6", nil), ratesOfFields, func(p *Problem) (loss.Loss, error) {
		v := p.Values
		return loss.StochasticRank{
			Measure: p.Measure, Sigma: v.Number("sigma"), Draws: v.Int("samples"), Mu: v.Number("mu"), ScaleFree: v.Bool("scale_free"),
		}, nil
	})
}
