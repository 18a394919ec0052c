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

// Case is one attack on the program. A folder gets copies of files of the fixture, Harm damages
// them, and a command line runs in the folder.
type Case struct {
	Kind string // set by hunt
	Name string // unique name; the case's randomness depends on it

	Files []string                                  // files of the fixture to copy to the folder before Harm
	Harm  func(dir string) error                    // nil means no damage
	Run   func(b *box) (Verdict, string, *Result)   // nil means to run Args once and judge the result
	Args  []string                                  // the command line
	Outs  []string                                  // files that the command may write; all others must stay unchanged
	Judge func(b *box, r *Result) (Verdict, string) // judges a run that exits with 0; nil means that such a run is right
}

// random returns the random stream of a name.
func random(name string) *rand.Rand {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name)) // a hash takes everything
	return rand.New(rand.NewPCG(h.Sum64(), 1))
}

// finding is the result of a case.
type finding struct {
	c       Case
	dir     string
	verdict Verdict
	why     string // reason of a failure
	last    *Result
}

// runAll runs the cases with the given number of workers and returns the findings in the order of
// the cases.
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

// runCase prepares the folder of a case, runs the case and judges it.
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

// copyTree copies a file, or a folder with its content.
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
