//go:build !linux

package papers

import "time"

// cpuTime returns the time since the start of the process, because this system's processor time is
// not available here.
func cpuTime() time.Duration { return time.Since(processStart) }
