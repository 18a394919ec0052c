package bench

import (
	"errors"
	"io"
	"os"
	"runtime"
	"time"
)

// Machine is what the figures were measured on.
type Machine struct {
	System string  `json:"system"` // such as linux/amd64
	Go     string  `json:"go"`
	Cores  int     `json:"cores"`
	Memory float64 `json:"memory_bytes_per_second"` // a core reads, from a block larger than its caches
	Disk   float64 `json:"disk_bytes_per_second"`   // read in order from a file that is not in memory; 0 where that cannot be arranged

	// What a process takes that does nothing: the peak of its resident memory, 0 where the system does not tell, and its time.
	Process int64   `json:"process_bytes"`
	Start   float64 `json:"process_seconds"`
}

// measureMachine measures the machine, its disk by reading a file.
func measureMachine(file string) (Machine, error) {
	m := Machine{System: runtime.GOOS + "/" + runtime.GOARCH, Go: runtime.Version(), Cores: runtime.GOMAXPROCS(0), Memory: memorySpeed()}
	var err error
	m.Disk, err = diskSpeed(file)
	return m, err
}

// memorySpeed reads 256 MiB three times and returns the bytes a second of the fastest.
func memorySpeed() float64 {
	words := make([]uint64, 32<<20)
	for i := range words {
		words[i] = uint64(i)
	}
	best, sum := 0.0, uint64(0)
	for range 3 {
		began := time.Now()
		var a, b, c, d uint64
		for i := 0; i+4 <= len(words); i += 4 {
			a, b, c, d = a+words[i], b+words[i+1], c+words[i+2], d+words[i+3]
		}
		best = max(best, float64(8*len(words))/time.Since(began).Seconds())
		sum += a + b + c + d
	}
	if sum == 0 { // which it is not: the sum must be needed, or nothing is read
		return 0
	}
	return best
}

// diskPart is how much of a file is read at once.
const diskPart = 4 << 20

// diskSpeed reads a file in order, after the system was made to forget it.
func diskSpeed(name string) (float64, error) {
	f, err := os.Open(name) //nolint:gosec // a file of the caller's folder
	if err != nil {
		return 0, err
	}
	info, err := f.Stat()
	if err != nil {
		return 0, errors.Join(err, f.Close())
	}
	forgotten, err := forget(f)
	if err != nil || !forgotten {
		return 0, errors.Join(err, f.Close())
	}
	part := make([]byte, diskPart)
	began := time.Now()
	for {
		_, err := f.Read(part)
		if errors.Is(err, io.EOF) {
			return float64(info.Size()) / time.Since(began).Seconds(), f.Close()
		} else if err != nil {
			return 0, errors.Join(err, f.Close())
		}
	}
}
