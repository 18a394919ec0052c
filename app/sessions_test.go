package app

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/listwise/listwise/internal/testing/sessions"
)

// documented are the pages whose sessions are run, and what makes the files that they name in
// the working folder.
var documented = map[string]func(t *testing.T){
	"../README.md":            copied("../docs/guide/data"),
	"trec.md":                 copied("testdata/trec"),
	"bundle.md":               func(*testing.T) {},
	"data-report.md":          writeProducts,
	"explain.md":              writeProducts,
	"ablation.md":             func(*testing.T) {},
	"comparing.md":            copied("../docs/guide/data"),
	"clicks-trials.md":        writeTrials,
	"clicks-learning.md":      copied("../docs/guide/data"),
	"clicks-evaluate.md":      copied("../docs/guide/data"),
	"feature-logs.md":         copied("testdata/answers"),
	"clicks.md":               copied("../docs/guide/data"),
	"guide/shop.md":           copied("../docs/guide/data"),
	"guide/data-scientist.md": copied("../docs/guide/data"),
}

// copied copies the files of a folder to the working folder.
func copied(folder string) func(t *testing.T) {
	here, err := filepath.Abs(folder)
	return func(t *testing.T) {
		t.Helper()
		if err == nil {
			err = os.CopyFS(".", os.DirFS(here))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// Claim: every command of a session on these pages prints what the page says.
func TestDocumentedSessions(t *testing.T) {
	listwise := func(args []string) (string, string, bool) {
		var out, errs bytes.Buffer
		code := Run(context.Background(), args, strings.NewReader(""), &out, &errs)
		return out.String(), errs.String(), code == exitDone
	}
	for page, prepare := range documented {
		path, err := filepath.Abs(filepath.Join("../docs", page))
		if err != nil {
			t.Fatal(err)
		}
		t.Run(page, func(t *testing.T) {
			t.Chdir(t.TempDir())
			prepare(t)
			sessions.Check(t, path, listwise)
		})
	}
}
