package method

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/listwise/listwise/boost"
	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/measure"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/scorer"
)

// booster adds one weak ranker a round to a sum.
type booster interface {
	// next adds a weak ranker; ok is false if there is none to add.
	next() (s boostingStep, ok bool)

	// score brings the scores of a data set, one a row, from the last round but one
	// to the last.
	score(dst []float64, d *dataset.Dataset)

	// keep remembers the sum as it is, and kept returns what was remembered last.
	keep()
	kept() (scorer.Scorer, []float64, error)

	// weights returns the parameters at present, valid until the next round.
	weights() []float64
	queries() int
}

// boostingStep tells of a round.
type boostingStep struct{ weight, objective float64 }

// boostingParameters are the hyperparameters of all boosting, before the method's own.
func boostingParameters(rounds string) []Hyperparameter {
	return []Hyperparameter{
		{Name: "rounds", Kind: Integer, Default: rounds, Min: 1, Max: 1e6, Doc: "weak rankers to add; with validation data the rounds after the best one are dropped"},
	}
}

// boosting is a training round by round.
type boosting struct {
	method  *Method
	problem *Problem
	booster

	valid     *dataset.Dataset // normalized; nil without
	selection measure.Measure
	standings *boost.Standings // of the validation data
	scores    []float64        // likewise
}

// trainByBoosting adds weak rankers and keeps the round that is best on the
// validation data, without these the last. Training takes seconds, so that no
// checkpoints are written.
func trainByBoosting(ctx context.Context, m *Method, p *Problem, start func(p *Problem, d *dataset.Dataset) (booster, error)) (*model.Model, error) {
	if err := noCheckpoint(p.Checkpoint); err != nil {
		return nil, err
	}
	b := &boosting{method: m, problem: p}
	if err := b.prepareValidation(); err != nil {
		return nil, err
	}
	var err error
	if b.booster, err = start(p, normalized(p.Data, p.Normalization)); err != nil {
		return nil, &ProblemError{err}
	}
	t, err := b.run(ctx)
	if err != nil {
		return nil, err
	}
	s, params, err := b.kept()
	if err != nil {
		return nil, err
	}
	trained := newModel(m, p, s, params, t, b.queries())
	if b.standings == nil {
		return trained, nil
	}
	// As whoever scores with the model will see it: sums of weights may be added in
	// another order than round by round.
	scores, err := trained.Score(p.Valid)
	if err != nil {
		return nil, err
	}
	ranker := measure.Ranker{Ties: measure.TiesAverage}
	validation, _ := ranker.Mean(p.Valid, scores, b.selection)
	trained.Training.Validation = &validation
	if t.BestEpoch > 0 {
		trained.Training.Refit = fmt.Sprintf("rounds=%d", t.BestEpoch)
	}
	return trained, nil
}

// noCheckpoint refuses to begin where somebody expects to go on.
func noCheckpoint(path string) error {
	if path == "" {
		return nil
	}
	if _, err := os.Stat(path); err == nil {
		return badProblem("checkpoint %s: found a file, expected none: this training takes seconds and leaves no checkpoints", path)
	}
	return nil
}

func normalized(d *dataset.Dataset, how dataset.Normalization) *dataset.Dataset {
	if how == dataset.NoNormalization {
		return d
	}
	return dataset.Normalize(d, how)
}

func (b *boosting) prepareValidation() error {
	p := b.problem
	if p.Valid == nil {
		return nil
	}
	var err error
	if b.selection, err = choosing(b.method, p); err != nil {
		return err
	}
	averager, ok := b.selection.(measure.Averager)
	if !ok {
		return badProblem("found the measure %s, expected one that has an expected value under ties", b.selection.Name())
	}
	b.valid = normalized(p.Valid, p.Normalization)
	b.standings = boost.NewStandings(b.valid, averager, p.Workers)
	b.scores = make([]float64, b.valid.Docs())
	return nil
}

// run goes through the rounds and describes them.
func (b *boosting) run(ctx context.Context) (model.Training, error) {
	t := model.Training{Status: "all rounds are done"}
	var best float64
	for round := 1; round <= b.problem.Values.Int("rounds"); round++ {
		if err := ctx.Err(); err != nil {
			return t, err
		}
		s, ok := b.next()
		if !ok {
			t.Status = "no further weak ranker is of use"
			break
		}
		it := Iteration{Number: round, Objective: s.objective, Epoch: true, Rate: s.weight, Params: b.weights()}
		if b.standings != nil {
			b.score(b.scores, b.valid)
			it.Validated, it.Validation = true, b.standings.Mean(b.scores)
		}
		it.Best = t.BestEpoch == 0 || b.standings == nil || it.Validation > best
		if it.Best {
			best = it.Validation
			b.keep()
			t.BestEpoch, t.Objective = round, s.objective
		}
		t.Iterations, t.Evaluations = round, round
		if b.problem.Observe != nil {
			b.problem.Observe(it)
		}
	}
	return t, nil
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

func (s *stumpRounds) next() (boostingStep, bool) {
	r, ok := s.algorithm.Next()
	if !ok {
		return boostingStep{}, false
	}
	s.stumps, s.alphas = append(s.stumps, r.Stump), append(s.alphas, r.Weight)
	return boostingStep{r.Weight, r.Loss}, true
}

func (s *stumpRounds) score(dst []float64, d *dataset.Dataset) {
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

func (s *stumpRounds) keep() { s.rounds = len(s.stumps) }

func (s *stumpRounds) kept() (scorer.Scorer, []float64, error) {
	stumps, params := scorer.MergeStumps(s.stumps[:s.rounds], s.alphas[:s.rounds])
	merged, err := scorer.NewStumps(s.features, stumps)
	if err != nil {
		return nil, nil, fmt.Errorf("weak rankers: %w", err)
	}
	return merged, params, nil
}

func (s *stumpRounds) weights() []float64 { return s.alphas }
func (s *stumpRounds) queries() int       { return s.algorithm.Queries() }

// linearRounds are a sum of features.
type linearRounds struct {
	algorithm *boost.AdaRank
	best      []float64
}

func (l *linearRounds) next() (boostingStep, bool) {
	r, ok := l.algorithm.Next()
	return boostingStep{r.Weight, r.Loss}, ok
}

func (l *linearRounds) score(dst []float64, d *dataset.Dataset) {
	scorer.Linear{Features: d.Features}.Score(dst, l.weights()[:d.Features], d.X(), nil)
}

func (l *linearRounds) keep() { l.best = append(l.best[:0], l.weights()...) }

func (l *linearRounds) kept() (scorer.Scorer, []float64, error) {
	if l.best == nil {
		l.keep()
	}
	return scorer.Linear{Features: len(l.best)}, slices.Clone(l.best), nil
}

func (l *linearRounds) weights() []float64 { return l.algorithm.Weights() }
func (l *linearRounds) queries() int       { return l.algorithm.Queries() }

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
