package method

import (
	"fmt"
	"slices"

	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/learn/boost"
	"github.com/listwise/listwise/learn/loss"
	"github.com/listwise/listwise/learn/train"
)

var (
	adaRankStops     = map[string]boost.Stop{"paper": boost.StopPaper, "ranklib": boost.StopRankLib, "none": boost.StopNever}
	adaRankReweights = map[string]boost.Reweighting{"paper": boost.ReweightPaper, "cumulative": boost.ReweightCumulative}
)

func newAdaRank() *Method {
	return &Method{
		Name:           "adarank",
		Title:          "AdaRank",
		Summary:        "Boosting of features that directly optimises the measure; badly ranked queries gain weight.",
		Source:         "Xu, Li: AdaRank: A Boosting Algorithm for Information Retrieval, SIGIR 2007",
		UsesMeasure:    true,
		DefaultMeasure: "map",
		takes:          anyOne,
		Hyperparameters: slices.Concat(boostingParameters("500"), []Hyperparameter{
			{Name: "stop", Kind: Choice, Default: "none", Choices: []string{"paper", "ranklib", "none"}, Doc: "stop at the first round that does not increase the training measure (paper), that decreases it by the tolerance (ranklib), or never (none)"},
			{Name: "tolerance", Kind: Number, Default: "0.002", Min: 0, Max: 1, Doc: "decrease of the training measure that stops (stop=ranklib)"},
			{Name: "reweight", Kind: Choice, Default: "paper", Choices: []string{"paper", "cumulative"}, Grid: []string{"paper", "cumulative"}, Doc: "query weights after a round: exp(−E) (paper), or the previous weights times exp(−rate·αE) (cumulative; RankLib's at rate=1)"},
			{Name: "rate", Kind: Number, Default: "0.25", Min: leastPositive, Max: 1e6, Doc: "rate of reweight=cumulative"},
			{Name: "repeats", Kind: Integer, Default: "5", Min: 0, Max: 1e6, Doc: "repetitions of a feature without effect on the training measure before it is suspended; 0: never"},
			{Name: "enqueue", Kind: Switch, Default: "false", Doc: "if a feature would be chosen twice in a row, undo the round and defer the feature"},
			{Name: "direction", Kind: Choice, Default: "up", Choices: []string{"both", "up"}, Doc: "features rank only by high values (up), or by high or low values (both)"},
		}),
		whole:   true,
		scorers: []string{linearScorer},
		plan: func(_ *Method, p *Problem) (loss.Loss, train.Learner, error) {
			return nil, train.Boosting{
				Rounds: p.Values.Int("rounds"),
				Takes:  train.Weighs{Queries: true},
				Start:  func(t *train.Task) (train.Booster, error) { return startAdaRank(p, t) },
				Bytes: func(p *train.Problem) float64 {
					return boost.AdaRankBytes(len(p.Data.Queries), p.Data.Docs(), p.Inputs())
				},
			}, nil
		},
	}
}

// startAdaRank begins with the task's normalized data.
func startAdaRank(p *Problem, t *train.Task) (train.Booster, error) {
	d := t.Normalized()
	averager, ok := p.Measure.(measure.Averager)
	if !ok {
		return nil, fmt.Errorf("found the training measure %s, expected one that has an expected value under ties", p.Measure.Name())
	}
	v := p.Values
	a, err := boost.NewAdaRank(d, boost.AdaRankOptions{
		Measure:   averager,
		Both:      v.Text("direction") == "both",
		Stop:      adaRankStops[v.Text("stop")],
		Tolerance: v.Number("tolerance"),
		Reweight:  adaRankReweights[v.Text("reweight")],
		Rate:      v.Number("rate"),
		Repeats:   v.Int("repeats"),
		Enqueue:   v.Bool("enqueue"),
		Workers:   t.Workers,
	})
	if err != nil {
		return nil, explainPairs(err)
	}
	if err := measure.CheckVaries(averager, d); err != nil {
		return nil, fmt.Errorf("training data: %w", err)
	}
	return &linearRounds{algorithm: a}, nil
}
