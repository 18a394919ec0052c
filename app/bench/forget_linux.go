package bench

import (
	"os"

	"golang.org/x/sys/unix"
)

// forget writes a file out and drops its pages from memory.
func forget(f *os.File) (bool, error) {
	if err := f.Sync(); err != nil {
		return false, err
	}
	return true, unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED)
}
