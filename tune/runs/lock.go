package runs

import (
	"errors"
	"os"
	"time"
)

// lock is a file that a process locks during its run. The system releases the lock when the process
// ends, so a run is alive if and only if its file is locked. A process id would not show this,
// because ids are reused.
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

// release releases the lock and removes the file.
func (l *lock) release() {
	_ = os.Remove(l.file.Name()) // a file that remains is not locked
	_ = l.file.Close()
	_ = os.Remove(l.file.Name()) // Windows does not remove an open file
}

func held(path string) bool {
	file, err := os.Open(path)
	if err != nil {
		return false
	}
	defer func() { _ = file.Close() }()
	return errors.Is(lockFile(file, false), errLocked)
}

// LockFolder locks a folder until unlock is called or the process ends. It waits while another process has the lock.
// Where the system cannot lock folders, it does nothing.
func LockFolder(dir string) (unlock func(), err error) {
	file, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	const again = 5 * time.Millisecond
	for errors.Is(lockFile(file, true), errLocked) {
		time.Sleep(again)
	}
	return func() { _ = file.Close() }, nil
}
