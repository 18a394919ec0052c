// Package auto makes one ranker of judged queries by a recipe that looks at validation data alone:
//
//  1. trials: every method of the catalogue, with each of its kinds of scorer, over two views of the
//     features, in a fixed order and within a budget (catalogue.go, trials.go);
//  2. the views by which the methods do best on validation data, over all methods; of each method and
//     scorer on these views the best trial, and of these the best, at most 20 and at most half of
//     them: all their settings and seeds are members (choose.go);
//  3. what members learn from training and validation data together, in turn but for a part that
//     decides when to stop (refit.go);
//  4. the mean of their scores, standardised within the query: a fusion, which is a model.
//
// Start reading at [Run]. Trainings, their records and their validation are those of package tune,
// fusions those of package model. The package must not depend on how any method learns.
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

// DefaultMembers is of how many methods, each with a scorer, a fusion has members at most.
const DefaultMembers = 20

// Config says what to learn from. Tune has the folds, by whose validation data members are chosen,
// the measure that chooses, the seed, and the folder of the journal; its entries are the package's own.
type Config struct {
	Tune  tune.Config
	Whole *dataset.Dataset // what the last model learns from; nil: tune.Whole of the folds
	Views []dataset.Views  // that every method is trained with; nil: DefaultViews

	// Trials is how many are done, 0: all; Without are numbers of some, from 0, that are left out.
	// Budget, if positive, ends them early enough for all that follows to be done about that long after
	// Begun; what is trained then depends on the machine, and Result.Trials of Trials and
	// Result.Without of Without give the same result anywhere. If both are given, the first to be
	// reached ends the trials.
	Trials  int
	Without []int
	Budget  time.Duration
	Begun   time.Time // zero: when Run is called

	Refit   Refit // empty: the first of Refits
	Members int   // methods with a scorer that a fusion has members of, at most; 0: DefaultMembers

	// Observe, if not nil, is called as trainings end, with what is done (such as "trials") and the
	// best validation value so far, 0 if there is none yet. It is called from several goroutines.
	Observe func(p Progress)
}

// Progress is how far a run is.
type Progress struct {
	Stage       string // "trials" or "refitting"
	Done, Total int    // trainings
	Best        float64
	Name        string // of the entry that is best
}

// Rule is how the members of a fusion are put together: the mean of their scores, each standardised
// over the query's documents.
func Rule() fuse.Rule { return fuse.Rule{Kind: fuse.CombSUM, Scale: fuse.ZScore} }

// Member is a trial that was chosen, or the best trial of a candidate.
type Member struct {
	Entry      *tune.Entry
	Number     int          // of the entry
	Trial      tune.Setting // by which it is judged
	Validation float64      // of the trial, the mean over folds for Result.Final
	Tried      *model.Model // of the trial; nil for Result.Final
	Curve      []byte       // of the trial, as in tune.Trained; nil for Result.Final
	Learned    []Learned    // what it has learned from training and validation data; nil where it has not

	tried   []*model.Model // of the trial, on the folds by which it is judged
	outcome int            // of the trial, by number
}

// Fused are the members for some data and their fusion: all trials of the best candidate first, best
// first, then those of the next one.
type Fused struct {
	Name    string // of the fold; "all" for Result.Final
	Members []Member
	Model   *model.Model // of what the members have learned; nil where they have not

	// Candidates are, of each method, scorer and views, the best trial, best first; Chosen is of how many of
	// them the trials are members.
	Candidates []Member
	Chosen     int
}

// Result is what came of a run.
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

// Run does the trials, chooses, trains anew and fuses. Its result is a function of the configuration
// alone unless the time is limited, whether or not a run with the same folder was interrupted before.
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
