package app

import (
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jedib0t/go-pretty/v6/text"
	"golang.org/x/term"

	"github.com/listwise/listwise/learn/method"
)

// progress is a task of a command. It shows the number of steps done and the remaining time. Its
// methods may be called from any goroutine.
type progress struct {
	status *status // shows the task; nil: not shown

	mu      sync.Mutex
	label   string
	unit    string // of steps; "" for a plain number
	total   int64  // 0: not known
	done    int64
	before  int64  // steps done by an earlier run, before a checkpoint
	detail  string // shown instead of steps
	started time.Time
}

// startProgress shows a new task. A total of 0 is unknown; set may supply it later.
func (env *environment) startProgress(label string, total int) *progress {
	p := &progress{status: env.startStatus(), label: label, total: int64(total), started: time.Now()}
	p.status.begin(p)
	return p
}

// set sets the number of steps done and their total.
func (p *progress) set(done, total int) { p.update(int64(done), int64(total), "") }

// show sets the label, the number of steps done and their total, and a text that follows them. It returns the three.
func (p *progress) show(label string, done, total int, more string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.label, p.done, p.total = label, int64(done), int64(total)
	p.detail = p.steps(true) + more
	return label + ": " + p.detail
}

// bestSoFar describes the best entry of a search as text for progress.show. It returns "" if there
// is none yet.
func bestSoFar(measure, name string, best float64) string {
	if name == "" {
		return ""
	}
	return fmt.Sprintf(", best %s on validation %.4f by %s", measure, best, name)
}

// bytes is set with bytes as steps.
func (p *progress) bytes(done, total int64) { p.update(done, total, "MB") }

func (p *progress) update(done, total int64, unit string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done, p.total, p.unit = max(p.done, done), total, unit
}

// line returns the text that describes the task. bar adds a progress bar.
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

// steps formats the steps done: short as "3/40", otherwise as "3 of 40".
func (p *progress) steps(short bool) string {
	of := " of "
	if short {
		of = "/"
	}
	if p.unit == "MB" {
		return fmt.Sprintf("%.0f%s%.0f MB", float64(p.done)/1e6, of, float64(p.total)/1e6)
	}
	if p.total == 0 && p.done > 0 { // a search limited by time
		return strconv.FormatInt(p.done, 10)
	}
	return fmt.Sprintf("%d%s%d", p.done, of, p.total)
}

// remaining estimates the remaining time from the time past that a share of the work took.
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

func (p *progress) finish() { p.status.end(p) }

// during shows a task of unknown length while do runs.
func (env *environment) during(label string, do func() error) error {
	p := env.startProgress(label, 0)
	defer p.finish()
	return do()
}

// iterations shows the progress of a training.
type iterations struct {
	*progress

	limits method.Values
	trees  bool // the training grows trees
	seen   bool // observe was called
}

// startIterations shows a new training. settings limit the number of its steps.
func (env *environment) startIterations(label, scorer string, settings method.Values) *iterations {
	return &iterations{progress: env.startProgress(label, 0), limits: settings, trees: scorer == "trees"}
}

// observe is called after every iteration of the optimizer.
func (it *iterations) observe(i method.Iteration) {
	text := it.describe(i)
	if i.Start > 0 {
		text = fmt.Sprintf("start %d, ", i.Start+1) + text
	}
	done, total := it.steps(i)
	it.mu.Lock()
	defer it.mu.Unlock()
	if !it.seen && i.Epoch && i.Number > 1 { // training resumes from a checkpoint
		it.before = done - 1
	}
	it.detail, it.done, it.total, it.seen = text, done, total, true
}

// steps returns the number of steps done and the largest possible number, over all starts. Both are
// 0 if the method has no limit.
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
	case i.Epoch && limited("rounds"): // counts rounds over all starts, like epochs
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

// describe returns the text for an iteration, an epoch of descent or a round of boosting.
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

// On a terminal the status is one line that is redrawn. Elsewhere it is a new line every ten
// seconds. Tasks that take less than a second show nothing.
const (
	statusDelay    = time.Second
	statusRedraw   = 200 * time.Millisecond
	statusInterval = 10 * time.Second
)

// status shows the current task of a command on standard error. Its methods may be called from any
// goroutine. A nil status shows nothing; --quiet uses it.
type status struct {
	w        io.Writer
	terminal bool

	mu    sync.Mutex
	tasks []*progress // open tasks; each is part of the one before
	drawn bool        // the terminal shows a line

	ended func(*progress) // called with every task that ends, for tests; may be nil

	stop, stopped chan struct{}
}

func newStatus(w io.Writer) *status {
	s := &status{w: w, terminal: isTerminal(w), stop: make(chan struct{}), stopped: make(chan struct{})}
	go s.run()
	return s
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

func (s *status) run() {
	defer close(s.stopped)
	wait, then := statusInterval, statusInterval
	if s.terminal {
		wait, then = statusDelay, statusRedraw
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	for {
		select {
		case <-s.stop:
			return
		case <-timer.C:
			s.show()
			timer.Reset(then)
		}
	}
}

// show writes the line of the current task.
func (s *status) show() {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case len(s.tasks) == 0:
		s.wipe()
	case s.terminal:
		fmt.Fprintf(s.w, "\r%s\x1b[K", cut(visible(s.tasks[len(s.tasks)-1].line(true)), terminalWidth(s.w)-1))
		s.drawn = true
	default:
		fmt.Fprintln(s.w, visible(s.tasks[len(s.tasks)-1].line(false)))
	}
}

// cut shortens a line to width columns, because a terminal cannot redraw a wrapped line. A width
// below 1 is unknown.
func cut(line string, width int) string {
	if width < 1 || text.StringWidthWithoutEscSequences(line) <= width {
		return line
	}
	return text.Snip(line, width, "…")
}

// wipe removes the line from the terminal. The caller must hold the lock.
func (s *status) wipe() {
	if s.drawn {
		fmt.Fprint(s.w, "\r\x1b[K")
		s.drawn = false
	}
}

func (s *status) begin(p *progress) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tasks = append(s.tasks, p)
}

func (s *status) end(p *progress) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, t := range s.tasks {
		if t == p {
			s.tasks = append(s.tasks[:i], s.tasks[i+1:]...)
			if s.ended != nil {
				s.ended(p)
			}
			break
		}
	}
	if len(s.tasks) == 0 {
		s.wipe()
	}
}

func (s *status) print(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wipe()
	fmt.Fprintln(s.w, line)
}

// noteLine prints a line of text on standard error, above the status.
func (env *environment) noteLine(line string) {
	env.statusLock.Lock()
	defer env.statusLock.Unlock()
	if env.status == nil {
		fmt.Fprintln(env.stderr, line)
		return
	}
	env.status.print(line)
}

func (s *status) close() {
	if s == nil {
		return
	}
	close(s.stop)
	<-s.stopped
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wipe()
}

// output is standard output if it shares the terminal with the status. It removes the status before
// it writes.
type output struct {
	io.Writer
	env *environment
}

func (o output) Write(b []byte) (int, error) {
	o.env.closeStatus()
	return o.Writer.Write(b)
}

// startStatus returns the command's status and starts it if necessary. It returns nil if the status
// must not be shown.
func (env *environment) startStatus() *status {
	env.statusLock.Lock()
	defer env.statusLock.Unlock()
	if env.status == nil && !env.quiet && !env.statusClosed {
		env.status = newStatus(env.stderr)
	}
	return env.status
}

func (env *environment) closeStatus() {
	env.statusLock.Lock()
	defer env.statusLock.Unlock()
	env.status.close()
	env.status, env.statusClosed = nil, true
}
