package app

import (
	"fmt"
	"math"
	"strings"
	"sync"
	"time"

	"github.com/listwise/listwise/learn/method"
)

// progress is a task of a command: what it does, how far it is and how long it will
// take. Its methods may be called from any goroutine.
type progress struct {
	status *status // that shows it; nil: none

	mu      sync.Mutex
	label   string
	unit    string // of steps; "" for a plain number
	total   int64  // 0: not known
	done    int64
	before  int64  // done, of these, before it began
	detail  string // instead of steps, where their number is not known
	started time.Time
}

// startProgress begins to show steps; a total of 0 means that the total is given to set
// later or is unknown.
func (env *environment) startProgress(label string, total int) *progress {
	p := &progress{status: env.startStatus(), label: label, total: int64(total), started: time.Now()}
	p.status.begin(p)
	return p
}

// set sets the number of steps done and their total.
func (p *progress) set(done, total int) { p.update(int64(done), int64(total), "") }

// bytes is set for bytes.
func (p *progress) bytes(done, total int64) { p.update(done, total, "MB") }

func (p *progress) update(done, total int64, unit string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done, p.total, p.unit = max(p.done, done), total, unit
}

// line describes the task, for a terminal with a bar.
func (p *progress) line(bar bool) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	past := time.Since(p.started)
	text := p.label
	if p.detail != "" {
		text += ": " + p.detail
	}
	if p.total <= 0 {
		return text + ", " + past.Round(time.Second).String()
	}
	share := min(1, float64(p.done)/float64(p.total))
	if p.detail == "" {
		if bar {
			const width = 30
			filled := int(share * width)
			text += " [" + strings.Repeat("#", filled) + strings.Repeat("-", width-filled) + "] "
		} else {
			text += ": "
		}
		text += p.steps(bar)
	}
	text += ", " + past.Round(time.Second).String()
	if left := remaining(past, float64(p.done-p.before)/float64(p.total-p.before)); left != "" {
		text += ", " + left
		if p.detail != "" {
			text += " at most"
		}
	}
	return text
}

// steps is "3/40", in words "3 of 40".
func (p *progress) steps(short bool) string {
	of := " of "
	if short {
		of = "/"
	}
	if p.unit == "MB" {
		return fmt.Sprintf("%.0f%s%.0f MB", float64(p.done)/1e6, of, float64(p.total)/1e6)
	}
	return fmt.Sprintf("%d%s%d", p.done, of, p.total)
}

// remaining is "2m0s left", given the time that a share of the work took.
func remaining(past time.Duration, share float64) string {
	if share <= 0 || share >= 1 {
		return ""
	}
	left := float64(past) * (1 - share) / share
	if left > math.MaxInt64/2 {
		return ""
	}
	return time.Duration(left).Round(time.Second).String() + " left"
}

// finish ends the task.
func (p *progress) finish() { p.status.end(p) }

// during shows a task of unknown length while it is done.
func (env *environment) during(label string, do func() error) error {
	p := env.startProgress(label, 0)
	defer p.finish()
	return do()
}

// iterations shows how a training goes on.
type iterations struct {
	*progress

	limits method.Values
	trees  bool // are grown
	seen   bool // an iteration
}

// startIterations begins to show a training of a kind of scorer, whose settings limit its steps.
func (env *environment) startIterations(label, scorer string, settings method.Values) *iterations {
	return &iterations{progress: env.startProgress(label, 0), limits: settings, trees: scorer == "trees"}
}

// observe is called after every iteration of the optimiser.
func (it *iterations) observe(i method.Iteration) {
	text := it.describe(i)
	if i.Start > 0 {
		text = fmt.Sprintf("start %d, ", i.Start+1) + text
	}
	done, total := it.steps(i)
	it.mu.Lock()
	defer it.mu.Unlock()
	if !it.seen && i.Epoch && i.Number > 1 { // it goes on from a checkpoint
		it.before = done - 1
	}
	it.detail, it.done, it.total, it.seen = text, done, total, true
}

// steps returns how many steps of how many at most are done; 0 of 0 if the method
// has no limit. Every start may take as many.
func (it *iterations) steps(i method.Iteration) (done, total int64) {
	values := it.limits.Map()
	limited := func(name string) bool { _, ok := values[name]; return ok }
	starts := int64(1)
	if limited("restarts") {
		starts += int64(it.limits.Int("restarts"))
	}
	switch {
	case it.trees && limited("trees"):
		return int64(i.Number), int64(it.limits.Int("trees"))
	case i.Epoch && limited("rounds"): // counted over all starts, as epochs are
		return int64(i.Number), int64(it.limits.Int("rounds"))
	case i.Epoch && limited("sweeps"):
		return int64(i.Start), starts
	case i.Epoch && limited("epochs"):
		return int64(i.Number), int64(it.limits.Int("epochs"))
	case limited("iterations"):
		each := int64(it.limits.Int("iterations"))
		return int64(i.Start)*each + min(int64(i.Number), each), starts * each
	}
	return 0, 0
}

// describe tells what an iteration, an epoch of descent or a round of boosting came to.
func (it *iterations) describe(i method.Iteration) string {
	if !i.Epoch {
		return fmt.Sprintf("iteration %d, objective %.6g, gradient %.3g", i.Number, i.Objective, i.GradNorm)
	}
	unit := "epoch"
	if _, rounds := it.limits.Map()["rounds"]; rounds || it.trees {
		unit = "round"
	}
	text := fmt.Sprintf("%s %d, cost %.6g, rate %.3g", unit, i.Number, i.Objective, i.Rate)
	if i.Validated {
		text += fmt.Sprintf(", validation %.4f", i.Validation)
	}
	return text
}
