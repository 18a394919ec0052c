package block

import (
	"bytes"
	"math"
	"os"
	"path"
	"strconv"
	"strings"
	"syscall"
)

// MachineMemory returns the bytes of memory available to this process, or 0 if nothing is known.
// The result is the least of the machine's memory, the limits of the process's control groups
// (containers), and the process's own limit.
func MachineMemory() int64 {
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
	groups, _ := os.ReadFile("/proc/self/cgroup")
	for _, file := range limitFiles(string(groups)) {
		if text, err := os.ReadFile(file); err == nil { // "max" if there is no limit
			if n, err := strconv.ParseUint(string(bytes.TrimSpace(text)), 10, 63); err == nil {
				least = min(least, n)
			}
		}
	}
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_AS, &limit) == nil {
		least = min(least, limit.Cur)
	}
	if least == math.MaxInt64 {
		return 0
	}
	return int64(least)
}

// limitFiles returns the files with the memory limits of the process's control groups and their
// parents. groups is the text of /proc/self/cgroup. Version 2 has lines 0::PATH, and version 1 has
// lines NUMBER:CONTROLLERS:PATH. A container may see its own group as the root, so limitFiles
// includes the root's files.
func limitFiles(groups string) []string {
	files := []string{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}
	for line := range strings.Lines(groups) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) < 3 {
			continue
		}
		root, name := "/sys/fs/cgroup", "memory.max"
		if parts[1] != "" {
			root, name = "/sys/fs/cgroup/memory", "memory.limit_in_bytes"
		}
		if parts[1] != "" && !strings.Contains(","+parts[1]+",", ",memory,") {
			continue
		}
		for group := path.Clean(parts[2]); group != "/" && group != "."; group = path.Dir(group) {
			files = append(files, path.Join(root, group, name))
		}
	}
	return files
}
