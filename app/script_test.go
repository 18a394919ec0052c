package app

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/listwise/listwise/internal/testing/long"
	"github.com/listwise/listwise/tune/runs"
)

// TestMain lets the scripts below run the real command as a process of its own.
func TestMain(m *testing.M) {
	ownProgram = func() ([]string, error) {
		path, err := exec.LookPath("listwise")
		return []string{path, path}, err
	}
	testscript.Main(m, map[string]func(){
		"listwise": func() {
			// Without this, every command that is recorded would hash the 50 MB of this program.
			runs.ThisCode = func() runs.Code {
				return runs.Code{Version: "(devel)", Go: runtime.Version(), Program: "00000000000000000000000000000000"}
			}
			debug.SetGCPercent(400) // most commands end before a collection; --max-memory sets a lower rate
			before := filesOpen()
			code := Run(WithSignals(context.Background()), os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
			open := slices.DeleteFunc(filesOpen(), func(name string) bool { return slices.Contains(before, name) })
			if len(open) > 0 && code != exitFailed { // an interrupted command ends while others write
				fmt.Fprintln(os.Stderr, "left open at the end of the command:", open)
				code = 3
			}
			os.Exit(code)
		},
	})
}

// filesOpen returns the files that this process has open, where the system lists them. A mapped file stays open as long
// as it is mapped.
func filesOpen() (names []string) {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return nil
	}
	for _, e := range entries {
		name, _ := os.Readlink("/proc/self/fd/" + e.Name())
		if strings.HasPrefix(name, "/") {
			names = append(names, name)
		}
	}
	return names
}

// Claim: a command closes all that it opens before it ends, which matters to programs that run commands, as the Python
// package does.
//
// TestScripts runs every script in testdata/script: what a user types, and what
// must come back.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script", RequireExplicitExec: true, UpdateScripts: os.Getenv("UPDATE_SCRIPTS") != "",
		Condition: func(name string) (bool, error) {
			if name != "long" {
				return false, fmt.Errorf("found the condition %s, expected long", name)
			}
			return long.Enabled(), nil
		},
		Setup: func(e *testscript.Env) error {
			e.Setenv("GORACE", os.Getenv("GORACE")) // what make race tells the detector
			return nil
		},
	})
}
