package atomicfile

import (
	"os"

	"golang.org/x/sys/unix"
)

// toDisk asks the system to write a part of a file; whether it was written is known from Sync.
func toDisk(f *os.File, from, to int64) {
	_ = unix.SyncFileRange(int(f.Fd()), from, to-from, unix.SYNC_FILE_RANGE_WRITE) // advice
}

// forget asks the system to forget the first part of a file, of which it keeps what is not on the disk.
func forget(f *os.File, to int64) {
	_ = unix.Fadvise(int(f.Fd()), 0, to, unix.FADV_DONTNEED) // advice
}
