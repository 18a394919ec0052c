package cli

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"
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

// startProgress begins showing steps of a known number. It is silent under
// --quiet and where standard error is no terminal.
func (env *environment) startProgress(label string, total int) *progress {
	p := &progress{label: label, total: total, started: time.Now()}
	if f, ok := env.stderr.(*os.File); ok && !env.quiet && term.IsTerminal(int(f.Fd())) {
		p.w = f
		p.draw()
	}
	return p
}

// step counts one more step as done.
func (p *progress) step() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done++
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
