// Package examples tests the programs in its folders.
package examples

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Claim: every program builds, runs and prints what output.txt has.
func TestExamples(t *testing.T) {
	folders, err := filepath.Glob("*/main.go")
	if err != nil || len(folders) == 0 {
		t.Fatal(err, "no examples")
	}
	bin := t.TempDir()
	if out, err := exec.Command("go", "build", "-o", bin, "./...").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, f := range folders {
		name := filepath.Dir(f)
		if name == "users" || name == "paper" { // need a server and data; app and the tutorial for researchers test them
			continue
		}
		t.Run(name, func(t *testing.T) {
			got, err := exec.Command(filepath.Join(bin, name)).Output()
			if err != nil {
				t.Fatal(err)
			}
			if want, err := os.ReadFile(filepath.Join(name, "output.txt")); err != nil || string(got) != string(want) {
				t.Errorf("the output is\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// mostLines is the length of a program that fits on a screen, without its imports.
const mostLines = 40

// Claim: every program except users, which simulates the users of a tutorial, has at most 40 lines of code. The package
// clause, imports, blank lines and lines that are comments do not count. A line longer than 160 bytes counts as several.
func TestExamplesFitOnAScreen(t *testing.T) {
	files, err := filepath.Glob("*/*.go")
	if err != nil {
		t.Fatal(err)
	}
	lines := map[string]int{}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		_, code, found := strings.Cut(string(text), "\nimport (\n")
		_, code, closed := strings.Cut(code, "\n)\n")
		if !found || !closed {
			t.Fatalf("%s: found no block of imports", f)
		}
		for line := range strings.Lines(code) {
			if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "//") {
				lines[filepath.Dir(f)] += 1 + len(line)/161
			}
		}
	}
	for name, n := range lines {
		if (n > mostLines) != (name == "users") {
			t.Errorf("%s has %d lines, expected at most %d, and more for users", name, n, mostLines)
		}
	}
}
