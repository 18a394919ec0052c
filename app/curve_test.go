package app

import (
	"encoding/json"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/listwise/listwise/learn/method"
	"github.com/listwise/listwise/learn/train"
)

// Every line is in the file as soon as it is observed; a training that goes on
// from a checkpoint adds to the curve, another one replaces it.
func TestCurveIsWrittenWhileItRuns(t *testing.T) {
	path, checkpoint := filepath.Join(t.TempDir(), "c.jsonl"), filepath.Join(t.TempDir(), "checkpoint")
	lines := func() int {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Count(string(text), "\n")
	}
	for run, before := range []int{0, 0, 2} {
		if run == 2 {
			if err := os.WriteFile(checkpoint, nil, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		c, err := newCurve(path, checkpoint, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 2 {
			c.observe(method.Iteration{Number: before + i + 1, Epoch: true, Rate: 0.1})
			if got := lines(); got != before+i+1 {
				t.Errorf("%d lines after epoch %d, want %d", got, i+1, before+i+1)
			}
		}
		if err := c.close(false); err != nil {
			t.Fatal(err)
		}
	}
}

// A curve that cannot be written ends the training, once, and is the error.
func TestCurveFailure(t *testing.T) {
	failed := 0
	c, err := newCurve(filepath.Join(t.TempDir(), "c.jsonl"), "", func(error) { failed++ })
	if err != nil {
		t.Fatal(err)
	}
	c.file.Close()
	c.observe(method.Iteration{})
	c.observe(method.Iteration{})
	if err := c.close(false); !errors.Is(err, fs.ErrClosed) || !strings.HasPrefix(err.Error(), "--curve: ") || failed != 1 {
		t.Errorf("error is %v, told %d times", err, failed)
	}
}

// Claim: the curve of a training that is killed by SIGKILL again and again and goes on
// from its checkpoint is, byte for byte, that of one that nobody killed, and so is the
// model; by descent, with its restarts, by L-BFGS from several starts, and of boosted trees.
func TestCurveOfAKilledTraining(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	for name, args := range map[string]string{
		"descent": "train --method lambdarank --scorer net --set epochs=150 --set patience=7 --valid v.txt",
		"trees":   "train --method lambdamart --set trees=600 --set patience=0 --set leaf_documents=2 --valid v.txt",
		"l-bfgs":  "train --method expgain --set restarts=15",
	} {
		t.Run(name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			mustCall(t, "data", "synth", "--queries", "40", "--docs", "30", "--relevant", "9", "--features", "10", "--out", "d.txt")
			mustCall(t, "data", "synth", "--queries", "10", "--docs", "30", "--relevant", "9", "--features", "10", "--seed", "2", "--out", "v.txt")
			command := append(strings.Fields(args), "--train", "d.txt", "--no-record", "--model", "out/m.json", "--curve", "out/c.jsonl", "--checkpoint", "out/c.ckpt")
			want, _, takes := undisturbed(t, command)
			kills, whole := 0, 0
			for done := false; !done; {
				p := startProcess(t, ".", command...)
				select {
				case <-p.ended:
					if done = kills > 0 || whole == 50; !done { // faster than the clock: once more from the start
						whole++
						if err := errors.Join(os.RemoveAll("out"), os.Mkdir("out", 0o755)); err != nil {
							t.Fatal(err)
						}
					}
				case <-time.After(startUp/4*time.Duration(1+kills) + rand.N(takes/2)): // random, independent of the seed; longer each time, for a busy machine
					if kills++; kills > 50 {
						t.Fatal("it does not get on")
					}
					_ = p.Process.Kill()
					<-p.ended
					if kills%2 == 0 { // as if the machine had stopped within a line
						half(t, "out/c.jsonl")
					}
				}
			}
			if kills == 0 {
				t.Error("it was never killed")
			}
			checkSame(t, want, files(t, "out"))
		})
	}
}

// Claim: half a line after the last epoch goes, though a training that its checkpoint says is at its
// end writes none.
func TestHalfALineAtTheEnd(t *testing.T) {
	t.Chdir(t.TempDir())
	whole := `{"epoch":0,"training_cost":1}` + "\n" + `{"epoch":1,"training_cost":0.5}` + "\n"
	for name, text := range map[string]string{"c.ckpt": "{}", "c.jsonl": whole + `{"epoch":2,"tr`} {
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	c, err := newCurve("c.jsonl", "c.ckpt", nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.close(false); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile("c.jsonl"); string(got) != whole {
		t.Errorf("the curve is %q, expected %q", got, whole)
	}
}

// half adds half a line to a file, if that is there.
func half(t *testing.T, path string) {
	t.Helper()
	if !exists(path) || !exists("out/c.ckpt") {
		return
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(`{"epoch":4,"rest`); err != nil {
		t.Fatal(err)
	}
}

// Claim: a file that is no curve is left as it is, and the error says where and what
// to do.
func TestCurveOfSomethingElse(t *testing.T) {
	t.Chdir(t.TempDir())
	const other = "{\"epoch\":1,\"training_cost\":1}\nmy notes\n"
	for name, text := range map[string]string{"c.jsonl": other, "c.ckpt": ""} {
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	c, err := newCurve("c.jsonl", "c.ckpt", func(error) {})
	if err != nil {
		t.Fatal(err)
	}
	c.observe(method.Iteration{Number: 3, Epoch: true})
	if err := c.close(false); err == nil || exitCode(err) != exitUsage || !strings.HasPrefix(err.Error(), "--curve: c.jsonl:2: ") {
		t.Errorf("error is %v", err)
	}
	if text, err := os.ReadFile("c.jsonl"); err != nil || string(text) != other {
		t.Errorf("the file has become %q, %v", text, err)
	}
}

// FuzzEarlierLines: what is kept of a file are whole lines from its beginning, each an
// earlier epoch's, and the next line is none.
func FuzzEarlierLines(f *testing.F) {
	f.Add("{\"epoch\":1,\"training_cost\":1}\n{\"epoch\":2,\"training_cost\":1}\n{\"ep", 2, 0)
	f.Add("{\"epoch\":9,\"restart\":1,\"training_cost\":1}\n", 1, 2)
	f.Add("\n", 1, 0)
	f.Fuzz(func(t *testing.T, text string, epoch, restart int) {
		length, err := earlierLines(strings.NewReader(text), train.CurveLine{Epoch: epoch, Restart: restart})
		if err != nil {
			return
		}
		earlier := func(line string) bool {
			var l train.CurveLine
			if err := json.Unmarshal([]byte(line), &l); err != nil {
				t.Fatal(err)
			}
			return l.Restart < restart || l.Restart == restart && l.Epoch < epoch
		}
		kept, rest := text[:length], text[length:]
		for line := range strings.Lines(kept) {
			if !strings.HasSuffix(line, "\n") || !earlier(line) {
				t.Errorf("kept %q before epoch %d of start %d", line, epoch, restart)
			}
		}
		if next, _, whole := strings.Cut(rest, "\n"); whole && earlier(next) {
			t.Errorf("cut off %q before epoch %d of start %d", next, epoch, restart)
		}
	})
}
