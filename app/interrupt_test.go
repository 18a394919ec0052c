package app

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// interrupt starts a command in dir, sends it SIGINT once a file that matches the
// pattern is there, and returns its exit code and what it said.
func interrupt(t *testing.T, dir, pattern string, args ...string) (code int, stderr string) {
	t.Helper()
	cmd := exec.Command(os.Args[0], args...)
	cmd.Args[0] = "listwise" // makes the test's binary behave as the command: see TestMain
	cmd.Dir = dir
	var errs bytes.Buffer
	cmd.Stderr = &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(2 * time.Millisecond) {
		if found, _ := filepath.Glob(filepath.Join(dir, pattern)); found != nil {
			break
		}
		select {
		case err := <-ended:
			t.Fatalf("%v ended before it could be interrupted: %v, %s", args, err, errs.String())
		default:
		}
		if time.Now().After(deadline) {
			_ = cmd.Process.Kill()
			t.Fatalf("%v: no %s after 30 seconds", args, pattern)
		}
	}
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	select {
	case <-ended:
	case <-time.After(30 * time.Second):
		_ = cmd.Process.Kill()
		t.Fatalf("%v goes on 30 seconds after SIGINT", args)
	}
	return cmd.ProcessState.ExitCode(), errs.String()
}

// leftovers returns what is below dir under a temporary name.
func leftovers(t *testing.T, dir string) (names []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if strings.HasSuffix(path, ".tmp") || strings.HasPrefix(filepath.Base(path), ".parts-") {
			names = append(names, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// Ctrl-C stops a command cleanly: exit code 1, one line behind those of progress, of which a
// slow machine sees some, no half-written file; and
// what it had finished is used when it runs again.
func TestCtrlC(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there is no SIGINT to send")
	}
	dir := t.TempDir()
	t.Chdir(dir)
	mustCall(t, "data", "synth", "--queries", "30", "--docs", "60", "--relevant", "15", "--out", "d.txt")
	mustCall(t, "data", "fold", "d.txt", "--folds", "3", "--out", "folds")
	for _, c := range []struct{ pattern, result, args string }{
		{"c.ckpt", "m.json", "train --method expgain --set restarts=1000 --train d.txt --model m.json --checkpoint c.ckpt"},
		{"runs/l2/jobs/Fold1/*.json", "runs/results.json", "tune --method l2 --grid restarts=200 --data folds --out runs"},
	} {
		code, errs := interrupt(t, dir, c.pattern, strings.Fields(c.args)...)
		if progress, ok := strings.CutSuffix(errs, "listwise: interrupted\n"); code != exitFailed || !ok || strings.Contains(progress, "listwise:") {
			t.Errorf("%s: exit code %d, %q; want 1 and one line at the end", c.args, code, errs)
		}
		if _, err := os.Stat(c.result); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %s is there: %v", c.args, c.result, err)
		}
		if found, _ := filepath.Glob(c.pattern); found == nil {
			t.Errorf("%s: %s is gone", c.args, c.pattern)
		}
		if names := leftovers(t, dir); names != nil {
			t.Errorf("%s left %v", c.args, names)
		}
	}
}
