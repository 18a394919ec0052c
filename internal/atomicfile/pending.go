package atomicfile

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"sync"
)

// pending has the temporary files of this process. Its lock is held while a temporary file is
// created, renamed or removed, so that Abandon sees no file in between.
var pending = struct {
	sync.Mutex

	all map[*temporary]struct{}
}{all: make(map[*temporary]struct{})}

// temporary is a file or folder with a temporary name, locked while it is in use.
type temporary struct {
	*os.File
}

var (
	errTaken  = errors.New("taken for a remainder by another process")
	errLocked = errors.New("locked by another process")
)

// begin registers and locks the temporary file that open creates. It returns errTaken if another
// process removed the file before it was locked.
func begin(open func() (*os.File, error)) (*temporary, error) {
	pending.Lock()
	defer pending.Unlock()
	f, err := open()
	if err != nil {
		return nil, err
	}
	// On systems without locks, no process removes the file.
	if err := lock(f); errors.Is(err, errLocked) || !named(f) {
		_ = f.Close()
		return nil, errTaken
	}
	t := &temporary{f}
	pending.all[t] = struct{}{}
	return t, nil
}

// named reports whether the file still exists under its name.
func named(f *os.File) bool {
	own, err := f.Stat()
	if err != nil {
		return false
	}
	there, err := os.Lstat(f.Name())
	return err == nil && os.SameFile(own, there)
}

// rename renames the file to path.
func (t *temporary) rename(path string) error {
	pending.Lock()
	defer pending.Unlock()
	if runtime.GOOS == "windows" { // Windows cannot rename an open file
		if err := t.Close(); err != nil {
			return err
		}
	}
	if err := os.Rename(t.Name(), path); err != nil {
		return err
	}
	delete(pending.all, t)
	_ = t.Close() // the file is already synced; closing it earlier would release its lock
	return nil
}

// discard removes the file unless it was renamed.
func (t *temporary) discard() {
	pending.Lock()
	defer pending.Unlock()
	t.remove()
}

// remove is discard for callers that hold the lock of pending.
func (t *temporary) remove() {
	if _, ok := pending.all[t]; !ok {
		return
	}
	delete(pending.all, t)
	if runtime.GOOS == "windows" {
		_ = t.Close()
	}
	for range 10 { // repeats if another goroutine adds a file to the folder
		if os.RemoveAll(t.Name()) == nil {
			break
		}
	}
	_ = t.Close()
}

// Abandon removes all unfinished files of this process and blocks further writes: later calls of
// Write and Folder in other goroutines do not return. It is for a process that is about to exit.
func Abandon() {
	pending.Lock() // never unlocked
	for len(pending.all) > 0 {
		for t := range pending.all {
			t.remove()
		}
	}
}

// folderPrefix is the prefix of the names of folders that Folder creates.
const folderPrefix = ".parts-"

// Folder creates a folder for temporary files below dir. remove removes the folder and its content.
func Folder(dir string) (path string, remove func(), err error) {
	removeRemains(dir)
	for {
		path = filepath.Join(dir, fmt.Sprintf("%s%08x", folderPrefix, rand.Uint32()))
		t, err := begin(func() (*os.File, error) {
			if err := os.Mkdir(path, 0o700); err != nil {
				return nil, err
			}
			return os.Open(path)
		})
		if errors.Is(err, os.ErrExist) || errors.Is(err, errTaken) {
			continue
		}
		if err != nil {
			return "", nil, err
		}
		return path, t.discard, nil
	}
}
