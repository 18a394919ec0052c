package runs

import (
	"errors"
	"os"
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
	if err := lockFile(file, true); err != nil {
		_ = file.Close()
		return nil, &os.PathError{Op: "lock", Path: path, Err: err}
	}
	return &lock{file}, nil
}

// release takes off the lock and the file.
func (l *lock) release() {
	_ = os.Remove(l.file.Name()) // if it stays, it is not locked
	_ = l.file.Close()
	_ = os.Remove(l.file.Name()) // Windows removes no file that is open
}

// held reports whether some process holds the lock.
func held(path string) bool {
	file, err := os.Open(path)
	if err != nil {
		return false
	}
	defer func() { _ = file.Close() }()
	return errors.Is(lockFile(file, false), errLocked)
}
