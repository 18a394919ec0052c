package runs

import (
	"os"

	"golang.org/x/sys/windows"
)

// errLocked is the error of lockFile if another process has locked the file.
const errLocked = windows.ERROR_LOCK_VIOLATION

func lockFile(file *os.File, exclusive bool) error {
	flags := uint32(windows.LOCKFILE_FAIL_IMMEDIATELY)
	if exclusive {
		flags |= windows.LOCKFILE_EXCLUSIVE_LOCK
	}
	return windows.LockFileEx(windows.Handle(file.Fd()), flags, 0, 1, 0, &windows.Overlapped{})
}
