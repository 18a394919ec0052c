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

// Limits of a run, in addition to the limit of processor time. Correct work on files of the
// fixture's size takes less than a second. The address limit includes addresses that the Go runtime
// reserves and never touches.
const (
	wallLimit   = 60 * time.Second // only ends runs that sleep, since the machine may be busy
	memoryLimit = 4 << 20          // KiB of address space
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
	code           int // -1 if a signal ended the run
	stdout, stderr string
	cpu            time.Duration
	timedOut       bool
}

// run runs the program in the case's folder.
func (b *box) run(args ...string) *Result { return b.f.run(b.dir, nil, args...) }

// run runs the program in a folder. If meanwhile is not nil, run calls it after the start.
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

// snapshot returns the files below a folder, by name: the hash of a file's content, a link's
// target, or the type of anything else.
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

// shown returns a command line in shell syntax.
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
