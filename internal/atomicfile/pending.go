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

// pending has what this process is writing. Who holds its lock makes, renames or
// removes a temporary file, so that Abandon meets none half way.
var pending = struct {
	sync.Mutex

	all map[*temporary]struct{}
}{all: make(map[*temporary]struct{})}

// temporary is a file or folder under a temporary name, locked while it is in use.
type temporary struct {
	*os.File
}

var (
	errTaken  = errors.New("taken for a remainder by another process")
	errLocked = errors.New("locked by another process")
)

// begin makes what open opens a temporary file. The error is errTaken if the file
// was removed before it was locked.
func begin(open func() (*os.File, error)) (*temporary, error) {
	pending.Lock()
	defer pending.Unlock()
	f, err := open()
	if err != nil {
		return nil, err
	}
	// Where there are no locks, nobody removes it either.
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

// rename gives the file its name.
func (t *temporary) rename(path string) error {
	pending.Lock()
	defer pending.Unlock()
	if runtime.GOOS == "windows" { // which renames no open file
		if err := t.Close(); err != nil {
			return err
		}
	}
	if err := os.Rename(t.Name(), path); err != nil {
		return err
	}
	delete(pending.all, t)
	_ = t.Close() // it is synced; not before, for without its lock it counts as left
	return nil
}

// discard removes what has not been renamed.
func (t *temporary) discard() {
	pending.Lock()
	defer pending.Unlock()
	t.remove()
}

// remove is discard for who holds the lock of pending.
func (t *temporary) remove() {
	if _, ok := pending.all[t]; !ok {
		return
	}
	delete(pending.all, t)
	if runtime.GOOS == "windows" {
		_ = t.Close()
	}
	for range 10 { // again if something is put into the folder meanwhile
		if os.RemoveAll(t.Name()) == nil {
			break
		}
	}
	_ = t.Close()
}

// Abandon removes all unfinished files of this process and blocks further writes: calls of Write and
// Folder in other goroutines do not return. It is for a process that ends at once.
func Abandon() {
	pending.Lock() // for good
	for len(pending.all) > 0 {
		for t := range pending.all {
			t.remove()
		}
	}
}

// folderPrefix begins the names of the folders that Folder makes.
const folderPrefix = ".parts-"

// Folder makes a folder for files that are needed for a while, below dir. remove
// removes it with all that is in it.
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
