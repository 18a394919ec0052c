package app

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/listwise/listwise/internal/atomicfile"
)

// After the first signal, a command has the time grace to end by itself. Then endProcess ends the
// process within farewell. The sum is less than a second.
const (
	grace    = 700 * time.Millisecond
	farewell = 200 * time.Millisecond
)

// interrupts contains the process's handling of signals. The server changes it.
type interrupts struct {
	signals chan os.Signal // nil without WithSignals
	last    sync.Mutex     // taken and never released by the goroutine that prints the final message and sets the exit code

	mu     sync.Mutex
	grace  time.Duration // time to end after the first signal
	hangup func()        // called at SIGHUP; nil: SIGHUP stops the command
}

type interruptsKey struct{}

// interruptsOf returns the handling of signals that WithSignals stored in ctx. If ctx has none, it
// returns a value that receives no signals.
func interruptsOf(ctx context.Context) *interrupts {
	if i, ok := ctx.Value(interruptsKey{}).(*interrupts); ok {
		return i
	}
	return new(interrupts)
}

func (i *interrupts) wait(grace time.Duration) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.grace = grace
}

// onHangup makes SIGHUP call do instead of stopping the command, even if the process started with
// SIGHUP ignored.
func (i *interrupts) onHangup(do func()) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.hangup = do
	if i.signals != nil {
		signal.Notify(i.signals, syscall.SIGHUP)
	}
}

// taken calls the function for SIGHUP if sig is SIGHUP and there is one. It reports whether it did.
func (i *interrupts) taken(sig os.Signal) bool {
	i.mu.Lock()
	do := i.hangup
	i.mu.Unlock()
	if sig != syscall.SIGHUP || do == nil {
		return false
	}
	do()
	return true
}

func (i *interrupts) patience() time.Duration {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.grace
}

// WithSignals returns a context for Run in a process of its own. The first Ctrl-C, SIGTERM or
// SIGHUP cancels the context, which stops the command cleanly within a second. A server first
// answers its open requests. A second signal ends the process at once, also cleanly.
func WithSignals(ctx context.Context) context.Context {
	ignoreFileSizeSignal()
	signals := make(chan os.Signal, 2)
	taking := &interrupts{grace: grace, signals: signals}
	ctx, cancel := context.WithCancel(context.WithValue(ctx, interruptsKey{}, taking))
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // nohup ignores SIGHUP
		signal.Notify(signals, syscall.SIGHUP)
	}
	go func() {
		for sig := range signals {
			if !taking.taken(sig) {
				break
			}
		}
		cancel()
		select {
		case <-signals:
		case <-time.After(taking.patience()):
		}
		endProcess(&taking.last, os.Stderr)
	}()
	return ctx
}

// endProcess ends the process if the command does not end in time. It removes the files that the
// command was writing. The end of the process releases the lock on its run, so the record shows the
// run as interrupted.
func endProcess(last *sync.Mutex, stderr io.Writer) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		last.Lock()
		atomicfile.Abandon()
		if isTerminal(stderr) {
			fmt.Fprint(stderr, "\r\x1b[K") // remove the status
		}
		fmt.Fprintln(stderr, interrupted)
	}()
	select {
	case <-done:
	case <-time.After(farewell): // standard error is blocked
	}
	os.Exit(exitFailed)
}

const interrupted = "listwise: interrupted"
