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
		Close() error
	}
	columns  validColumns
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
	if s.columns.file != nil {
		for i, v := range s.columns.file.Of(stump.Feature) {
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

// Prepare implements what validColumns do.
func (s *stumpRounds) Prepare(valid *dataset.Dataset) error { return s.columns.prepare(valid) }

// Close removes temporary files.
func (s *stumpRounds) Close() error { return errors.Join(s.algorithm.Close(), s.columns.close()) }

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

// validColumns are the columns of validation data beside streamed data.
type validColumns struct {
	options  boost.Options  // of the training
	streamed bool           // are its data?
	file     *boost.Columns // nil if features are in memory
}

// prepare has validation data read once, of which a round takes few features, if they or the training data are
// streamed: data in memory may be the pages of a file that leave it from round to round.
func (c *validColumns) prepare(valid *dataset.Dataset) (err error) {
	if valid.Streamed() || c.streamed {
		c.file, err = boost.NewColumns(valid, c.options)
	}
	return err
}

// close removes the file.
func (c *validColumns) close() error {
	if c.file == nil {
		return nil
	}
	return c.file.Close()
}

// linearRounds are a sum of features.
type linearRounds struct {
	algorithm *boost.AdaRank
	columns   validColumns
	best      []float64
}

func (l *linearRounds) Next() (train.Round, bool) {
	r, ok := l.algorithm.Next()
	return train.Round{Weight: r.Weight, Objective: r.Loss}, ok
}

func (l *linearRounds) Add(dst []float64, d *dataset.Dataset) {
	weights := l.Weights()[:d.Features]
	if l.columns.file != nil {
		l.columns.file.Score(dst, weights)
		return
	}
	scorer.Linear{Features: d.Features}.Score(dst, weights, d.X(), nil)
}

// Prepare implements what validColumns do.
func (l *linearRounds) Prepare(valid *dataset.Dataset) error { return l.columns.prepare(valid) }

// Close removes temporary files.
func (l *linearRounds) Close() error { return errors.Join(l.algorithm.Close(), l.columns.close()) }

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
	v, o := p.Values, memoryOptions(t)
	o.Cuts = v.Int("cuts")
	o.Up = v.Text("direction") == "up"
	o.PerQuery = v.Text("pairs") == "queries"
	return o
}

// memoryOptions are those of all boosting, for the task's normalized data, which may be streamed.
func memoryOptions(t *train.Task) boost.Options {
	return boost.Options{Workers: t.Workers, Memory: max(1, t.MemoryLeft()), Note: t.Note}
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
