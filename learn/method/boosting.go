package method

import (
	"errors"
	"fmt"
	"slices"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/learn/boost"
	"github.com/listwise/listwise/learn/loss"
	"github.com/listwise/listwise/learn/train"
	"github.com/listwise/listwise/model/scorer"
)

// boostingParameters returns the hyperparameters of all boosting methods, to which a method adds its own.
func boostingParameters(rounds string) []Hyperparameter {
	return []Hyperparameter{
		{Name: "rounds", Kind: Integer, Default: rounds, Min: 1, Max: 1e6, Doc: "number of weak rankers; with validation data, rounds after the best are dropped"},
	}
}

// stumpRounds is a sum of threshold rankers (stumps), a train.Booster.
type stumpRounds struct {
	algorithm interface {
		Next() (boost.Round, bool)
		Queries() int
	}
	features int
	stumps   []scorer.Stump
	alphas   []float64
	rounds   int // number of rounds kept
}

func (s *stumpRounds) Next() (train.Round, bool) {
	r, ok := s.algorithm.Next()
	if !ok {
		return train.Round{}, false
	}
	s.stumps, s.alphas = append(s.stumps, r.Stump), append(s.alphas, r.Weight)
	return train.Round{Weight: r.Weight, Objective: r.Loss}, true
}

func (s *stumpRounds) Add(dst []float64, d *dataset.Dataset) {
	last := len(s.stumps) - 1
	stump, alpha := s.stumps[last], s.alphas[last]
	x, width := d.X()[stump.Feature:], d.Features
	for i := range dst {
		if x[i*width] > stump.Threshold {
			dst[i] += alpha
		}
	}
}

func (s *stumpRounds) Keep() { s.rounds = len(s.stumps) }

func (s *stumpRounds) Kept() (scorer.Scorer, []float64, error) {
	stumps, params := scorer.MergeStumps(s.stumps[:s.rounds], s.alphas[:s.rounds])
	merged, err := scorer.NewStumps(s.features, stumps)
	if err != nil {
		return nil, nil, fmt.Errorf("weak rankers: %w", err)
	}
	return merged, params, nil
}

func (s *stumpRounds) Weights() []float64 { return s.alphas }
func (s *stumpRounds) Queries() int       { return s.algorithm.Queries() }

// linearRounds is a weighted sum of features, a train.Booster.
type linearRounds struct {
	algorithm *boost.AdaRank
	best      []float64
}

func (l *linearRounds) Next() (train.Round, bool) {
	r, ok := l.algorithm.Next()
	return train.Round{Weight: r.Weight, Objective: r.Loss}, ok
}

func (l *linearRounds) Add(dst []float64, d *dataset.Dataset) {
	scorer.Linear{Features: d.Features}.Score(dst, l.Weights(), d.X(), nil)
}

func (l *linearRounds) Keep() { l.best = append(l.best[:0], l.Weights()...) }

func (l *linearRounds) Kept() (scorer.Scorer, []float64, error) {
	if l.best == nil {
		l.Keep()
	}
	return scorer.Linear{Features: len(l.best)}, slices.Clone(l.best), nil
}

func (l *linearRounds) Weights() []float64 { return l.algorithm.Weights() }
func (l *linearRounds) Queries() int       { return l.algorithm.Queries() }

// boostingOptions reads the options that RankBoost and FRank share.
func boostingOptions(p *Problem, t *train.Task) boost.Options {
	return boost.Options{
		Cuts:     p.Values.Int("cuts"),
		Up:       p.Values.Text("direction") == "up",
		PerQuery: p.Values.Text("pairs") == "queries",
		Workers:  t.Workers,
	}
}

// stumpBytes returns the function that estimates the memory of RankBoost and FRank. all is set if FRank compares
// losses.
func stumpBytes(all bool) func(p *train.Problem) float64 {
	return func(p *train.Problem) float64 { return boost.Bytes(p.Data.Docs(), p.Inputs(), p.Workers, all) }
}

// stumpParameters returns the hyperparameters that boostingOptions reads.
func stumpParameters() []Hyperparameter {
	return []Hyperparameter{
		{Name: "cuts", Kind: Integer, Default: "0", Min: 0, Max: 1e6, Doc: "number of equally spaced thresholds of each feature; 0: all values"},
		{Name: "direction", Kind: Choice, Default: "up", Choices: []string{"both", "up"}, Doc: "weak rankers have positive weights (up), or also negative ones, for features with good low values (both)"},
		{Name: "pairs", Kind: Choice, Default: "queries", Choices: []string{"uniform", "queries"}, Doc: "initially equal weights for all pairs (uniform) or for all queries"},
	}
}

// explainPairs adds to boost.ErrNoPairs that the training data have no pairs.
func explainPairs(err error) error {
	if errors.Is(err, boost.ErrNoPairs) {
		return fmt.Errorf("training data: %w", err)
	}
	return err
}

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
			{Name: "stop", Kind: Choice, Default: "none", Choices: []string{"paper", "ranklib", "none"}, Doc: "stop at the first round that does not increase the training measure (paper), stop at the first one that decreases it by the tolerance (ranklib), or never stop early (none)"},
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

// startAdaRank returns the Booster of AdaRank for the task's normalized data.
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

var (
	frankSearches = map[string]boost.FRankSearch{"gradient": boost.ByGradient, "features": boost.ByFeature, "loss": boost.ByLoss}
	frankAlphas   = map[string]boost.FRankAlpha{"formula": boost.FRankFormula, "minimum": boost.FRankMinimum}
)

func newFRank() *Method {
	return &Method{
		Name:    "frank",
		Title:   "FRank",
		Summary: "Boosting of thresholds on features with the pairwise fidelity loss.",
		Source:  "Tsai, Liu, Qin, Chen, Ma: FRank: A Ranking Method with Fidelity Loss, SIGIR 2007",
		Hyperparameters: slices.Concat(boostingParameters("300"), stumpParameters(), []Hyperparameter{
			{Name: "search", Kind: Choice, Default: "gradient", Choices: []string{"gradient", "features", "loss"}, Doc: "choose the weak ranker with the steepest gradient (gradient), the least loss among the steepest of each feature (features), or the least loss of all, as in the paper (loss; slow without cuts)"},
			{Name: "alpha", Kind: Choice, Default: "formula", Choices: []string{"formula", "minimum"}, Doc: "weight of a weak ranker: the paper's formula, or a line search to the minimum of the loss"},
			largestWork,
		}),
		whole:   true,
		scorers: []string{stumpScorer},
		plan: func(_ *Method, p *Problem) (loss.Loss, train.Learner, error) {
			return nil, train.Boosting{
				Rounds: p.Values.Int("rounds"),
				Takes:  train.Weighs{Queries: true},
				Start:  func(t *train.Task) (train.Booster, error) { return startFRank(p, t) },
				Bytes:  stumpBytes(frankSearches[p.Values.Text("search")] != boost.ByGradient),
			}, nil
		},
	}
}

// startFRank returns the Booster of FRank for the task's normalized data.
func startFRank(p *Problem, t *train.Task) (train.Booster, error) {
	d := t.Normalized()
	o := boost.FRankOptions{
		Options: boostingOptions(p, t),
		Search:  frankSearches[p.Values.Text("search")],
		Alpha:   frankAlphas[p.Values.Text("alpha")],
	}
	rankers := 1
	switch o.Search {
	case boost.ByGradient:
	case boost.ByFeature:
		rankers += d.Features
	case boost.ByLoss:
		rankers += boost.WeakRankers(d, o.Options)
	}
	if err := t.CheckWork(nil, newFidelityCost(rankers, o)); err != nil {
		return nil, err
	}
	b, err := boost.NewFRank(d, o)
	if err != nil {
		return nil, explainPairs(err)
	}
	return &stumpRounds{algorithm: b, features: d.Features}, nil
}

// fidelityCost is the work of a round of FRank. One pass over all pairs computes their weights. splits is the number
// of further passes, over the pairs that a weak ranker splits, which compute its weight and loss.
type fidelityCost struct{ splits float64 }

// newFidelityCost counts the passes over split pairs for the given number of weak rankers in a round. The paper's
// formula takes two passes for each weak ranker: one for the sums, and one for the loss. The line search takes up to
// six more passes for a bracket and thirty to halve it.
func newFidelityCost(rankers int, o boost.FRankOptions) fidelityCost {
	passes := 2
	if o.Alpha == boost.FRankMinimum {
		passes += 36
	}
	return fidelityCost{float64(rankers * passes)}
}

// Cost implements [loss.Coster]. A pair takes a square root and a division in each pass. About half of the pairs are
// split. The number of pairs is known from RankNet, whose cost is two operations per pair.
func (c fidelityCost) Cost(grades []float64) loss.Cost {
	pairs := loss.RankNet{}.Cost(grades).Operations / 2
	return loss.Cost{Operations: (6 + float64(4*c.splits)) * pairs}
}

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

// startRankBoost returns the Booster of RankBoost for the task's normalized data.
func startRankBoost(p *Problem, t *train.Task) (train.Booster, error) {
	d := t.Normalized()
	b, err := boost.NewRankBoost(d, boostingOptions(p, t), p.Values.Text("alpha") == "exact")
	if err != nil {
		return nil, explainPairs(err)
	}
	return &stumpRounds{algorithm: b, features: d.Features}, nil
}
