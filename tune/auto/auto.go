// Package auto makes one ranker from judged queries. Only validation data decide:
//
//  1. Division: the queries are divided into parts; every trial is trained once for each part, on the others, and
//     validated on the part (parts.go).
//  2. Search: a fixed portfolio of trials, then rounds of trials of the families that validation favours. A family is a
//     method with a kind of scorer and a form of the features (families.go, search.go).
//  3. Choice: the best trial, or a fusion of several, by nested validation (fusion.go).
//
// The model is the fusion of the chosen trials' models, one of each part.
//
// Start reading at [Run]. Package tune has the trainings, their records and their validation; package model has the
// fusions. The package must not depend on how any method learns.
package auto

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/model/fuse"
	"github.com/listwise/listwise/tune"
)

// DefaultMembers is the default of Config.Members.
const DefaultMembers = 12

// Config is the configuration of a run. Tune has the measure, the seed, and the folder of the records. Its folds and
// entries must be nil.
type Config struct {
	Tune tune.Config
	Data *dataset.Dataset

	// Valid is validation data of the caller. With Parts of 1 it alone validates, otherwise its queries are added to
	// Data. It may be nil.
	Valid *dataset.Dataset
	Parts int // that validate; 0: by the number of queries, see [PartsFor]

	// Trials is the number of trials; 0 means as many as time allows. Without has numbers of trials, from 0, that are
	// left out. Budget, if positive, ends the trials early enough for the whole run to end about that long after Begun.
	// The trials done then depend on the machine. A run with Trials and Without of the Result reproduces it anywhere.
	// If both are given, the first limit ends the trials.
	Trials  int
	Without []int
	Budget  time.Duration
	Begun   time.Time // zero: when Run is called

	// SampleFrom is the number of values, documents times features, above which data are searched on a sample first; 0:
	// DefaultSampleFrom.
	SampleFrom float64

	Members int    // trials that are fused, at most; 0: DefaultMembers
	Target  Target // what the model must run in; nil: listwise itself

	// Observe, if not nil, is called as trainings end, from several goroutines.
	Observe func(p Progress)
}

// Target is another system that is to run the model. It sees one document at a time: models have the features as they
// are, and fusions add scores.
type Target interface {
	Name() string
	Scorers() []string          // kinds of scorers that may be expressed
	Check(m *model.Model) error // says why a model cannot be expressed
}

// Progress is how far a run is.
type Progress struct {
	Stage       string // "trials", "trials on all data" after those on a sample, or "final models"
	Done, Total int    // trainings of the stage; Total is 0 if it is unknown
	Best        float64
	Name        string // of the family that is best
}

// Member is a trial of the fusion.
type Member struct {
	*Trial
	Weight float64 // the sum of all is 1
}

// Result is the result of a run.
type Result struct {
	Tune   tune.Config // with the parts as folds
	Of     int         // parts that the queries were divided into; 0 if Config.Valid validates
	Data   *dataset.Dataset
	Trials []*Trial

	// Sampled is the number of queries of the sample that the first trials had, 0 if all had all data. The last trials
	// repeat the best on all data.
	Sampled int

	// Ranked are the trials that fusions are chosen from, best first: the weights of Candidates are theirs. They are
	// copies of Trials, whose models are trained for as long as was best on the other parts.
	Ranked     []*Trial
	Candidates []Candidate // the simplest first; the first is the best trial alone
	Chosen     *Candidate
	Nested     *Candidate // the choice as a whole, which has no weights: what is to be expected on other queries
	Members    []Member   // the largest weight first
	Model      *model.Model
	Rule       fuse.Rule

	// Exportable is the best trial that other systems can run: a sum of trees or a linear function of the features as
	// they are. Its gain is over Nested. It is nil with a target, and if no trial is of that kind.
	Exportable *Candidate

	target bool
}

// Without returns the trials that were left out or did not end in time, by number.
func (r *Result) Without() (without []int) {
	for _, t := range r.Trials {
		if t.LeftOut {
			without = append(without, t.Number)
		}
	}
	return without
}

// Run searches, chooses and fuses. Unless the time is limited, the result depends only on the configuration, even if a
// run with the same folder was interrupted before.
func Run(ctx context.Context, c Config) (*Result, error) {
	r, err := newRun(c)
	if err != nil {
		return nil, err
	}
	s, err := r.search(ctx)
	if err != nil {
		return nil, err
	}
	result := &Result{Tune: s.config, Of: r.of, Data: r.Data, Trials: r.trials, Sampled: r.sampled, Rule: r.rule(), target: r.Target != nil}
	if result.Ranked = ranked(s.trials); len(result.Ranked) == 0 {
		return nil, r.refusal()
	}
	if r.Target != nil { // which adds scores of one kind of scorer
		kind := result.Ranked[0].family.kind
		result.Ranked = slices.DeleteFunc(result.Ranked, func(t *Trial) bool { return t.family.kind != kind })
	}
	if result.Ranked, err = s.finish(ctx, fusible(result.Ranked)); err != nil {
		return nil, err
	}
	if len(result.Ranked) == 0 {
		return nil, errors.New("found no trial that learns without validation data, expected more queries with relevant documents")
	}
	for _, t := range result.Ranked {
		if t.Interval, err = s.interval(t.values); err != nil {
			return nil, err
		}
	}
	if result.Candidates, result.Nested, err = s.candidates(result.Ranked); err != nil {
		return nil, err
	}
	result.Chosen = &result.Candidates[slices.IndexFunc(result.Candidates, func(c Candidate) bool { return c.Chosen })]
	if result.Exportable, err = s.exportable(result); err != nil {
		return nil, err
	}
	result.Members, result.Model, err = result.Fused(result.Chosen)
	return result, err
}

// exportable returns Result.Exportable.
func (s *search) exportable(result *Result) (*Candidate, error) {
	var trials []*Trial
	for _, t := range result.Ranked {
		if f := t.family; s.Target == nil && f.form == raw.name && (f.kind == "linear" || f.kind == "trees") && len(t.Entry.Own.Transforms) == 0 && s.config.Normalization == dataset.NoNormalization {
			trials = append(trials, t)
		}
	}
	if trials == nil {
		return nil, nil
	}
	c, err := s.candidate(trials, recipe{"best single of raw features, linear or trees", equal(1)})
	if err == nil {
		err = s.pool.gain(&c, result.Nested)
	}
	c.Weights = nil
	return &c, err
}

// run is a run under way.
type run struct {
	Config
	families []*family
	entries  []tune.Entry
	of       int      // parts that the data are divided into
	trials   []*Trial // of all searches
	sampled  int      // queries of the sample, 0 without one
}

func newRun(c Config) (r *run, err error) {
	if c.Begun.IsZero() {
		c.Begun = time.Now()
	}
	if c.Members <= 0 {
		c.Members = DefaultMembers
	}
	if c.SampleFrom <= 0 {
		c.SampleFrom = DefaultSampleFrom
	}
	if c.Tune.Entries != nil || c.Tune.Folds != nil {
		return nil, errors.New("found entries or folds, expected none: the families are those of the catalogue, and the data are divided here")
	}
	if c.Trials < 0 {
		return nil, fmt.Errorf("found %d trials, expected a positive number, or 0 for no limit", c.Trials)
	}
	if c.Trials == 0 && c.Budget <= 0 {
		return nil, errors.New("found neither a number of trials nor a time, expected one of them: the search has no end of its own")
	}
	r = &run{Config: c}
	r.families, r.entries, err = r.catalogue()
	return r, err
}

// search returns the search whose trials the model is chosen from. Large data are searched on a sample first; the best
// trials are then repeated on all data.
func (r *run) search(ctx context.Context) (*search, error) {
	whole, err := r.divide()
	if err != nil {
		return nil, err
	}
	sample, err := r.sample()
	if err != nil {
		return nil, err
	}
	first := whole
	if sample != nil {
		first = sample
	}
	s, err := r.open(first)
	if err != nil {
		return nil, err
	}
	if err := s.restore(); err != nil {
		return nil, err
	}
	share := s.share
	if sample != nil {
		share = func(int) float64 { return sampleShare }
	}
	if err := s.try(ctx, share); err != nil {
		return nil, err
	}
	r.trials = s.trials
	if sample == nil || len(ranked(s.trials)) == 0 {
		return s, s.decide()
	}
	if err := s.decide(); err != nil {
		return nil, err
	}
	if s, err = r.promote(ctx, s, whole); err != nil {
		return nil, err
	}
	r.trials = slices.Concat(r.trials, s.trials)
	return s, nil
}

// open returns a search on folds.
func (r *run) open(folds []tune.Fold) (*search, error) {
	c := r.Tune
	c.Folds, c.Entries = folds, r.entries
	session, err := tune.Open(c)
	if err != nil {
		return nil, err
	}
	s := &search{run: r, session: session, config: session.Config()}
	s.pool = newPool(&s.config, r.Target != nil)
	for _, p := range portfolio {
		if slices.ContainsFunc(r.families, func(f *family) bool { return f.name == p.family() }) {
			s.planned = append(s.planned, p)
		}
	}
	return s, nil
}

// searchShare is the part of the time for all trainings; then a fusion is chosen. sampleShare is the part for those on a
// sample.
const (
	searchShare = 0.95
	sampleShare = 0.3
)

// share is the part of the time for a number of trials, so that enough is left to train the final models. Such a
// training takes about seven tenths of a trial's, since it ends without patience.
func (s *search) share(trials int) float64 {
	if len(s.config.Folds) == 1 {
		return searchShare
	}
	const again = 0.7
	return searchShare / (1 + float64(again*float64(min(trials, mostFused))/float64(trials)))
}

// until returns when a part of the time is over, the zero time without a limit.
func (r *run) until(part float64) time.Time {
	if r.Budget <= 0 {
		return time.Time{}
	}
	return r.Begun.Add(time.Duration(part * float64(r.Budget)))
}

// refusal is the error if no trial has a result.
func (r *run) refusal() error {
	for _, t := range r.trials {
		if t.Refused != "" {
			return fmt.Errorf("found no method that learns from the data in %d trials; the first: %s: %s", len(r.trials), t.Entry.Name, t.Refused)
		}
	}
	if r.Budget > 0 {
		return fmt.Errorf("found no trial that ended within %v, expected a longer time, or fewer data", r.Budget)
	}
	return errors.New("found no trial to choose from, expected at least one that is not left out")
}

func (r *run) rule() fuse.Rule {
	if r.Target != nil {
		return fuse.Rule{Kind: fuse.CombSUM, Scale: fuse.Raw}
	}
	return Rule()
}

// Fused returns the members of a candidate, the largest weight first, and their fusion.
func (r *Result) Fused(c *Candidate) (members []Member, fused *model.Model, err error) {
	for i, w := range c.Weights {
		if w > 0 {
			members = append(members, Member{r.Ranked[i], w})
		}
	}
	slices.SortStableFunc(members, func(a, b Member) int { return cmp.Compare(b.Weight, a.Weight) })
	models, weights := r.Shares(members)
	if len(models) == 1 {
		return members, models[0], nil
	}
	fused, err = model.NewFused(r.Rule, models, weights)
	return members, fused, err
}

// Shares returns the models of members and their weights in the fusion. A member's weight is divided among the models
// of its parts. For a target, it is also divided by the deviation of its scores.
func (r *Result) Shares(members []Member) (models []*model.Model, weights []float64) {
	for _, m := range members {
		w := m.Weight / float64(len(m.Models))
		if r.target {
			w /= m.deviation
		}
		for _, part := range m.Models {
			models, weights = append(models, part), append(weights, w)
		}
	}
	return models, weights
}
