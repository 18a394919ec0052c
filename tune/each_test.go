package tune

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Runs of several seeds in one folder leave the files of a run alone with each seed.
func TestRunEachAgainstRun(t *testing.T) {
	c := newConfig(t)
	c.Dir = t.TempDir()
	first, second := c, c
	first.Subfolder, second.Subfolder, second.Seed = "one", "two", c.Seed+1
	results, err := RunEach(context.Background(), first, second)
	if err != nil || len(results) != 2 {
		t.Fatalf("%d results, %v", len(results), err)
	}
	for _, config := range []Config{first, second} {
		alone := config
		alone.Dir, alone.Subfolder = t.TempDir(), ""
		run(t, alone)
		for _, e := range config.Entries {
			for _, f := range config.Folds {
				for _, ending := range []string{".model.json", ".scores", ".queries.csv"} {
					got, err := os.ReadFile(filepath.Join(config.Dir, e.Name, config.Subfolder, f.Name+ending))
					if err != nil {
						t.Fatal(err)
					}
					want, err := os.ReadFile(filepath.Join(alone.Dir, e.Name, f.Name+ending))
					if err != nil {
						t.Fatal(err)
					}
					if string(got) != string(want) {
						t.Errorf("%s, %s, %s%s: differs from that of a run alone", config.Subfolder, e.Name, f.Name, ending)
					}
				}
			}
		}
	}
}

// If a later run fails, no run has written results, and the error names the run.
func TestRunEachWritesAtTheEnd(t *testing.T) {
	c := newConfig(t)
	c.Dir = t.TempDir()
	first, second := c, c
	first.Subfolder, second.Subfolder, second.Average = "one", "two", -1
	if _, err := RunEach(context.Background(), first, second); err == nil || !strings.HasPrefix(err.Error(), "two: ") {
		t.Fatalf("the error is %v", err)
	}
	if files, err := filepath.Glob(filepath.Join(c.Dir, "*", "one", "*.model.json")); err != nil || files != nil {
		t.Errorf("found %v, %v, expected no results", files, err)
	}
	bad := c
	bad.Subfolder = "a/b"
	if _, err := RunEach(context.Background(), bad); err == nil {
		t.Error("a subfolder with a separator is accepted")
	}
}
