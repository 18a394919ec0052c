package method

import (
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/learn/loss"
	"github.com/listwise/listwise/learn/loss/logrank"
)

// combinedMeasures are the measures of LogRank's three losses, and the hyperparameters that
// hold their weights.
var combinedMeasures = []struct{ weight, measure, title string }{
	{"auc", "auc", "AUC"}, {"map", "map", "average precision"}, {"ndcg", "ndcg@10", "NDCG@10"},
}

// combinedObjectives are the losses that are taken for each of these measures, with the
// hyperparameters that hold their weights.
var combinedObjectives = []struct {
	weight, standard string
	objective        logrank.Objective
	title            string
}{
	{"convexloss", "1", logrank.TermConvexLoss, "ConvexLoss"}, {"expgain", "0", logrank.TermExpGain, "ExpGain"}, {"expected_loss", "0", logrank.TermL2, "L2"},
}

// mleWeight is the hyperparameter of MLE's weight among them.
const mleWeight = "mle"

func newCombined() *Method {
	weight := func(name, standard, of string) Hyperparameter {
		return Hyperparameter{Name: name, Kind: Number, Default: standard, Min: 0, Max: 1e6, Doc: "weight of " + of}
	}
	own := []Hyperparameter{beta}
	for _, m := range combinedMeasures {
		own = append(own, weight(m.weight, "1", m.title+" among the measures"))
	}
	for _, o := range combinedObjectives {
		own = append(own, weight(o.weight, o.standard, o.title+" for each of the measures"))
	}
	own = append(own, weight(mleWeight, "0", "MLE"))
	return gradientMethod(Method{
		Name:            "combined",
		Title:           "Combined",
		Summary:         "Weighted mean of ConvexLoss, ExpGain and L2 for AUC, average precision and NDCG@10, and of MLE, over one sample.",
		Source:          logRankSource + ", Section 6 (proposed there as future work)",
		Hyperparameters: logRankParameters("sampled", own...),
	}, regularization("0.01", gridQueries), nil, func(p *Problem) (loss.Loss, error) {
		config, err := logRankConfig(p)
		if err != nil {
			return nil, err
		}
		l := logrank.Combined{Options: config}
		if l.Terms, err = combinedTerms(p); err != nil {
			return nil, err
		}
		return l, l.Validate()
	})
}

// combinedTerms reads the weights: a loss for a measure has the product of theirs. Measures
// follow the convention of the problem, that of Select, which is LETOR 3.0's where the paper is
// reproduced.
func combinedTerms(p *Problem) ([]logrank.Term, error) {
	convention := measure.ConventionOf(measure.ForTraining(p.Select))
	terms := []logrank.Term{{Weight: p.Values.Number(mleWeight)}}
	for _, of := range combinedMeasures {
		m, err := measure.Parse(of.measure, convention, measure.Options{})
		if err != nil {
			return nil, err
		}
		for _, o := range combinedObjectives {
			terms = append(terms, logrank.Term{
				Gain: m.(measure.Additive), Weight: p.Values.Number(o.weight) * p.Values.Number(of.weight), Objective: o.objective,
			})
		}
	}
	return terms, nil
}
