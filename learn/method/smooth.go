package method

import (
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/learn/loss"
)

func newApproxNDCG() *Method {
	return gradientMethod(Method{
		Name:           "approxndcg",
		Title:          "ApproxNDCG",
		Summary:        "Smooth approximation of NDCG; not convex.",
		Source:         "Qin, Liu, Li: A General Approximation Framework for Direct Optimization of Information Retrieval Measures, Information Retrieval 13, 2010",
		UsesMeasure:    true,
		DefaultMeasure: "ndcg",
		takes:          wholeNDCG,
		Hyperparameters: []Hyperparameter{
			{Name: "alpha", Kind: Number, Default: "10", Min: leastPositive, Max: 1e6, Doc: "steepness of the smooth rank function"},
		},
	}, regularization("1", gridQueries), nil, func(p *Problem) (loss.Loss, error) {
		return loss.ApproxNDCG{Convention: measure.ConventionOf(p.Measure), Alpha: p.Values.Number("alpha")}, nil
	})
}

func newSoftRank() *Method {
	return gradientMethod(Method{
		Name:           "softrank",
		Title:          "SoftRank",
		Summary:        "Expected NDCG under normally distributed scores; not convex.",
		Source:         "Taylor, Guiver, Robertson, Minka: SoftRank: Optimizing Non-Smooth Rank Metrics, WSDM 2008",
		UsesMeasure:    true,
		DefaultMeasure: "ndcg@10",
		takes:          anyNDCG,
		Hyperparameters: []Hyperparameter{
			{Name: "sigma", Kind: Number, Default: "1", Min: leastPositive, Max: 1e6, Doc: "standard deviation of the scores"},
		},
	}, regularization("1", gridQueries), nil, func(p *Problem) (loss.Loss, error) {
		return loss.SoftRank{Convention: measure.ConventionOf(p.Measure), Sigma: p.Values.Number("sigma"), Cutoff: measure.CutoffOf(p.Measure)}, nil
	})
}
