package app

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/listwise/listwise/internal/testing/long"
)

// Claim: auto killed at any moment, any number of times, and called again gives the same files as
// one that was never disturbed, but for the journal's times.
func TestKilledAuto(t *testing.T) {
	long.Test(t)
	if testing.Short() {
		t.Skip("takes seconds, and minutes with the race detector")
	}
	t.Chdir(t.TempDir())
	mustCall(t, "data", "synth", "--queries", "40", "--docs", "20", "--relevant", "8", "--features", "10", "--out", "all.txt")
	mustCall(t, "data", "fold", "all.txt", "--folds", "3", "--out", "folds")
	start := func() *exec.Cmd {
		cmd := exec.Command(os.Args[0], "auto", "--data", "folds", "--trials", "12", "--out", "out", "--quiet")
		cmd.Args[0] = "listwise" // makes the test's binary behave as the command: see TestMain
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		return cmd
	}
	begun := time.Now()
	if err := start().Wait(); err != nil {
		t.Fatal(err)
	}
	takes, want := time.Since(begun), autoFiles(t, "out")
	killed := make(map[string]int)
	times := 2
	if long.Enabled() {
		times = 6
	}
	for range times {
		if err := os.RemoveAll("out"); err != nil {
			t.Fatal(err)
		}
		for ended := false; !ended; { // until it comes to its end between two kills
			cmd := start()
			time.Sleep(rand.N(takes)) // random, independent of the seed
			_ = cmd.Process.Kill()
			if ended = cmd.Wait() == nil; !ended {
				killed[autoProgress("out")]++
			}
		}
		got := autoFiles(t, "out")
		for name := range got { // trees that were read from the journal are trained again without validation data, and recorded
			if _, ok := want[name]; !ok && strings.HasPrefix(name, "journal/") {
				delete(got, name)
			}
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Fatalf("the files differ:\n%s", d)
		}
	}
	t.Logf("killed %v", killed)
}

// autoFiles are the files that do not tell times.
func autoFiles(t *testing.T, dir string) map[string]string {
	all := files(t, dir)
	for name := range all {
		if strings.HasSuffix(name, ".tmp") || filepath.Base(name) == "journal.jsonl" {
			delete(all, name)
		}
	}
	return all
}

// autoProgress returns how far an auto that writes to dir was.
func autoProgress(dir string) string {
	for _, stage := range []struct{ file, name string }{
		{"report.html", "after the report"}, {"members", "while writing"}, {"journal/trials.json", "while refitting"}, {"journal/journal.jsonl", "during trials"},
	} {
		if exists(filepath.Join(dir, stage.file)) {
			return stage.name
		}
	}
	return "before the first trial"
}
