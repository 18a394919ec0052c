package cli

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

// Main runs the process's command line and returns its exit code. The first Ctrl-C, SIGTERM
// or SIGHUP stops the command cleanly, within a second in every state; a second signal
// stops it at once, and as cleanly.
func Main() int {
	ignoreFileSizeSignal()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // as nohup has it
		signal.Notify(signals, syscall.SIGHUP)
	}
	var last sync.Mutex
	go func() {
		<-signals
		cancel()
		select {
		case <-signals:
		case <-time.After(grace):
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
