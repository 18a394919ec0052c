package auto

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/listwise/listwise/internal/parallel"
	"github.com/listwise/listwise/learn/train"
	"github.com/listwise/listwise/tune"
)

// Outcome is the outcome of a trial.
type Outcome struct {
	Trial
	Folds   []tune.Trained // one a fold; nil if the trial was refused
	Refused string         // why the method cannot learn from the data, if it cannot
	LeftOut bool           // it was not to be done, or did not end in time

	seconds []float64 // that each fold's training took
	left    int       // folds that are not done
}

// mean returns the mean of the validation values over folds.
func (o *Outcome) mean() float64 {
	sum := 0.0
	for i := range o.Folds {
		sum += o.Folds[i].Validation
	}
	return sum / float64(len(o.Folds))
}

// trying does trials in parallel, in order, until all are done or the time is over.
type trying struct {
	*run
	mu       sync.Mutex
	next     int // training that is begun next: trial·folds + fold
	finished int // trainings
	best     int // trial, of those that are done, -1 for none
}

// try does the trials. The trials up to the last finished one count, except those still running when the
// time was over.
func (r *run) try(ctx context.Context) error {
	if d, ok := r.journal.decided(); ok { // of a run that was interrupted when its trials were over
		n := min(d.Trials, len(r.trials))
		r.trials, r.outcomes, r.Budget, r.Without = r.trials[:n], r.outcomes[:n], 0, d.Without
	}
	t := &trying{run: r, best: -1}
	folds := len(r.config.Folds)
	for i := range r.outcomes {
		r.outcomes[i] = Outcome{Trial: r.trials[i], Folds: make([]tune.Trained, folds), seconds: make([]float64, folds), left: folds, LeftOut: slices.Contains(r.Without, i)}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if r.Budget > 0 {
		go t.watch(ctx, cancel)
	}
	all := len(r.trials) * folds
	parallel.For(all, r.config.Jobs, func(_, _ int) {
		if ctx.Err() != nil {
			return
		}
		t.mu.Lock()
		n := t.next // in order, whatever the loop's is
		t.next++
		t.mu.Unlock()
		if err := t.train(ctx, n/folds, n%folds); err != nil {
			cancel(err)
		}
	})
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, errTimeOver) {
		return cause
	}
	for i := range r.outcomes {
		if o := &r.outcomes[i]; o.left == 0 {
			r.done = i + 1
		} else {
			o.LeftOut, o.Folds = true, nil
		}
	}
	if r.done == 0 {
		return fmt.Errorf("found no trial that ended within %v, expected a longer time, or fewer data", r.Budget)
	}
	return r.journal.decide(r.done, r.leftOut())
}

// leftOut returns the trials that were left out, by number.
func (r *run) leftOut() (without []int) {
	for i := range r.outcomes[:r.done] {
		if r.outcomes[i].LeftOut {
			without = append(without, i)
		}
	}
	return without
}

// errTimeOver ends the trials.
var errTimeOver = errors.New("the time for trials is over")

// train does the training of a trial on a fold.
func (t *trying) train(ctx context.Context, trial, fold int) error {
	o := &t.outcomes[trial]
	if slices.Contains(t.Without, trial) {
		return nil
	}
	begun := time.Now()
	trained, err := t.session.Train(ctx, o.Entry, fold, o.Setting)
	if problem, ok := errors.AsType[*train.ProblemError](err); ok && ctx.Err() == nil {
		t.mu.Lock()
		o.Refused = problem.Error()
		t.mu.Unlock()
	} else if err != nil {
		return err
	}
	seconds, err := t.journal.took(trial, fold, time.Since(begun).Seconds())
	if err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if trained != nil {
		o.Folds[fold] = *trained
	}
	o.seconds[fold] = seconds
	o.left--
	t.finished++
	if o.left == 0 && o.Refused != "" {
		o.Folds = nil
	}
	if o.left == 0 && o.Folds != nil && (t.best < 0 || o.mean() > t.outcomes[t.best].mean()) {
		t.best = trial
	}
	t.tell()
	return nil
}

// tell calls Observe.
func (t *trying) tell() {
	if t.Observe == nil {
		return
	}
	p := Progress{Stage: "trials", Done: t.finished, Total: len(t.trials) * len(t.config.Folds)}
	if t.best >= 0 {
		o := &t.outcomes[t.best]
		p.Best, p.Name = o.mean(), t.config.Entries[o.Entry].Name
	}
	t.Observe(p)
}

// watch ends the trials when the remaining time is needed for the steps that follow.
func (t *trying) watch(ctx context.Context, cancel context.CancelCauseFunc) {
	const pause = 50 * time.Millisecond
	ticker := time.NewTicker(pause)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		t.mu.Lock()
		needed := t.afterwards()
		t.mu.Unlock()
		if time.Since(t.Begun)+needed >= t.Budget {
			cancel(errTimeOver)
			return
		}
	}
}

// afterwards estimates the time to refit the members and to report. It scales the times of their trials by
// the number of documents.
func (t *trying) afterwards() time.Duration {
	var done []Outcome
	for i := range t.outcomes {
		if t.outcomes[i].left == 0 {
			done = append(done, t.outcomes[i])
		}
	}
	seconds := 0.0
	for k := range t.config.Folds {
		members, _ := t.members(done, func(o *Outcome) float64 { return o.Folds[k].Validation })
		f := &t.config.Folds[k]
		docs := t.learned(float64(t.Whole.Docs()), t.partsOfAll(), len(t.config.Folds) > 1) / float64(len(t.config.Folds))
		if !f.Tested() && len(t.config.Folds) > 1 && t.Refit != Once {
			docs = 0 // the trials are what is trained
		}
		if t.refitsFolds() {
			docs += t.learned(float64(f.Train.Docs()+f.Valid.Docs()), partsOf(f), false)
		}
		for _, m := range slices.Concat(members...) {
			seconds += done[m].seconds[k] * docs / float64(f.Train.Docs())
		}
	}
	seconds /= float64(parallel.Workers(t.config.Jobs, DefaultMembers))
	const margin = 1.1 // a training on more documents is slower by more than their number
	return time.Duration((float64(seconds*margin) + reportSeconds(t.config.Folds)) * float64(time.Second))
}

// learned returns the total number of documents in the trainings of a member on docs documents in parts.
// anew means that its trial had other data.
func (r *run) learned(docs float64, parts int, anew bool) float64 {
	rest := docs * float64(parts-1) / float64(parts)
	switch {
	case r.Refit == Once:
		return docs
	case r.Refit == Committee:
		return rest * float64(parts)
	case anew:
		return rest * 2
	default:
		return rest
	}
}

// reportSeconds estimates how long scoring, measuring and the report take.
func reportSeconds(folds []tune.Fold) float64 {
	docs := 0
	for i := range folds {
		docs += folds[i].Test.Docs()
	}
	return 2 + float64(float64(docs)*1e-4)
}
