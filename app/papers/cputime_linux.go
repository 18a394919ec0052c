package papers

import (
	"time"

	"golang.org/x/sys/unix"
)

// cpuTime returns the processor time that the process has used. Unlike elapsed time, it does not
// include other programs. clock_gettime is finer than getrusage, which counts ticks.
func cpuTime() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &t); err != nil {
		return time.Since(processStart)
	}
	return time.Duration(t.Nano())
}
