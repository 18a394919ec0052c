package atomicfile

import (
	"os"

	"golang.org/x/sys/unix"
)

// ToDisk asks the system to begin to write a part of a file to the disk. Left to itself it begins late, and then makes who
// writes to the file wait. Whether the part was written is known from Sync.
func ToDisk(f *os.File, from, to int64) {
	_ = unix.SyncFileRange(int(f.Fd()), from, to-from, unix.SYNC_FILE_RANGE_WRITE) // advice
}

// forget asks the system to forget the first part of a file, of which it keeps what is not on the disk.
func forget(f *os.File, to int64) {
	_ = unix.Fadvise(int(f.Fd()), 0, to, unix.FADV_DONTNEED) // advice
}
