package atomicfile

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"sync"
)

// The names of unfinished files contain their final names.
var temporaryFile, temporaryFolder = regexp.MustCompile(`^\..+\.[0-9a-f]{8}\.tmp$`), regexp.MustCompile(`^\.parts-[0-9a-f]+$`)

// searched has the directories that removeRemains has searched.
var searched sync.Map

// removeRemains removes the temporary files and folders of dead processes from a directory. It does
// so once per directory and process. A living process holds a lock on its files. The system
// releases the lock when the process ends, in whatever way.
func removeRemains(dir string) {
	if dir == "" {
		dir = "."
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return
	}
	if _, before := searched.LoadOrStore(abs, struct{}{}); before {
		return
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return // writing to the directory reports a better error
	}
	for _, e := range entries {
		name := e.Name()
		if e.Type().IsRegular() && temporaryFile.MatchString(name) || e.IsDir() && temporaryFolder.MatchString(name) {
			removeDead(filepath.Join(dir, name), e.Type())
		}
	}
}

// removeDead removes a temporary file or folder unless it is locked.
func removeDead(path string, kind fs.FileMode) {
	f, err := os.Open(path)
	if err != nil {
		return
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil || info.Mode().Type() != kind || lock(f) != nil || !named(f) {
		return
	}
	_ = os.RemoveAll(path)
}
