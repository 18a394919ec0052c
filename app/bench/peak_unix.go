//go:build linux || darwin

package bench

import (
	"os"
	"runtime"
	"syscall"
)

// peakMemory returns the peak of a process's resident memory in bytes. Linux reports KiB, Darwin
// bytes.
func peakMemory(p *os.ProcessState) int64 {
	u, ok := p.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	if runtime.GOOS == "darwin" {
		return u.Maxrss
	}
	return u.Maxrss << 10
}
