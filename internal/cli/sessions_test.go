package cli

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// documented are the pages whose sessions are run, and the folders of the files they name.
var documented = map[string]string{
	"trec.md": "testdata/trec",
}

var session = regexp.MustCompile("(?s)```console\n(.*?)```")

// Claim: every command of a session on these pages prints what the page says, and succeeds.
func TestDocumentedSessions(t *testing.T) {
	for page, files := range documented {
		text, err := os.ReadFile(filepath.Join("../../docs", page))
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		if err := os.CopyFS(dir, os.DirFS(files)); err != nil {
			t.Fatal(err)
		}
		t.Run(page, func(t *testing.T) {
			t.Chdir(dir)
			commands := 0
			for _, block := range session.FindAllStringSubmatch(string(text), -1) {
				for _, part := range strings.Split("\n"+block[1], "\n$ ")[1:] {
					command, want, _ := strings.Cut(part, "\n")
					commands++
					runDocumented(t, command, want)
				}
			}
			if commands == 0 {
				t.Error("found no session")
			}
		})
	}
}

// runDocumented runs a command of a page, whose output may go to a file.
func runDocumented(t *testing.T, command, want string) {
	t.Helper()
	command, file, _ := strings.Cut(command, " > ")
	words := strings.Fields(command)
	if words[0] != "listwise" {
		t.Fatalf("found the command %q", command)
	}
	var out, errs bytes.Buffer
	if code := Run(context.Background(), append(words[1:], "--quiet"), strings.NewReader(""), &out, &errs); code != exitDone {
		t.Fatalf("%s exits with %d: %s", command, code, errs.String())
	}
	if file != "" {
		if err := os.WriteFile(file, out.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		out.Reset()
	}
	if got := trimmed(out.String()); got != trimmed(want) {
		t.Errorf("%s prints\n%s\nthe page has\n%s", command, got, trimmed(want))
	}
}

// pageSize is how large an HTML file is, which changes with the page's scripts and style.
var pageSize = regexp.MustCompile(`(?m)^( \S+\.html +)\d+`)

// trimmed is text without sizes of pages, blanks at the ends of lines and blank lines at its ends.
func trimmed(text string) string {
	lines := strings.Split(pageSize.ReplaceAllString(text, "${1}SIZE"), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " ")
	}
	return strings.Trim(strings.Join(lines, "\n"), "\n")
}
