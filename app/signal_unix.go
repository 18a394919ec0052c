//go:build unix

package app

import (
	"os/signal"
	"syscall"
)

// ignoreFileSizeSignal ignores SIGXFSZ. Writing beyond the limit of ulimit -f is then an error of
// the write, and does not end the process.
func ignoreFileSizeSignal() { signal.Ignore(syscall.SIGXFSZ) }
