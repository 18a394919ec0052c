// Package sessions runs the commands in a document and compares their output with the document. It is for
// tests.
//
// A session is a block of code marked console. Its commands follow "$ ". Below each command is its
// standard output. If the command fails, its last message, which begins with "listwise: ", takes
// the place of the output.
package sessions

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// Program runs listwise with arguments. It returns the text on standard output and standard error,
// and whether the command succeeds.
type Program func(args []string) (out, errs string, ok bool)

var session = regexp.MustCompile("(?s)```console\n(.*?)```")

// Check runs the sessions of the document at path in the working folder and compares the output. If
// the environment has UPDATE_SESSIONS=1, Check updates the document instead.
func Check(t *testing.T, path string, listwise Program) {
	t.Helper()
	check(t, path, listwise.command)
}

// check is Check with a function that runs a command and returns the text for the document.
func check(t *testing.T, path string, run func(t *testing.T, command string) string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	ran := session.ReplaceAllStringFunc(string(text), func(block string) string { return runBlock(t, block, run) })
	if !strings.Contains(ran, "\n$ listwise ") {
		t.Errorf("found no session in %s", filepath.Base(path))
	}
	if updates() {
		if err := os.WriteFile(path, []byte(ran), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func updates() bool { return os.Getenv("UPDATE_SESSIONS") != "" }

// runBlock runs the commands of a block and returns the block with their output. A command that ends with a backslash
// continues on the next line.
func runBlock(t *testing.T, block string, run func(t *testing.T, command string) string) string {
	t.Helper()
	body := strings.TrimSuffix(strings.TrimPrefix(block, "```console"), "```")
	var ran strings.Builder
	ran.WriteString("```console\n")
	for _, part := range strings.SplitAfter(body, "\n$ ")[1:] {
		command, want, _ := strings.Cut(strings.TrimSuffix(part, "$ "), "\n")
		for strings.HasSuffix(command, "\\") {
			line, rest, _ := strings.Cut(want, "\n")
			command, want = command+"\n"+line, rest
		}
		got := run(t, command)
		switch {
		case got == trimmed(want):
			ran.WriteString("$ " + command + "\n" + want)
		case updates():
			ran.WriteString("$ " + command + "\n" + got + "\n\n")
		default:
			t.Errorf("%s prints\n%s\nthe page has\n%s", command, got, trimmed(want))
		}
	}
	return strings.TrimRight(ran.String(), "\n") + "\n```"
}

// command runs listwise or head -N FILE and returns the text for the document. Output of listwise
// may go to a file.
func (p Program) command(t *testing.T, command string) string {
	t.Helper()
	command, file, _ := strings.Cut(command, " > ")
	words := fields(command)
	if words[0] == "head" && len(words) == 3 {
		return head(t, words[1], words[2])
	}
	if words[0] != "listwise" {
		t.Fatalf("found the command %q", command)
	}
	out, errs, ok := p(words[1:])
	if !ok {
		return trimmed(lastMessage.FindString(errs))
	}
	if file != "" {
		if err := os.WriteFile(file, []byte(out), 0o600); err != nil {
			t.Fatal(err)
		}
		return ""
	}
	return trimmed(out)
}

// lastMessage matches the error message of a command, which follows notes and warnings.
var lastMessage = regexp.MustCompile(`(?m)^listwise: .*$`)

// fields splits a command line at blanks outside quotation marks.
func fields(line string) []string {
	var words []string
	for i, part := range strings.Split(line, `"`) {
		if i%2 == 1 {
			words = append(words, part)
		} else {
			words = append(words, strings.Fields(part)...)
		}
	}
	return words
}

// head returns the first lines of a file as head -N FILE prints them.
func head(t *testing.T, number, path string) string {
	t.Helper()
	n, err := strconv.Atoi(strings.TrimPrefix(number, "-"))
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(text), "\n")
	return trimmed(strings.Join(lines[:min(n, len(lines))], ""))
}

// pageSize matches the size of an HTML file. The size changes with the page's scripts and style.
var pageSize = regexp.MustCompile(`(?m)^( \S+\.html +)\d+`)

// trimmed removes page sizes, blanks at the ends of lines, and blank lines at both ends of the
// text.
func trimmed(text string) string {
	lines := strings.Split(pageSize.ReplaceAllString(text, "${1}SIZE"), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " ")
	}
	return strings.Trim(strings.Join(lines, "\n"), "\n")
}
