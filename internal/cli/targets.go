package cli

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/listwise/listwise/internal/atomicfile"
	"github.com/listwise/listwise/internal/runs"
)

// targets are the files and folders that a command reads and writes, under the flags that
// name them. Every command that writes declares them before it reads anything, and check
// returns an error if one would overwrite another.
type targets struct {
	inputs  []target
	outputs []target // files
	folders []target // that files of many names are written to
}

// target is what the user named, "" or - for nothing of the kind.
type target struct {
	flag string // with its dashes; "" for an argument
	path string
}

func (t target) String() string { return strings.TrimSpace(t.flag + " " + t.path) }

// reads declares files, and folders of data or of systems.
func (t *targets) reads(flag string, paths ...string) { t.inputs = declare(t.inputs, flag, paths) }

// writes declares files.
func (t *targets) writes(flag string, paths ...string) { t.outputs = declare(t.outputs, flag, paths) }

// fills declares the folder that --out names.
func (t *targets) fills(dir string) { t.folders = declare(t.folders, "--out", []string{dir}) }

func declare(to []target, flag string, paths []string) []target {
	for _, p := range paths {
		if p != "" && p != "-" {
			to = append(to, target{flag, p})
		}
	}
	return to
}

// check returns an error with exit code 2 if an output is an input, if two outputs are the
// same file under any names, or if a folder cannot be written to.
func (t *targets) check() error {
	outputs := append([]target{{"the record of runs", runs.Path(".")}}, t.outputs...)
	for i, out := range outputs {
		at := placeOf(out.path)
		for _, other := range outputs[:i] {
			if at.is(placeOf(other.path)) {
				return usageErrorf("%s and %s are one file, expected two", other, out)
			}
		}
		for _, in := range t.inputs {
			if in.holds(at) {
				return usageErrorf("%s is a file that %s reads and would be overwritten, expected another", out, in)
			}
		}
	}
	for _, dir := range t.folders {
		at := placeOf(dir.path)
		for _, out := range t.outputs {
			if at.is(placeOf(out.path)) {
				return usageErrorf("%s and %s are one, expected a folder and a file", dir, out)
			}
		}
		for _, in := range t.inputs {
			if at.contains(in.path) {
				return usageErrorf("%s is or contains what %s reads, expected a folder of its own", dir, in)
			}
		}
	}
	for _, dir := range t.folders {
		if err := checkTargetFolder(dir.path); err != nil {
			return err
		}
	}
	return nil
}

// holds reports whether an input is a file, or a folder that has it where folds and
// the systems of folds are.
func (t target) holds(file place) bool {
	if file.is(placeOf(t.path)) {
		return true
	}
	folds, err := os.ReadDir(t.path)
	if err != nil {
		return false // no folder
	}
	for _, f := range folds {
		if !strings.HasPrefix(f.Name(), "Fold") {
			continue
		}
		path := filepath.Join(t.path, f.Name())
		if file.is(placeOf(path)) {
			return true
		}
		parts, _ := os.ReadDir(path)
		for _, p := range parts {
			if file.is(placeOf(filepath.Join(path, p.Name()))) {
				return true
			}
		}
	}
	return false
}

// place is where a path leads, however it is spelt: to what exists, or to where it
// will be made.
type place struct {
	info os.FileInfo // of the path, or of the nearest folder above that exists; nil where nothing can be lost
	rest string      // of the path below that; "" for what exists
}

// placeOf returns where a path leads through links of any kind. Devices and pipes
// keep nothing and are places of their own, and so are standard output and the like,
// wherever they lead.
func placeOf(path string) place {
	for _, prefix := range []string{"/dev/", "/proc/self/fd/"} {
		if strings.HasPrefix(path, prefix) {
			return place{}
		}
	}
	path, err := atomicfile.Target(path)
	if err != nil {
		return place{}
	}
	if path, err = filepath.Abs(path); err != nil {
		return place{}
	}
	rest := ""
	for {
		info, err := os.Stat(path)
		if err == nil && info.Mode()&(fs.ModeDevice|fs.ModeNamedPipe|fs.ModeSocket) != 0 {
			return place{}
		}
		if err == nil {
			return place{info, rest}
		}
		above := filepath.Dir(path)
		if above == path {
			return place{}
		}
		path, rest = above, filepath.Join(filepath.Base(path), rest)
	}
}

// is reports whether two places are one.
func (p place) is(other place) bool {
	return p.info != nil && other.info != nil && p.rest == other.rest && os.SameFile(p.info, other.info)
}

// contains reports whether what a path leads to is this folder or lies below it.
func (p place) contains(path string) bool {
	if p.info == nil || p.rest != "" {
		return false // it has yet to be made
	}
	path, err := filepath.EvalSymlinks(path)
	if err == nil {
		path, err = filepath.Abs(path)
	}
	if err != nil {
		return false
	}
	for {
		if info, err := os.Stat(path); err == nil && os.SameFile(p.info, info) {
			return true
		}
		above := filepath.Dir(path)
		if above == path {
			return false
		}
		path = above
	}
}
