package cli

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"

	"github.com/listwise/listwise/method"
)

// progress shows on a terminal what a command does, how far it is and how long
// it will take. Its methods may be called from any goroutine.
type progress struct {
	mu      sync.Mutex
	w       io.Writer // nil: silent
	label   string
	total   int
	done    int
	started time.Time
	drawn   time.Time
}

// startProgress begins showing steps; a total of 0 means that set will tell. It is
// silent under --quiet and where standard error is no terminal.
func (env *environment) startProgress(label string, total int) *progress {
	p := &progress{label: label, total: total, started: time.Now()}
	if f, ok := env.stderr.(*os.File); ok && !env.quiet && term.IsTerminal(int(f.Fd())) {
		p.w = f
		if total > 0 {
			p.draw()
		}
	}
	return p
}

// set tells how many steps of how many are done.
func (p *progress) set(done, total int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done, p.total = max(p.done, done), total
	if p.w != nil && time.Since(p.drawn) > 100*time.Millisecond {
		p.draw()
	}
}

func (p *progress) draw() {
	p.drawn = time.Now()
	const width = 30
	share := float64(p.done) / float64(max(p.total, 1))
	filled := min(int(share*width), width)
	left := ""
	if p.done > 0 && p.done < p.total {
		eta := time.Duration(float64(time.Since(p.started)) * (1 - share) / share)
		left = fmt.Sprintf(", %s left", eta.Round(time.Second))
	}
	fmt.Fprintf(p.w, "\r%s [%s%s] %d/%d%s\x1b[K", p.label, strings.Repeat("#", filled), strings.Repeat("-", width-filled), p.done, p.total, left)
}

// finish takes the bar off the screen.
func (p *progress) finish() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.w != nil {
		fmt.Fprint(p.w, "\r\x1b[K")
		p.w = nil
	}
}

// iterations shows how a training goes on, whose number of steps is not known.
type iterations struct {
	p     *progress
	label string
}

func (env *environment) startIterations(label string) *iterations {
	return &iterations{env.startProgress(label, 0), label}
}

// observe is called after every iteration of the optimiser.
func (it *iterations) observe(i method.Iteration) {
	p := it.p
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.w == nil || time.Since(p.drawn) < 100*time.Millisecond {
		return
	}
	p.drawn = time.Now()
	start := ""
	if i.Start > 0 {
		start = fmt.Sprintf("start %d, ", i.Start+1)
	}
	fmt.Fprintf(p.w, "\r%s: %s%s, %s\x1b[K", it.label, start, describeIteration(i), time.Since(p.started).Round(time.Second))
}

func describeIteration(i method.Iteration) string {
	if !i.Epoch {
		return fmt.Sprintf("iteration %d, objective %.6g, gradient %.3g", i.Number, i.Objective, i.GradNorm)
	}
	text := fmt.Sprintf("epoch %d, cost %.6g, rate %.3g", i.Number, i.Objective, i.Rate)
	if i.Validated {
		text += fmt.Sprintf(", validation %.4f", i.Validation)
	}
	return text
}

func (it *iterations) finish() { it.p.finish() }
