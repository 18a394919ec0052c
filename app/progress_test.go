package app

import (
	"bytes"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/listwise/listwise/learn/method"
)

// lockedBuffer may be looked at while a status writes to it.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(b)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func (l *lockedBuffer) Reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.b.Reset()
}

// On a terminal nothing shows within a second; then there is one line with a bar and
// the time left, which makes room for notes and is gone in the end.
func TestStatusOnTerminal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var screen lockedBuffer
		s := &status{w: &screen, terminal: true, stop: make(chan struct{}), stopped: make(chan struct{})}
		go s.run()
		env := &environment{stderr: &screen, status: s}
		p := env.startProgress("tuning", 4)
		time.Sleep(900 * time.Millisecond)
		synctest.Wait()
		if screen.String() != "" {
			t.Errorf("screen shows %q within a second", screen.String())
		}
		p.set(1, 4)
		p.set(0, 4) // another goroutine's, late
		time.Sleep(150 * time.Millisecond)
		synctest.Wait()
		if got, want := screen.String(), "\rtuning [#######-----------------------] 1/4, 1s, 3s left\x1b[K"; got != want {
			t.Errorf("screen shows %q, want %q", got, want)
		}
		screen.Reset()
		env.note("a note")
		if got, want := screen.String(), "\r\x1b[Ka note\n"; got != want {
			t.Errorf("a note shows as %q, want %q", got, want)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		screen.Reset()
		p.finish()
		if got := screen.String(); got != "\r\x1b[K" {
			t.Errorf("the end shows as %q, want an empty line", got)
		}
		screen.Reset()
		time.Sleep(time.Minute)
		env.closeStatus()
		if screen.String() != "" {
			t.Errorf("without a task the screen shows %q", screen.String())
		}
		env.startProgress("late", 1).finish() // after the end nothing begins
	})
}

// Where standard error is no terminal there is a line every ten seconds, of the
// innermost task.
func TestStatusInFiles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var file lockedBuffer
		env := &environment{stderr: &file}
		outer := env.startProgress("tuning", 0)
		inner := env.startProgress("reading a.txt", 0)
		inner.bytes(2e6, 8e6)
		time.Sleep(15 * time.Second)
		inner.finish()
		time.Sleep(6 * time.Second)
		outer.set(7, 14)
		outer.finish()
		time.Sleep(20 * time.Second)
		env.closeStatus()
		if got, want := file.String(), "reading a.txt: 2 of 8 MB, 10s, 30s left\ntuning, 20s\n"; got != want {
			t.Errorf("file holds %q, want %q", got, want)
		}
	})
}

// --quiet silences.
func TestStatusQuiet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var file lockedBuffer
		env := &environment{stderr: &file, quiet: true}
		p := env.startProgress("tuning", 4)
		time.Sleep(time.Minute)
		p.set(1, 4)
		p.finish()
		env.note("a note")
		env.closeStatus()
		if file.String() != "" {
			t.Errorf("file holds %q", file.String())
		}
	})
}

// A training shows its iterations, and how long it will take at most where its
// settings limit them.
func TestIterations(t *testing.T) {
	for _, c := range []struct {
		method string
		set    map[string]string
		it     method.Iteration
		want   string

		resumed bool // before this iteration
	}{
		{"mle", map[string]string{"iterations": "10", "restarts": "0"}, method.Iteration{Number: 5, Objective: 1.25, GradNorm: 0.5},
			"T: iteration 5, objective 1.25, gradient 0.5, 10s, 10s left at most", false},
		{"expgain", map[string]string{"iterations": "10", "restarts": "3"}, method.Iteration{Start: 1, Number: 10, Objective: 2, GradNorm: 1e-3},
			"T: start 2, iteration 10, objective 2, gradient 0.001, 10s, 10s left at most", false},
		{"rankboost", map[string]string{"rounds": "100"}, method.Iteration{Number: 25, Epoch: true, Objective: 3, Rate: 0.5},
			"T: round 25, cost 3, rate 0.5, 10s, 30s left at most", false},
		{"lambdamart", map[string]string{"trees": "400"}, method.Iteration{Number: 1, Epoch: true, Objective: 3, Rate: 0.05, Validated: true, Validation: 0.5},
			"T: round 1, cost 3, rate 0.05, validation 0.5000, 10s, 1h6m30s left at most", false},
		{"lambdamart", map[string]string{"trees": "301"}, method.Iteration{Number: 300, Epoch: true, Objective: 3, Rate: 0.05},
			"T: round 300, cost 3, rate 0.05, 10s, 10s left at most", true},
		{"coordascent", map[string]string{"restarts": "1"}, method.Iteration{Start: 1, Number: 9, Epoch: true, Objective: 3},
			"T: start 2, epoch 9, cost 3, rate 0, 10s, 10s left at most", false},
	} {
		t.Run(c.method+" "+strconv.Itoa(c.it.Number), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m, err := method.Lookup(c.method)
				if err != nil {
					t.Fatal(err)
				}
				values, err := m.Values(c.set)
				if err != nil {
					t.Fatal(err)
				}
				var file lockedBuffer
				env := &environment{stderr: &file}
				defer env.closeStatus()
				it := env.startIterations("T", m.Scorers()[0], values)
				if !c.resumed {
					it.observe(method.Iteration{Epoch: c.it.Epoch, Number: 1})
				}
				it.observe(c.it)
				time.Sleep(statusInterval + time.Millisecond)
				env.closeStatus()
				if got := strings.TrimSpace(file.String()); got != c.want {
					t.Errorf("file holds %q, want %q", got, c.want)
				}
			})
		})
	}
}
