package app

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/listwise/listwise/dataset/datafile"
	"github.com/listwise/listwise/dataset/shards"
	"github.com/listwise/listwise/eval/slicing"
	"github.com/listwise/listwise/internal/atomicfile"
	"github.com/listwise/listwise/serve"
	"github.com/listwise/listwise/tune/runs"
)

// targets lists the files and folders that a command reads and writes, with their flags. A command
// declares them before it reads anything. check returns an error if an output would overwrite
// another target or cannot be written.
type targets struct {
	inputs  []target
	outputs []target // files
	made    []target // output files whose folders the command creates
	folders []target // folders that receive many files
}

// target is a file or folder of a flag. The paths "" and - are ignored.
type target struct {
	flag string // with its dashes; "" for an argument
	path string
}

func (t target) String() string { return strings.TrimSpace(t.flag + " " + t.path) }

// reads declares input files, and input folders of data or systems.
func (t *targets) reads(flag string, paths ...string) *targets {
	return t.declare(&t.inputs, flag, paths)
}

// writes declares an output file in an existing folder.
func (t *targets) writes(flag, path string) *targets {
	return t.declare(&t.outputs, flag, []string{path})
}

// makes declares output files in folders that the command creates if necessary.
func (t *targets) makes(flag string, paths ...string) *targets {
	return t.declare(&t.made, flag, paths)
}

// fills declares the folder of --out, which receives many files.
func (t *targets) fills(dir string) *targets {
	return t.declare(&t.folders, "--out", []string{dir})
}

func (t *targets) declare(to *[]target, flag string, paths []string) *targets {
	for _, p := range paths {
		if p != "" && p != "-" {
			*to = append(*to, target{flag, p})
		}
	}
	return t
}

// check returns an error with exit code 2 if an output is an input, if two outputs are the same
// file, or if an output cannot be written.
func (t *targets) check() error {
	outputs := slices.Concat([]target{{"the record of runs", runs.Path(".")}}, t.outputs, t.made)
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
		for _, out := range outputs[1:] {
			if at.is(placeOf(out.path)) {
				return usageErrorf("%s and %s are one, expected a folder and a file", dir, out)
			}
		}
		for _, in := range t.inputs {
			if at.contains(in.path) || at.containsShards(in.path) {
				return usageErrorf("%s is or contains what %s reads, expected a folder of its own", dir, in)
			}
		}
	}
	for _, out := range t.outputs {
		if err := out.checkFile(); err != nil {
			return err
		}
	}
	for _, dir := range t.folders {
		if err := dir.checkFolder(); err != nil {
			return err
		}
	}
	return nil
}

// checkFile returns an error if a file cannot be written. It runs before the long work on the
// content.
func (t target) checkFile() error {
	switch info, err := os.Stat(t.path); {
	case err == nil && info.IsDir():
		return usageErrorf("%s: %s is a folder, expected a file", t.flag, t.path)
	case err == nil && !info.Mode().IsRegular(): // a terminal, a pipe, /dev/null
		return nil
	}
	path, err := atomicfile.Target(t.path) // target of a link, which may not exist
	if err != nil {
		return usageErrorf("%s: %w", t.flag, err)
	}
	dir := filepath.Dir(path)
	if info, err := os.Stat(dir); err != nil {
		return usageErrorf("%s: %w", t.flag, err)
	} else if !info.IsDir() {
		return usageErrorf("%s: %s is a file, expected a folder to write %s to", t.flag, dir, filepath.Base(t.path))
	}
	return t.checkWritable(dir)
}

// checkFolder returns an error if a folder cannot be written. A missing folder is created later.
func (t target) checkFolder() error {
	for dir := filepath.Clean(t.path); ; dir = filepath.Dir(dir) {
		info, err := os.Stat(dir)
		switch {
		case err == nil && !info.IsDir():
			return usageErrorf("%s: %s is a file, expected a folder", t.flag, dir)
		case err == nil:
			return t.checkWritable(dir)
		case !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR), dir == filepath.Dir(dir):
			return usageErrorf("%s: %w", t.flag, err)
		}
	}
}

// checkWritable tries to create a file in a folder.
func (t target) checkWritable(dir string) error {
	err := atomicfile.Probe(dir)
	if err == nil {
		return nil
	}
	if file, ok := errors.AsType[*fs.PathError](err); ok {
		err = &fs.PathError{Op: "write", Path: dir, Err: file.Err}
	}
	return usageErrorf("%s: %w", t.flag, err)
}

// holds reports whether an input is the file, or a folder that contains the file as a shard or in
// its folds.
func (t target) holds(file place) bool {
	if file.is(placeOf(t.path)) || shardsHold(t.path, file) {
		return true
	}
	folds, err := os.ReadDir(t.path)
	if err != nil {
		return false // not a folder
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
			part := filepath.Join(path, p.Name())
			if file.is(placeOf(part)) || shardsHold(part, file) {
				return true
			}
		}
	}
	return false
}

// filesOfShards returns the manifest and the shards of a path, or its Parquet parts.
func filesOfShards(path string) (files []string) {
	at, ok := shards.Find(path)
	if !ok {
		files, _ = shards.Parts(path) // reading the parts will report errors
		return files
	}
	files = []string{at}
	m, err := shards.Load(at)
	if err != nil {
		return files // reading the shards will report the error
	}
	for i := range m.Shards {
		files = append(files, m.Path(i))
	}
	return files
}

// shardsHold reports whether a file is the manifest or a shard at a path.
func shardsHold(path string, file place) bool {
	return slices.ContainsFunc(filesOfShards(path), func(f string) bool { return file.is(placeOf(f)) })
}

// containsShards reports whether the manifest or a shard at a path is in this folder.
func (p place) containsShards(path string) bool {
	return slices.ContainsFunc(filesOfShards(path), p.contains)
}

// place is the location of a path, independent of its spelling. The path may not exist yet.
type place struct {
	info os.FileInfo // of the path, or of the nearest existing folder above it; nil if nothing can be overwritten
	rest string      // the part of the path below that folder; "" if the path exists
}

// placeOf resolves links of any kind. A device, a pipe or standard output gets the zero place,
// because it cannot be overwritten.
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

func (p place) is(other place) bool {
	return p.info != nil && other.info != nil && p.rest == other.rest && os.SameFile(p.info, other.info)
}

// contains reports whether a path is this folder or below it.
func (p place) contains(path string) bool {
	if p.info == nil || p.rest != "" {
		return false // the folder does not exist yet
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

// The files that each command reads and writes:

func (f *trainFlags) targets() *targets {
	t := new(targets).reads("--train", f.train...).reads("--valid", f.valid).reads("--continue", f.from)
	t.reads("--clicks", f.fromClicks.pages...).reads("--propensities", f.fromClicks.propensities)
	return t.writes("--model", f.model).writes("--curve", f.curve).writes("--checkpoint", f.checkpoint) // the checkpoint is read, too
}

func (s *source) targets(by, out string) *targets {
	t := new(targets).reads("--data", s.data).reads("--train", s.files.Train).reads("--valid", s.files.Valid)
	return t.reads("--test", s.files.Test).reads("--by", slicing.Files(by)...).fills(out)
}

func (f *evalFlags) targets() *targets {
	t := new(targets).reads("--data", f.data).reads("--model", f.model).reads("--scores", f.scores)
	return t.reads("--by", slicing.Files(f.by)...).reads("--parts", partsIn(f.parts)...).writes("--per-query", f.perQuery).writes("--part", f.part)
}

func (f *scoreFlags) targets() *targets {
	return new(targets).reads("--model", f.model).reads("--data", f.data).writes("--out", f.out)
}

func (f *serveFlags) targets(c *serve.Config) *targets {
	t := new(targets)
	for _, m := range c.Models {
		t.reads("--model", m.Path)
	}
	return t.writes("--experiment-log", f.experiments.log).writes("--page-log", f.experiments.pageLog)
}

func (o *dataOutput) targets(inputs []string) *targets {
	return new(targets).reads("", inputs...).writes("--out", o.out)
}

func (f *joinFlags) targets(inputs []string) *targets {
	return f.dataOutput.targets(inputs).reads("--judgements", f.judgements)
}

func (f *logFlags) targets(answers []string) *targets {
	return f.dataOutput.targets(answers).reads("--judgements", f.judgements).reads("--queries", f.queries)
}

func (f *foldFlags) targets(inputs []string, folds int) *targets {
	return new(targets).reads("", inputs...).makes("--out", datafile.FoldNames(f.out, folds, inputs[0])...)
}

func (f *fuseFlags) targets(systems []string, inFolds bool) *targets {
	t := new(targets).reads("--data", f.data).reads("--valid", f.valid).reads("", systems...).reads("--by", slicing.Files(f.by)...)
	for _, s := range systems {
		if !exists(s) { // A.scores:A.valid.scores
			t.reads("", strings.Split(s, ":")...)
		}
	}
	t.writes("--model", f.model)
	if inFolds {
		return t.fills(f.out)
	}
	return t.writes("--out", f.out)
}

func (f *reportFlags) targets(systems []*contestant) *targets {
	t := new(targets).reads("--data", f.data).reads("--by", slicing.Files(f.by)...)
	paths, _ := pathsOf(systems)
	t.reads("", paths...)
	for _, arg := range f.curves {
		_, path := curveArgument(arg)
		t.reads("--curve", path)
	}
	return t.writes("--out", f.out)
}

func (f *bundleFlags) targets(args []string) *targets {
	t := new(targets).reads("", args...).reads("--data", f.data...).reads("--source", f.source...).reads("--add", f.add...)
	return t.writes("--out", f.out)
}

func (f *reproduceFlags) targets(name string) *targets {
	t := new(targets).reads("--data", f.data).fills(f.out).makes("--markdown", f.markdown)
	if name == "all" {
		t.makes("--out", filepath.Join(f.out, "all.html"), filepath.Join(f.out, "all.md"), filepath.Join(f.out, "held.md"))
		if f.markdown != "" {
			t.makes("--markdown", f.heldPage())
		}
	}
	return t
}

func (f *benchFlags) targets() *targets {
	t := new(targets)
	return t.declare(&t.folders, "--plots", []string{f.plots}).declare(&t.folders, "--dir", []string{f.folder})
}

func demoTargets(out, html string) *targets { return new(targets).fills(out).writes("--report", html) }
