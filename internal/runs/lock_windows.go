package runs

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// lock is a file that its process holds locked as long as the run goes on. The system takes
// the lock off when the process ends, however it ends: so a run is alive if and only if its
// file is locked, which a process number could not show.
type lock struct{ file *os.File }

func acquire(path string) (*lock, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	if err := lockFile(file, windows.LOCKFILE_EXCLUSIVE_LOCK); err != nil {
		_ = file.Close()
		return nil, &os.PathError{Op: "lock", Path: path, Err: err}
	}
	return &lock{file}, nil
}

// release takes off the lock and the file.
func (l *lock) release() {
	_ = l.file.Close()
	_ = os.Remove(l.file.Name()) // if it stays, it is not locked
}

// held reports whether some process holds the lock.
func held(path string) bool {
	file, err := os.Open(path)
	if err != nil {
		return false
	}
	defer func() { _ = file.Close() }()
	return errors.Is(lockFile(file, 0), windows.ERROR_LOCK_VIOLATION)
}

func lockFile(file *os.File, flags uint32) error {
	return windows.LockFileEx(windows.Handle(file.Fd()), flags|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &windows.Overlapped{})
}
