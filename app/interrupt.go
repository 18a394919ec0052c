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

// After the first signal a command has grace to end by itself, as those do that look
// at their context often; then the process is ended for it, which takes farewell at
// most. Both together keep within a second.
const (
	grace    = 700 * time.Millisecond
	farewell = 200 * time.Millisecond
)

// interrupts is how the process takes signals, which a command that goes on until it is stopped
// changes.
type interrupts struct {
	signals chan os.Signal // nil in a command line that is no process of its own

	mu     sync.Mutex
	grace  time.Duration // between the first signal and the end
	hangup func()        // what SIGHUP does; nil: it is a signal as others are
}

type interruptsKey struct{}

// interruptsOf returns how the process of a command takes signals.
func interruptsOf(ctx context.Context) *interrupts {
	if i, ok := ctx.Value(interruptsKey{}).(*interrupts); ok {
		return i
	}
	return new(interrupts) // of a command line that is no process of its own
}

// wait gives the command so much time to end after the first signal.
func (i *interrupts) wait(grace time.Duration) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.grace = grace
}

// onHangup has SIGHUP do something instead of stopping the command, even if the process was
// started with SIGHUP ignored.
func (i *interrupts) onHangup(do func()) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.hangup = do
	if i.signals != nil {
		signal.Notify(i.signals, syscall.SIGHUP)
	}
}

// taken reports whether a signal was one that does not stop the command, and has been acted on.
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

// patience returns how long the command has to end.
func (i *interrupts) patience() time.Duration {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.grace
}

// Main runs the process's command line and returns its exit code. The first Ctrl-C, SIGTERM
// or SIGHUP stops the command cleanly, within a second in every state but that of a service, which
// answers what it has begun; a second signal stops it at once, and as cleanly.
func Main() int {
	ignoreFileSizeSignal()
	signals := make(chan os.Signal, 2)
	taking := &interrupts{grace: grace, signals: signals}
	ctx, cancel := context.WithCancel(context.WithValue(context.Background(), interruptsKey{}, taking))
	defer cancel()
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // as nohup has it
		signal.Notify(signals, syscall.SIGHUP)
	}
	var last sync.Mutex
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
		endProcess(&last, os.Stderr)
	}()
	return execute(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr, &last)
}

// endProcess ends the process in place of a command that does not: the files it was writing
// are removed, and its run counts as interrupted, for the end takes the lock off it. last
// is held by whoever prints the final message.
func endProcess(last *sync.Mutex, stderr io.Writer) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		last.Lock()
		atomicfile.Abandon()
		if isTerminal(stderr) {
			fmt.Fprint(stderr, "\r\x1b[K") // the status
		}
		fmt.Fprintln(stderr, interrupted)
	}()
	select {
	case <-done:
	case <-time.After(farewell): // nobody reads what is written
	}
	os.Exit(exitFailed)
}

// interrupted is what a command that was stopped says.
const interrupted = "listwise: interrupted"
