//go:build unix

package paper

import (
	"syscall"
	"time"
)

// cpuTime returns the processor time that the process has taken so far. Unlike a
// clock's it does not count the time of other programs.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return time.Since(processStart)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
