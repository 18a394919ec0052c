// Package auto trains one ranker from judged queries. It makes all choices by validation data, in three stages:
//
//  1. Division: the queries are divided into parts; every trial is trained once for each part, on the others, and
//     validated on the part (parts.go).
//  2. Search: a fixed portfolio of trials, then rounds of trials of the families that validation favours. A family is a
//     method with a kind of scorer and a form of the features (families.go, search.go).
//  3. Choice: the best trial, or a fusion of several, by nested validation (fusion.go).
//
// A trial is one setting of a method, trained once for each validation part. A kind of scorer is, for example, linear
// or trees. A form is a representation of the features by views and transforms. The portfolio is a fixed list of first
// trials. The resulting model is the fusion of the models of all chosen trials, one for each part.
//
// Start reading at [Run]. Package tune performs the trainings and validates them, and package model contains fusions.
// The package must not depend on how any method learns.
package auto

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/learn/method"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/model/fuse"
	"github.com/listwise/listwise/tune"
)

// DefaultMembers is the default of Config.Members.
const DefaultMembers = 12

// Config is the configuration of a run. Tune contains the validation measure, the seed, and the folder of the records.
// Tune.Folds and Tune.Entries must be nil.
type Config struct {
	Tune tune.Config
	Data *dataset.Dataset

	// Methods are added to the catalogue's methods, for example from [method.Gradient]. The first trials are one of each
	// method and kind of scorer.
	Methods []*method.Method

	// Valid, if not nil, contains validation data. If one part validates, only Valid is used for validation. Otherwise
	// the queries of Valid are added to Data.
	Valid *dataset.Dataset
	Parts int // number of parts that are used for validation; 0 means the result of [PartsFor]

	// Trials is the number of trials; 0 means that only Budget limits them. Without lists trials to omit, by number
	// from 0. Budget, if positive, ends the trials early enough for the whole run to end about this time after Begun.
	// The number of trials then depends on the machine. To reproduce a result on any machine, set Trials and Without
	// from the Result, and no Budget. If Trials and Budget are both set, the limit that is reached first ends the
	// trials.
	Trials  int
	Without []int
	Budget  time.Duration
	Begun   time.Time // start of Budget; the zero time means the call of Run

	// SampleFrom is the number of values (documents times features) above which the trials first use a sample of the
	// queries. 0 means DefaultSampleFrom.
	SampleFrom float64

	Members int    // largest number of trials in the fusion; 0 means DefaultMembers
	Target  Target // system that must be able to run the model; nil means listwise itself

	// Observe, if not nil, is called as trainings end, from several goroutines.
	Observe func(p Progress)
}

// Target is another system that is to run the model. It scores one document at a time. So with a target, models use
// features without views of the query, and fusions add scores.
type Target interface {
	Name() string
	Scorers() []string          // kinds of scorers that the system may be able to run
	Check(m *model.Model) error // returns an error that states why the system cannot run a model, or nil
}

// Progress is the progress of a run.
type Progress struct {
	Stage       string // "trials", "trials on all data" after those on a sample, or "final models"
	Done, Total int    // number of trainings of the stage; Total is 0 if it is unknown
	Best        float64
	Name        string // name of the family with the best trial so far, whose mean is Best
}

// Member is a trial in a fusion, and its weight.
type Member struct {
	*Trial
	Weight float64 // the weights of all members add up to 1
}

// Result is the result of a run.
type Result struct {
	Tune   tune.Config // with the parts as folds
	Of     int         // number of parts into which the queries were divided; 0 if only Config.Valid validates
	Data   *dataset.Dataset
	Trials []*Trial

	// Sampled is the number of queries in the sample on which the first trials were trained. The last trials then
	// repeat the best of them on all data. Sampled is 0 if all trials were trained on all data.
	Sampled int

	// Ranked are the trials from which fusions are chosen, best first. The weights of a Candidate are in this order.
	// The elements are copies of elements of Trials. If several parts validate, the models of the copies were trained
	// again, each for as long as was best on average on the other parts.
	Ranked     []*Trial
	Candidates []Candidate // the simplest first; the first is the best trial alone
	Chosen     *Candidate
	Nested     *Candidate // nested validation of the whole choice, which estimates the result on other queries; it has no weights
	Members    []Member   // the largest weight first
	Model      *model.Model
	Rule       fuse.Rule

	// Exportable is the best trial that most other systems can run: a sum of trees or a linear function of the features
	// without views or transforms. Its Gain is relative to Nested. Exportable is nil if Config.Target is set or no
	// trial is of this kind.
	Exportable *Candidate

	target bool
}

// Without returns the numbers of the trials that were omitted or did not end in time.
func (r *Result) Without() (without []int) {
	for _, t := range r.Trials {
		if t.LeftOut {
			without = append(without, t.Number)
		}
	}
	return without
}

// Run divides the data, performs the trials, chooses a fusion and returns its model. Unless Budget is set, the result
// depends only on the configuration, even if a run with the same folder was interrupted before.
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
	if len(s.ranked()) == 0 {
		return nil, r.refusal()
	}
	from, err := s.finish(ctx)
	if err != nil {
		return nil, err
	}
	if result.Ranked = from(s.pool.all()); len(result.Ranked) == 0 {
		return nil, errors.New("found no trial that learns without validation data, expected more queries with relevant documents")
	}
	for _, t := range result.Ranked {
		if t.Interval, err = s.interval(t.values); err != nil {
			return nil, err
		}
	}
	if result.Candidates, result.Nested, err = s.candidates(from); err != nil {
		return nil, err
	}
	result.Chosen = &result.Candidates[slices.IndexFunc(result.Candidates, func(c Candidate) bool { return c.Chosen })]
	if result.Exportable, err = s.exportable(from, result.Nested); err != nil {
		return nil, err
	}
	result.Members, result.Model, err = result.Fused(result.Chosen)
	return result, err
}

// exportable returns the candidate for Result.Exportable. Its gain is relative to nested.
func (s *search) exportable(from chooser, nested *Candidate) (*Candidate, error) {
	portable := func(queries []int) []*Trial {
		return slices.DeleteFunc(from(queries), func(t *Trial) bool {
			f := t.family
			return f.form != raw.name || f.kind != "linear" && f.kind != "trees" || len(t.Entry.Own.Transforms) > 0
		})
	}
	all := portable(s.pool.all())
	if len(all) == 0 || s.Target != nil || s.config.Normalization != dataset.NoNormalization {
		return nil, nil
	}
	c, err := s.candidate(func(queries []int) []*Trial {
		if list := portable(queries); len(list) > 0 {
			return list
		}
		return all // an outer part can leave none: the value is then slightly too high
	}, recipe{"best single of raw features, linear or trees", equal(1)})
	if err == nil {
		err = s.pool.gain(&c, nested)
	}
	c.Weights = nil
	return &c, err
}

// run is the state of Run.
type run struct {
	Config
	families []*family
	entries  []tune.Entry
	of       int      // number of parts into which the data are divided
	trials   []*Trial // trials of all searches
	sampled  int      // number of queries of the sample, or 0
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

// search performs the trials and returns the search from whose trials the model is chosen. For large data, the trials
// use a sample of the queries, and the best trials are then repeated on all data.
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
		share = func() float64 { return sampleShare }
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

// open returns a search whose trials are trained and validated on folds.
func (r *run) open(folds []tune.Fold) (*search, error) {
	c := r.Tune
	c.Folds, c.Entries = folds, r.entries
	session, err := tune.Open(c)
	if err != nil {
		return nil, err
	}
	s := &search{run: r, session: session, config: session.Config()}
	s.pool = newPool(&s.config, r.Target != nil)
	for _, p := range slices.Concat(s.own(), portfolio) {
		if slices.ContainsFunc(r.families, func(f *family) bool { return f.name == p.family() }) {
			s.planned = append(s.planned, p)
		}
	}
	return s, nil
}

// searchShare is the fraction of the time for all trainings. The choice of a fusion takes the remaining time.
// sampleShare is the fraction for trials on a sample.
const (
	searchShare = 0.95
	sampleShare = 0.3
)

// share returns the fraction of the time that trials may take. The rest is for the final models of [search.finalists].
// Training a final model takes about seven tenths of the time of the trial, since it does not go on after the best round
// until the patience ends.
func (s *search) share() float64 {
	if len(s.config.Folds) == 1 {
		return searchShare
	}
	const first, part = 0.5, 0.7 // first is the share of time that is repeated in the first round, which has three linear functions and trees
	var all, repeated time.Duration
	for _, t := range s.trials {
		all += t.took
	}
	for _, t := range s.finalists() {
		repeated += t.again
	}
	again := first
	if all > 0 {
		again = repeated.Seconds() / all.Seconds()
	}
	return searchShare / (1 + float64(part*again))
}

// until returns the time at which a fraction of the budget is over, or the zero time without a budget.
func (r *run) until(part float64) time.Time {
	if r.Budget <= 0 {
		return time.Time{}
	}
	return r.Begun.Add(time.Duration(part * float64(r.Budget)))
}

// refusal returns the error for a run in which no trial has a result.
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

// Fused returns the trials with a positive weight in a candidate, in descending order of weight, and the fusion of
// their models.
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

// Shares returns the models of members and the weight of each model in the fusion. The weight of a member is divided
// equally among its models, one for each part. If the run has a target, the weight is also divided by the standard
// deviation of the member's scores.
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
