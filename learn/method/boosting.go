package method

import (
	"errors"
	"fmt"
	"slices"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/learn/boost"
	"github.com/listwise/listwise/learn/train"
	"github.com/listwise/listwise/model/scorer"
)

// boostingParameters are the hyperparameters of all boosting, before the method's own.
func boostingParameters(rounds string) []Hyperparameter {
	return []Hyperparameter{
		{Name: "rounds", Kind: Integer, Default: rounds, Min: 1, Max: 1e6, Doc: "number of weak rankers; with validation data, rounds after the best are dropped"},
	}
}

// stumpRounds are a sum of threshold rankers.
type stumpRounds struct {
	algorithm interface {
		Next() (boost.Round, bool)
		Queries() int
	}
	features int
	stumps   []scorer.Stump
	alphas   []float64
	rounds   int // kept
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
	if stump.Feature >= d.Features {
		if stump.Threshold < 0 { // a feature that is missing counts as 0
			for i := range dst {
				dst[i] += alpha
			}
		}
		return
	}
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

// linearRounds are a sum of features.
type linearRounds struct {
	algorithm *boost.AdaRank
	best      []float64
}

func (l *linearRounds) Next() (train.Round, bool) {
	r, ok := l.algorithm.Next()
	return train.Round{Weight: r.Weight, Objective: r.Loss}, ok
}

func (l *linearRounds) Add(dst []float64, d *dataset.Dataset) {
	weights := l.Weights()[:d.Features]
	scorer.Linear{Features: d.Features}.Score(dst, weights, d.X(), nil)
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

// boostingOptions reads what RankBoost and FRank have in common.
func boostingOptions(p *Problem, t *train.Task) boost.Options {
	return boost.Options{
		Cuts:     p.Values.Int("cuts"),
		Up:       p.Values.Text("direction") == "up",
		PerQuery: p.Values.Text("pairs") == "queries",
		Workers:  t.Workers,
	}
}

// stumpBytes returns what estimates the memory of RankBoost and FRank; all says that FRank compares losses.
func stumpBytes(all bool) func(p *train.Problem) float64 {
	return func(p *train.Problem) float64 { return boost.Bytes(p.Data.Docs(), p.Inputs(), p.Workers, all) }
}

// stumpParameters are the hyperparameters that boostingOptions reads.
func stumpParameters() []Hyperparameter {
	return []Hyperparameter{
		{Name: "cuts", Kind: Integer, Default: "0", Min: 0, Max: 1e6, Doc: "number of equally spaced thresholds of each feature; 0: all values"},
		{Name: "direction", Kind: Choice, Default: "up", Choices: []string{"both", "up"}, Doc: "weak rankers have positive weights (up), or also negative ones, for features with good low values (both)"},
		{Name: "pairs", Kind: Choice, Default: "queries", Choices: []string{"uniform", "queries"}, Doc: "initially equal weights for all pairs (uniform) or for all queries"},
	}
}

// explainPairs replaces the error of data that have no pairs by one that speaks of
// the training data.
func explainPairs(err error) error {
	if errors.Is(err, boost.ErrNoPairs) {
		return fmt.Errorf("training data: %w", err)
	}
	return err
}
