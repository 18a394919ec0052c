//go:build !linux

package papers

import "time"

// cpuTime returns the time since the start: this system is not asked for the
// processor's.
func cpuTime() time.Duration { return time.Since(processStart) }
