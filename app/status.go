package app

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/jedib0t/go-pretty/v6/text"
	"golang.org/x/term"
)

// How often the status shows: on a terminal it is one line, drawn anew; elsewhere a
// line every ten seconds. What is done within a second shows nothing.
const (
	statusDelay    = time.Second
	statusRedraw   = 200 * time.Millisecond
	statusInterval = 10 * time.Second
)

// status shows on standard error what a command does, how far it is and how long it
// will take. Its methods may be called from any goroutine, and do nothing if it is
// nil, as under --quiet.
type status struct {
	w        io.Writer
	terminal bool

	mu    sync.Mutex
	tasks []*progress // what is being done: the last is part of those before
	drawn bool        // there is a line on the terminal

	ended func(*progress) // called with every task that ends, for tests; may be nil

	stop, stopped chan struct{}
}

// newStatus begins to show tasks on w.
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

// show writes the line of what is being done.
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

// cut shortens a line to width columns: one that goes on in the next could not be drawn
// anew. A width below 1 is not known.
func cut(line string, width int) string {
	if width < 1 || text.StringWidthWithoutEscSequences(line) <= width {
		return line
	}
	return text.Snip(line, width, "…")
}

// wipe takes the line off the terminal. The caller holds the lock.
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

// print writes a line of text that stays.
func (s *status) print(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wipe()
	fmt.Fprintln(s.w, line)
}

// noteLine writes a line of text to standard error, past the status.
func (env *environment) noteLine(line string) {
	env.statusLock.Lock()
	defer env.statusLock.Unlock()
	if env.status == nil {
		fmt.Fprintln(env.stderr, line)
		return
	}
	env.status.print(line)
}

// close ends the showing for good.
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

// output is a standard output on the status' terminal: the status makes room for
// what is written.
type output struct {
	io.Writer
	env *environment
}

func (o output) Write(b []byte) (int, error) {
	o.env.closeStatus()
	return o.Writer.Write(b)
}

// startStatus returns the command's status, which it begins; nil if none is to show.
func (env *environment) startStatus() *status {
	env.statusLock.Lock()
	defer env.statusLock.Unlock()
	if env.status == nil && !env.quiet && !env.statusClosed {
		env.status = newStatus(env.stderr)
	}
	return env.status
}

// closeStatus ends the command's status.
func (env *environment) closeStatus() {
	env.statusLock.Lock()
	defer env.statusLock.Unlock()
	env.status.close()
	env.status, env.statusClosed = nil, true
}
