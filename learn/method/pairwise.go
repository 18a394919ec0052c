package method

import (
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/learn/loss"
)

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

func newLambdaRank() *Method {
	var names []string
	for _, l := range loss.Lambdas() {
		names = append(names, l.Name)
	}
	return gradientMethod(Method{
		Name:           "lambdarank",
		Title:          "LambdaRank",
		Summary:        "Pairwise gradients weighted by the change of the measure if the pair is swapped; gradient descent only.",
		Source:         "Burges, Ragno, Le: Learning to Rank with Nonsmooth Cost Functions, NIPS 2006, eq. 9 and Section 6.2",
		UsesMeasure:    true,
		DefaultMeasure: "ndcg@10",
		takes:          anyOne,
		Hyperparameters: []Hyperparameter{
			{Name: "lambda", Kind: Choice, Default: names[0], Choices: names, Doc: "rule for the pairwise gradients"},
			{Name: "sigma", Kind: Number, Default: "0", Min: 0, Max: 1e6, Doc: "slope of the logistic rules; 0: the default of 1"},
			{Name: "margin", Kind: Number, Default: "0", Min: 0, Max: 1e6, Doc: "margin of the rule; 0: the rule's default"},
			{Name: "top", Kind: Integer, Default: "0", Min: 0, Max: 1e6, Doc: "leave out pairs with both documents below this rank; 0: none"},
			{Name: "alpha", Kind: Number, Default: "0", Min: 0, Max: 1e6, Doc: "L2 penalty on scores, alpha/2 times the squared score"},
			{Name: "alpharatio", Kind: Number, Default: "1", Min: leastPositive, Max: 1e6, Doc: "factor of a document's alpha for each grade; 1: the same alpha for all"},
		},
	}, regularization("1e6", nil), ratesOfFields, func(p *Problem) (loss.Loss, error) {
		kind, err := loss.ParseLambda(p.Values.Text("lambda"))
		l := loss.LambdaRank{
			Measure:    p.Measure,
			Kind:       kind,
			Truncation: p.Values.Int("top"),
			Sigma:      p.Values.Number("sigma"),
			Margin:     p.Values.Number("margin"),
			Alpha:      p.Values.Number("alpha"),
			AlphaRatio: p.Values.Number("alpharatio"),
		}
		return l, err
	})
}

func newLambdaLoss() *Method {
	return gradientMethod(Method{
		Name:           "lambdaloss",
		Title:          "LambdaLoss",
		Summary:        "Pairwise logistic loss with weights from the current ranking, a bound on NDCG; gradient descent only.",
		Source:         "Wang, Li, Golbandi, Bendersky, Najork: The LambdaLoss Framework for Ranking Metric Optimization, CIKM 2018",
		UsesMeasure:    true,
		DefaultMeasure: "ndcg",
		takes:          wholeNDCG,
		Hyperparameters: []Hyperparameter{
			{Name: "weights", Kind: Choice, Default: "ndcg2++", Choices: []string{"ndcg1", "ndcg2", "lambdarank", "ndcg2++"}, Doc: "weights of document pairs"},
			{Name: "sigma", Kind: Number, Default: "1", Min: leastPositive, Max: 1e6, Doc: "slope of the logistic loss"},
			{Name: "mu", Kind: Number, Default: "10", Min: leastPositive, Max: 1e6, Doc: "weight of the rank distance (weights=ndcg2++)"},
		},
	}, regularization("1e6", nil), ratesOfFields, func(p *Problem) (loss.Loss, error) {
		weights, err := loss.ParseLambdaWeights(p.Values.Text("weights"))
		l := loss.LambdaLoss{
			Convention: measure.ConventionOf(p.Measure),
			Weights:    weights,
			Sigma:      p.Values.Number("sigma"),
			Mu:         p.Values.Number("mu"),
		}
		return l, err
	})
}
