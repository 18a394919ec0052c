package bench

import (
	"os"

	"golang.org/x/sys/unix"
)

// forget writes a file to the disk and drops its pages from memory. It reports whether the system
// can do so.
func forget(f *os.File) (bool, error) {
	if err := f.Sync(); err != nil {
		return false, err
	}
	return true, unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED)
}
