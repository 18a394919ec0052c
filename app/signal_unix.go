//go:build unix

package app

import (
	"os/signal"
	"syscall"
)

// ignoreFileSizeSignal makes a file that grows beyond the limit set by ulimit -f an
// error of who writes it, not the end of the process.
func ignoreFileSizeSignal() { signal.Ignore(syscall.SIGXFSZ) }
