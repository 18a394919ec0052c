package cli

import (
	"os"
	"os/exec"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestMain lets the scripts below run the real command as a process of its own.
func TestMain(m *testing.M) {
	ownProgram = func() ([]string, error) {
		path, err := exec.LookPath("listwise")
		return []string{path, path}, err
	}
	testscript.Main(m, map[string]func(){
		"listwise": func() { os.Exit(Main()) },
	})
}

// TestScripts runs every script in testdata/script: what a user types, and what
// must come back.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script", RequireExplicitExec: true, UpdateScripts: os.Getenv("UPDATE_SCRIPTS") != "",
		Setup: func(e *testscript.Env) error {
			e.Setenv("GORACE", os.Getenv("GORACE")) // what make race tells the detector
			return nil
		},
	})
}
