// Package examples tests the programs in its folders.
package examples

import (
	"os"
	"os/exec"
	"path/filepath"
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
