package method

import (
	"errors"
	"fmt"
	"slices"

	"github.com/listwise/listwise/boost"
	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/loss"
	"github.com/listwise/listwise/scorer"
	"github.com/listwise/listwise/train"
)

// boostingParameters are the hyperparameters of all boosting, before the method's own.
func boostingParameters(rounds string) []Hyperparameter {
	return []Hyperparameter{
		{Name: "rounds", Kind: Integer, Default: rounds, Min: 1, Max: 1e6, Doc: "weak rankers to add; with validation data the rounds after the best one are dropped"},
	}
}

// boosting returns a learner that starts with the problem's normalized data, and the weights that
// it takes.
func boosting(p *Problem, takes train.Weighs, start func(p *Problem, d *dataset.Dataset) (train.Booster, error)) (loss.Loss, train.Learner, error) {
	return boostingOf(p, takes, nil, start)
}

// boostingOf is boosting with what a round takes on the data; nil if no query is too long
// for it.
func boostingOf(p *Problem, takes train.Weighs, cost func(d *dataset.Dataset) loss.Coster, start func(p *Problem, d *dataset.Dataset) (train.Booster, error)) (loss.Loss, train.Learner, error) {
	return nil, train.Boosting{
		Rounds: p.Values.Int("rounds"),
		Takes:  takes,
		Start: func(t *train.Task) (train.Booster, error) {
			d := t.Normalized()
			if cost != nil {
				if err := t.CheckWork(nil, cost(d)); err != nil {
					return nil, err
				}
			}
			return start(p, d)
		},
	}, nil
}

// stumpRounds are a sum of threshold rankers.
type stumpRounds struct {
	algorithm interface {
		Next() (boost.Round, bool)
		Queries() int
		Close() error
	}
	options  boost.Options
	columns  *boost.Columns // of validation data beside streamed data, else nil
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
	if s.columns != nil {
		for i, v := range s.columns.Of(stump.Feature) {
			if v > stump.Threshold {
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

// Prepare has validation data read once, of which a round takes one feature, if they or the training data are
// streamed: data in memory may be the pages of a file that leave it from round to round.
func (s *stumpRounds) Prepare(valid *dataset.Dataset) (err error) {
	if valid.Streamed() || s.options.Memory > 0 {
		s.columns, err = boost.NewColumns(valid, s.options)
	}
	return err
}

// Close removes temporary files.
func (s *stumpRounds) Close() error {
	err := s.algorithm.Close()
	if s.columns != nil {
		err = errors.Join(err, s.columns.Close())
	}
	return err
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
	scorer.Linear{Features: d.Features}.Score(dst, l.Weights()[:d.Features], d.X(), nil)
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
func boostingOptions(p *Problem) boost.Options {
	v := p.Values
	return boost.Options{
		Cuts:     v.Int("cuts"),
		Up:       v.Text("direction") == "up",
		PerQuery: v.Text("pairs") == "queries",
		Workers:  p.Workers,
	}
}

// stumpParameters are the hyperparameters that boostingOptions reads.
func stumpParameters() []Hyperparameter {
	return []Hyperparameter{
		{Name: "cuts", Kind: Integer, Default: "0", Min: 0, Max: 1e6, Doc: "thresholds a feature, equally spaced; 0: all its values"},
		{Name: "direction", Kind: Choice, Default: "up", Choices: []string{"both", "up"}, Doc: "whether a weak ranker may also have a negative weight, for features of which less is better"},
		{Name: "pairs", Kind: Choice, Default: "queries", Choices: []string{"uniform", "queries"}, Doc: "whether at first all pairs of documents weigh the same, or all queries"},
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
