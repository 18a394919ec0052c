package bench

import (
	"errors"
	"io"
	"os"
	"runtime"
	"time"
)

// Machine describes the machine of the measurements.
type Machine struct {
	System string  `json:"system"` // such as linux/amd64
	Go     string  `json:"go"`
	Cores  int     `json:"cores"`
	Memory float64 `json:"memory_bytes_per_second"` // read by one core from a block larger than its caches
	Disk   float64 `json:"disk_bytes_per_second"`   // read sequentially from a file that is not in memory; 0 if the system cannot drop a file from memory

	// Process is the peak of resident memory of a process that does nothing, and Start is its time.
	// Process is 0 if the system does not report it.
	Process int64   `json:"process_bytes"`
	Start   float64 `json:"process_seconds"`
}

func measureMachine(file string) (Machine, error) {
	m := Machine{System: runtime.GOOS + "/" + runtime.GOARCH, Go: runtime.Version(), Cores: runtime.GOMAXPROCS(0), Memory: memorySpeed()}
	var err error
	m.Disk, err = diskSpeed(file)
	return m, err
}

// memorySpeed reads 256 MiB three times. It returns the bytes per second of the fastest reading.
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
	if sum == 0 { // never true; using sum keeps the compiler from removing the loop
		return 0
	}
	return best
}

const diskPart = 4 << 20

// diskSpeed returns the bytes per second of reading a file sequentially, after the system dropped
// it from memory.
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
