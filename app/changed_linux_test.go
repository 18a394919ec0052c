package app

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A cache that is cut, written to or replaced while a command uses it ends the
// command with exit code 2 and one line, and nothing is written.
func TestCacheChangedInUse(t *testing.T) {
	changes := map[string]func(path string) error{
		"cut":     func(path string) error { return os.Truncate(path, 4096) },
		"emptied": func(path string) error { return os.Truncate(path, 0) },
		"written to": func(path string) error {
			f, err := os.OpenFile(path, os.O_WRONLY, 0)
			if err != nil {
				return err
			}
			_, err = f.WriteAt([]byte{0x3e}, 1<<20)
			return errors.Join(err, f.Close())
		},
		"replaced": func(path string) error {
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			return errors.Join(os.WriteFile(path+".new", data, 0o644), os.Rename(path+".new", path))
		},
	}
	t.Chdir(t.TempDir())
	mustCall(t, "data", "synth", "--queries", "100", "--docs", "60", "--relevant", "15", "--out", "d.txt")
	mustCall(t, "train", "--method", "mle", "--train", "d.txt", "--model", "m.json")
	mustCall(t, "score", "--data", "d.txt", "--model", "m.json", "--out", "scores")
	for name, change := range changes {
		for _, use := range []struct {
			args string
			when func(t *testing.T) // returns when the data are in use
			then func(t *testing.T) // lets the command go on
		}{
			{"train --method lambdarank --set epochs=100 --train d.lwd --curve c.jsonl --model out", awaitCurve, func(*testing.T) {}},
			{"eval --data d.lwd --scores fifo --no-record --per-query out", awaitFIFO, feedScores},
		} {
			mustCall(t, "data", "convert", "d.txt", "--out", "d.lwd")
			_, _, _ = os.Remove("out"), os.Remove("c.jsonl"), os.Remove("fifo")
			if err := syscall.Mkfifo("fifo", 0o600); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			var out, errs bytes.Buffer
			code := make(chan int, 1)
			go func() { code <- Run(ctx, strings.Fields(use.args), strings.NewReader(""), &out, &errs) }()
			use.when(t)
			if err := change("d.lwd"); err != nil {
				t.Fatal(err)
			}
			use.then(t)
			if got, want := <-code, "listwise: d.lwd: the file was changed while it was read\n"; got != exitUsage || errs.String() != want {
				t.Errorf("%s, %s: exit code %d, %q; want 2, %q", use.args, name, got, errs.String(), want)
			}
			cancel()
			if _, err := os.Stat("out"); !errors.Is(err, fs.ErrNotExist) || out.Len() > 0 {
				t.Errorf("%s, %s: it wrote %q and a file: %v", use.args, name, out.String(), err)
			}
			if names := leftovers(t, "."); names != nil {
				t.Errorf("%s, %s left %v", use.args, name, names)
			}
		}
	}
}

func awaitCurve(t *testing.T) {
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		if text, _ := filepath.Glob("c.jsonl"); text != nil {
			if info, err := os.Stat("c.jsonl"); err == nil && info.Size() > 0 {
				return
			}
		}
	}
	t.Fatal("no line of the curve after 30 seconds")
}

// fifo is the file of scores that a command opens when it has opened its data.
var fifo *os.File

func awaitFIFO(t *testing.T) {
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		var err error // without waiting, there is an error until the command reads
		if fifo, err = os.OpenFile("fifo", os.O_WRONLY|syscall.O_NONBLOCK, 0); err == nil {
			return
		}
	}
	t.Fatal("no scores read after 30 seconds")
}

func feedScores(t *testing.T) {
	text, err := os.ReadFile("scores")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fifo.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := fifo.Close(); err != nil {
		t.Fatal(err)
	}
}
