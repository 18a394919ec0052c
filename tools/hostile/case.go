package main

import (
	"hash/fnv"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
)

// Case is one thing that is done to the program: a folder is filled with copies of
// files of the fixture, something is done to them, and a command line runs there.
type Case struct {
	Kind string // set by hunt
	Name string // names the case among all; its randomness depends on it

	Files []string                                  // of the fixture, copied to the folder before Harm
	Harm  func(dir string) error                    // nil: nothing
	Run   func(b *box) (Verdict, string, *Result)   // nil: runs Args once and judges that
	Args  []string                                  // the command line
	Outs  []string                                  // files that the command may write; every other must stay as it was
	Judge func(b *box, r *Result) (Verdict, string) // of a run that exits with 0; nil: that is right
}

// random returns the stream of random numbers of a name.
func random(name string) *rand.Rand {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name)) // a hash takes everything
	return rand.New(rand.NewPCG(h.Sum64(), 1))
}

// finding is a case that was run.
type finding struct {
	c       Case
	dir     string
	verdict Verdict
	why     string // of a failure
	last    *Result
}

// runAll runs the cases, as many at a time as there are workers, and returns the findings
// in their order.
func (f *fixture) runAll(cases []Case, root string, workers int, keep bool) []finding {
	found := make([]finding, len(cases))
	next := make(chan int)
	var wait sync.WaitGroup
	for range workers {
		wait.Add(1)
		go func() {
			defer wait.Done()
			for i := range next {
				found[i] = f.runCase(cases[i], filepath.Join(root, strconv.Itoa(i)))
				if !keep {
					_ = os.RemoveAll(found[i].dir)
				}
			}
		}()
	}
	for i := range cases {
		next <- i
	}
	close(next)
	wait.Wait()
	return found
}

// runCase prepares the folder of a case, runs it and judges it.
func (f *fixture) runCase(c Case, dir string) finding {
	x := finding{c: c, dir: dir}
	if err := f.prepare(c, dir); err != nil {
		x.verdict, x.why = broken, err.Error()
		return x
	}
	b := &box{f: f, c: &c, dir: dir}
	var err error
	if b.before, err = snapshot(dir); err != nil {
		x.verdict, x.why = broken, err.Error()
		return x
	}
	if c.Run != nil {
		x.verdict, x.why, x.last = c.Run(b)
		return x
	}
	x.last = b.run(c.Args...)
	x.verdict, x.why = b.judge(x.last)
	return x
}

func (f *fixture) prepare(c Case, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, name := range c.Files {
		if err := copyTree(filepath.Join(f.dir, name), filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	if c.Harm == nil {
		return nil
	}
	return c.Harm(dir)
}

// copyTree copies a file, or a folder with all in it.
func copyTree(from, to string) error {
	info, err := os.Stat(from)
	if err != nil {
		return err
	}
	if info.IsDir() {
		return os.CopyFS(to, os.DirFS(from))
	}
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	return os.WriteFile(to, text, 0o600)
}

// change returns a Harm that rewrites one file.
func change(name string, fn func(text []byte) []byte) func(dir string) error {
	return func(dir string) error {
		path := filepath.Join(dir, name)
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(path, fn(text), 0o600)
	}
}

func words(line string) []string { return strings.Fields(line) }
