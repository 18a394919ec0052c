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
		Summary:        "Boosts features by the measure itself, turning to the queries that the sum so far ranks badly.",
		Source:         "Xu, Li: AdaRank: A Boosting Algorithm for Information Retrieval, SIGIR 2007",
		UsesMeasure:    true,
		DefaultMeasure: "map",
		takes:          anyOne,
		Hyperparameters: slices.Concat(boostingParameters("500"), []Hyperparameter{
			{Name: "stop", Kind: Choice, Default: "none", Choices: []string{"paper", "ranklib", "none"}, Doc: "the last round: the first that does not raise the training measure (paper), the first that lowers it by the tolerance (ranklib), or all are done (none)"},
			{Name: "tolerance", Kind: Number, Default: "0.002", Min: 0, Max: 1, Doc: "fall of the training measure that ends stop=ranklib"},
			{Name: "reweight", Kind: Choice, Default: "paper", Choices: []string{"paper", "cumulative"}, Grid: []string{"paper", "cumulative"}, Doc: "query weights after a round: exp(−E) (paper), or those before it times exp(−rate·αE) (cumulative; RankLib's at rate=1)"},
			{Name: "rate", Kind: Number, Default: "0.25", Min: leastPositive, Max: 1e6, Doc: "of reweight=cumulative"},
			{Name: "repeats", Kind: Integer, Default: "5", Min: 0, Max: 1e6, Doc: "repetitions of a feature, to no effect on the training measure, after which it is set aside until there is one; 0: never set aside"},
			{Name: "enqueue", Kind: Switch, Default: "false", Doc: "take back a round after which the same feature would be taken again, and let that feature in last"},
			{Name: "direction", Kind: Choice, Default: "up", Choices: []string{"both", "up"}, Doc: "whether a feature may also rank downwards"},
		}),
		scorers: []string{linearScorer},
		plan: func(_ *Method, p *Problem) (loss.Loss, train.Learner, error) {
			return nil, train.Boosting{
				Rounds: p.Values.Int("rounds"),
				Takes:  train.Weighs{Queries: true},
				Start:  func(t *train.Task) (train.Booster, error) { return startAdaRank(p, t) },
			}, nil
		},
	}
}

// startAdaRank begins with the task's normalized data, which may be streamed.
func startAdaRank(p *Problem, t *train.Task) (train.Booster, error) {
	d, o := t.Normalized(), memoryOptions(t)
	averager, ok := p.Measure.(measure.Averager)
	if !ok {
		return nil, fmt.Errorf("found the training measure %s, expected one that has an expected value under ties", p.Measure.Name())
	}
	varies := measure.CheckVaries(averager, d)
	if varies != nil && d.Streamed() { // before they are read
		return nil, fmt.Errorf("training data: %w", varies)
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
		Workers:   o.Workers,
		Memory:    o.Memory,
		Note:      o.Note,
	})
	switch {
	case err != nil:
		return nil, explainPairs(err)
	case varies != nil:
		return nil, fmt.Errorf("training data: %w", varies)
	}
	return &linearRounds{algorithm: a, columns: validColumns{options: o, streamed: d.Streamed()}}, nil
}
