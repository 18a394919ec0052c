package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// Limits of a run, besides that of processor time: honest work on files of the
// fixture's size takes less than a second. Addresses include what the Go runtime
// reserves and never touches.
const (
	wallLimit   = 60 * time.Second // only to end what sleeps: the machine may be busy
	memoryLimit = 4 << 20          // KiB of addresses
)

// box is the folder of a case while it runs.
type box struct {
	f      *fixture
	c      *Case
	dir    string
	before map[string]string // snapshot before the first run
}

// Result is one run of the program.
type Result struct {
	args           []string
	code           int // -1 if a signal ended it
	stdout, stderr string
	cpu            time.Duration
	timedOut       bool
}

// run runs the program in the folder.
func (b *box) run(args ...string) *Result { return b.f.run(b.dir, nil, args...) }

// run runs the program in a folder; meanwhile, if there is such a function, is
// called once it is under way.
func (f *fixture) run(dir string, meanwhile func(p *os.Process), args ...string) *Result {
	ctx, cancel := context.WithTimeout(context.Background(), wallLimit)
	defer cancel()
	r := &Result{args: args}
	// The shell sets the limits and becomes the program.
	line := fmt.Sprintf(`ulimit -v %d; ulimit -t %d; exec "$0" "$@"`, memoryLimit, f.cpuLimit/time.Second+1)
	cmd := exec.CommandContext(ctx, "/bin/sh", append([]string{"-c", line, f.binary}, args...)...)
	cmd.Dir = dir
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Start()
	if err == nil {
		if meanwhile != nil {
			meanwhile(cmd.Process)
		}
		err = cmd.Wait()
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		r.code, r.stderr = -1, err.Error()
		return r
	}
	r.code = cmd.ProcessState.ExitCode()
	r.cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	r.timedOut = ctx.Err() != nil
	r.stdout, r.stderr = out.String(), errs.String()
	return r
}

// snapshot returns what the files below a folder hold: a hash by name, for links
// and folders what they are.
func snapshot(dir string) (map[string]string, error) {
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		switch {
		case e.IsDir():
			return nil
		case e.Type()&fs.ModeSymlink != 0:
			target, err := os.Readlink(path)
			files[name] = "link to " + target
			return err
		case !e.Type().IsRegular():
			files[name] = e.Type().String()
			return nil
		}
		text, err := os.ReadFile(path)
		files[name] = fmt.Sprintf("%x", sha256.Sum256(text))
		return err
	})
	return files, err
}

// shown is a command line as a shell would take it.
func shown(args []string) string {
	var b strings.Builder
	b.WriteString("listwise")
	for _, a := range args {
		if len(a) > 200 {
			a = a[:200] + fmt.Sprintf("…(%d bytes)", len(a))
		}
		if a == "" || strings.ContainsAny(a, " \t\n'\"$\\*?[]{}()<>|&;#~`!") || strings.ContainsFunc(a, func(r rune) bool { return r < ' ' || r > '~' }) {
			a = fmt.Sprintf("%q", a)
		}
		b.WriteString(" " + a)
	}
	return b.String()
}
