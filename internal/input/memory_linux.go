package input

import (
	"bytes"
	"math"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// machineMemory returns the bytes of memory that this process may have: the
// machine's, its container's or the process's own limit, whichever is least; 0 if
// nothing is known.
func machineMemory() int64 {
	least := uint64(math.MaxInt64)
	if text, err := os.ReadFile("/proc/meminfo"); err == nil {
		if _, rest, ok := bytes.Cut(text, []byte("MemTotal:")); ok {
			if f := bytes.Fields(rest); len(f) > 0 {
				if n, err := strconv.ParseUint(string(f[0]), 10, 50); err == nil {
					least = min(least, n<<10)
				}
			}
		}
	}
	if text, err := os.ReadFile("/sys/fs/cgroup/memory.max"); err == nil { // "max" if there is no limit
		if n, err := strconv.ParseUint(string(bytes.TrimSpace(text)), 10, 63); err == nil {
			least = min(least, n)
		}
	}
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_AS, &limit) == nil {
		least = min(least, limit.Cur)
	}
	if least == math.MaxInt64 {
		return 0
	}
	return int64(least)
}
