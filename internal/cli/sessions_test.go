package cli

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// documented are the pages whose sessions are run, and what makes the files that they name in
// the working folder.
var documented = map[string]func(t *testing.T){
	"trec.md":                  copied("testdata/trec"),
	"guide/search-engineer.md": copied("../../docs/guide/data"),
	"guide/data-scientist.md":  copied("../../docs/guide/data"),
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

// session is a block of commands, after "$ ", and what they print.
var session = regexp.MustCompile("(?s)```console\n(.*?)```")

// Claim: every command of a session on these pages prints what the page says. With
// UPDATE_SESSIONS=1 the pages are made to say what the commands print.
func TestDocumentedSessions(t *testing.T) {
	for page, prepare := range documented {
		path, err := filepath.Abs(filepath.Join("../../docs", page))
		if err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(page, func(t *testing.T) {
			t.Chdir(t.TempDir())
			prepare(t)
			ran := session.ReplaceAllStringFunc(string(text), func(block string) string { return runSession(t, block) })
			if !strings.Contains(ran, "\n$ listwise ") {
				t.Error("found no session")
			}
			if os.Getenv("UPDATE_SESSIONS") == "" {
				return
			}
			if err := os.WriteFile(path, []byte(ran), 0o644); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// runSession runs the commands of a block and returns it with what they print.
func runSession(t *testing.T, block string) string {
	t.Helper()
	body := strings.TrimSuffix(strings.TrimPrefix(block, "```console"), "```")
	var ran strings.Builder
	ran.WriteString("```console\n")
	for _, part := range strings.SplitAfter(body, "\n$ ")[1:] {
		command, want, _ := strings.Cut(strings.TrimSuffix(part, "$ "), "\n")
		got := runDocumented(t, command)
		switch update := os.Getenv("UPDATE_SESSIONS") != ""; {
		case got == trimmed(want):
			ran.WriteString("$ " + command + "\n" + want)
		case update:
			ran.WriteString("$ " + command + "\n" + got + "\n\n")
		default:
			t.Errorf("%s prints\n%s\nthe page has\n%s", command, got, trimmed(want))
		}
	}
	return strings.TrimRight(ran.String(), "\n") + "\n```"
}

// runDocumented runs a command of a page, listwise or head -N FILE, and returns what it prints
// on standard output, which may go to a file. If the command fails it is the message, which
// begins with "listwise: " as no output does.
func runDocumented(t *testing.T, command string) string {
	t.Helper()
	command, file, _ := strings.Cut(command, " > ")
	words := quotedFields(command)
	if words[0] == "head" {
		return head(t, words[1:])
	}
	if words[0] != "listwise" {
		t.Fatalf("found the command %q", command)
	}
	var out, errs bytes.Buffer
	if code := Run(context.Background(), words[1:], strings.NewReader(""), &out, &errs); code != exitDone {
		return trimmed(lastWord.FindString(errs.String()))
	}
	if file != "" {
		if err := os.WriteFile(file, out.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		return ""
	}
	return trimmed(out.String())
}

// lastWord is what a command that fails says last, after notes and warnings.
var lastWord = regexp.MustCompile(`(?m)^listwise: .*$`)

// head returns the first lines of a file, as head -N FILE prints them.
func head(t *testing.T, args []string) string {
	t.Helper()
	n, err := strconv.Atoi(strings.TrimPrefix(args[0], "-"))
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(args[1])
	if err != nil {
		t.Fatal(err)
	}
	return trimmed(strings.Join(strings.SplitAfterN(string(text), "\n", n+1)[:n], ""))
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
