// Package auto makes one ranker from judged queries. Only validation data decide:
//
//  1. Trials: every method of the catalogue, with each kind of scorer and two views of the features, in a fixed order
//     and within a budget (catalogue.go, trials.go).
//  2. Choice: the views with the best mean validation value over all methods. On these views, the best trial of each
//     method and scorer is a candidate. At most 20 and at most half of the candidates are chosen; all their settings
//     and seeds become members (choose.go).
//  3. Refitting: members learn from training and validation data, except for a part that decides when to stop
//     (refit.go).
//  4. Fusion: the mean of the members' scores, standardised within the query. The fusion is a model.
//
// Start reading at [Run]. Package tune has the trainings, their records and their validation; package
// model has the fusions. The package must not depend on how any method learns.
package auto

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/model/fuse"
	"github.com/listwise/listwise/tune"
)

// DefaultMembers is the default of Config.Members.
const DefaultMembers = 20

// Config is the configuration of a run. Tune has the folds, whose validation data choose the members, the
// measure, the seed, and the folder of the journal. Its entries must be nil.
type Config struct {
	Tune  tune.Config
	Whole *dataset.Dataset // what the last model learns from; nil: tune.Whole of the folds
	Views []dataset.Views  // that every method is trained with; nil: DefaultViews

	// Trials is the number of trials; 0 means all. Without has numbers of trials, from 0, that are left
	// out. Budget, if positive, ends the trials early enough for the whole run to end about that long after
	// Begun. The trials done then depend on the machine; a run with Trials and Without set from the Result
	// reproduces it anywhere. If Trials and Budget are both given, the first limit ends the trials.
	Trials  int
	Without []int
	Budget  time.Duration
	Begun   time.Time // zero: when Run is called

	Refit   Refit // empty: the first of Refits
	Members int   // methods with a scorer that a fusion has members of, at most; 0: DefaultMembers

	// Observe, if not nil, is called as trainings end, from several goroutines.
	Observe func(p Progress)
}

// Progress is how far a run is.
type Progress struct {
	Stage       string // "trials" or "refitting"
	Done, Total int    // trainings
	Best        float64
	Name        string // of the entry that is best
}

// Rule is the rule of fusions: the mean of the members' scores, each standardised over the query's
// documents.
func Rule() fuse.Rule { return fuse.Rule{Kind: fuse.CombSUM, Scale: fuse.ZScore} }

// Member is a trial that was chosen, or the best trial of a candidate.
type Member struct {
	Entry      *tune.Entry
	Number     int          // of the entry
	Trial      tune.Setting // by which it is judged
	Validation float64      // of the trial, the mean over folds for Result.Final
	Tried      *model.Model // of the trial; nil for Result.Final
	Curve      []byte       // of the trial, as in tune.Trained; nil for Result.Final
	Learned    []Learned    // its models of training and validation data; nil if there are none

	tried   []*model.Model // of the trial, on the folds by which it is judged
	outcome int            // of the trial, by number
}

// Fused are the members for some data and their fusion. Members are in the order of their candidates, best
// first, and within a candidate best first.
type Fused struct {
	Name    string // of the fold; "all" for Result.Final
	Members []Member
	Model   *model.Model // of the members' learned models; nil if there are none

	// Candidates are the best trials of each method, scorer and views, best first. Chosen is the number of
	// candidates whose trials are members.
	Candidates []Member
	Chosen     int
}

// Result is the result of a run.
type Result struct {
	Trials   int   // the first trials of the list, that were done
	Without  []int // of them, by number from 0: left out, or not ended in time
	Of       int   // trials in the list
	Entries  []tune.Entry
	Outcomes []Outcome // of the trials
	Folds    []Fused   // chosen by each fold's own validation data
	Final    Fused     // chosen by the mean over the folds, and trained on all data
	Tune     tune.Config
	Whole    *dataset.Dataset
}

// Run does the trials, chooses, refits and fuses. Unless the time is limited, the result depends only on
// the configuration, even if a run with the same folder was interrupted before.
func Run(ctx context.Context, c Config) (*Result, error) {
	if c.Begun.IsZero() {
		c.Begun = time.Now()
	}
	if c.Views == nil {
		c.Views = DefaultViews()
	}
	if c.Refit == "" {
		c.Refit = Refits()[0]
	}
	if c.Members <= 0 {
		c.Members = DefaultMembers
	}
	divided := c.Whole != nil
	if c.Whole == nil {
		var err error
		if c.Whole, err = tune.Whole(c.Tune.Folds); err != nil {
			return nil, err
		}
	}
	r, err := newRun(c)
	if err != nil {
		return nil, err
	}
	r.divided = divided
	if err := r.try(ctx); err != nil {
		return nil, err
	}
	result := &Result{Trials: r.done, Without: r.leftOut(), Of: r.all, Entries: r.config.Entries, Outcomes: r.outcomes[:r.done], Tune: r.config, Whole: c.Whole}
	if err := r.choose(result); err != nil {
		return nil, err
	}
	return result, r.refit(ctx, result)
}

// run is a run under way.
type run struct {
	Config
	session  *tune.Session
	config   tune.Config // the session's
	trials   []Trial
	all      int       // trials in the list, whether or not they are to be done
	outcomes []Outcome // of the trials
	divided  bool      // the folds are divisions of data that were given whole
	done     int       // trials that count, the first ones
	journal  *journal
}

func newRun(c Config) (*run, error) {
	if c.Tune.Entries != nil {
		return nil, errors.New("found entries to tune, expected none: those of the catalogue are tried")
	}
	var trials []Trial
	var err error
	if c.Tune.Entries, trials, err = c.catalogue(); err != nil {
		return nil, err
	}
	if c.Trials < 0 {
		return nil, fmt.Errorf("found %d trials, expected a positive number, or 0 for all", c.Trials)
	}
	all := len(trials)
	if c.Trials > 0 && c.Trials < all {
		trials = trials[:c.Trials]
	}
	r := &run{Config: c, trials: trials, all: all, outcomes: make([]Outcome, len(trials))}
	if r.session, err = tune.Open(c.Tune); err != nil {
		return nil, err
	}
	r.config = r.session.Config()
	r.journal, err = openJournal(c.Tune.Dir, r.key())
	return r, err
}

// fusion returns the model of some members' models, with equal weights; one alone is the model.
func fusion(members []*model.Model) (*model.Model, error) {
	if len(members) == 1 {
		return members[0], nil
	}
	return model.NewFused(Rule(), members, fuse.Equal(len(members)))
}
