package sessions

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// CheckShell is [Check] for documents whose commands need a shell. One bash runs all sessions of the document in the
// working folder, so variables and background jobs last. Every command must succeed. replace changes the commands,
// such as a port.
func CheckShell(t *testing.T, path string, replace *strings.Replacer) {
	t.Helper()
	s := startShell(t, replace)
	check(t, path, s.run)
}

type shell struct {
	replace *strings.Replacer
	in      io.Writer
	out     *bufio.Reader
	errs    string // file of standard error
}

func startShell(t *testing.T, replace *strings.Replacer) *shell {
	t.Helper()
	s := &shell{replace: replace, errs: filepath.Join(t.TempDir(), "stderr")}
	errs, err := os.Create(s.errs)
	if err != nil {
		t.Fatal(err)
	}
	bash := exec.Command("bash", "-o", "pipefail")
	bash.Stderr = errs
	in, err := bash.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := bash.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := bash.Start(); err != nil {
		t.Fatal(err)
	}
	s.in, s.out = in, bufio.NewReader(out)
	t.Cleanup(func() {
		_, _ = io.WriteString(in, "trap - EXIT\nkill $(jobs -p) 2>/dev/null\nexit\n")
		_ = bash.Wait()
		_ = errs.Close()
	})
	return s
}

// end precedes the exit code of a command.
const end = "\x00exit code "

// run runs a command and returns its standard output. After a command in the background, it waits for a line on
// standard error, with which the program says that it is ready.
func (s *shell) run(t *testing.T, command string) string {
	t.Helper()
	before := s.said(t)
	if _, err := io.WriteString(s.in, s.replace.Replace(command)+"\nprintf '\\0exit code %d\\n' $?\n"); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for {
		line, err := s.out.ReadString('\n')
		if err != nil {
			t.Fatalf("%s: the shell ended: %v", command, err)
		}
		text, code, ended := strings.Cut(line, end)
		out.WriteString(text)
		if !ended {
			continue
		}
		if code != "0\n" {
			t.Fatalf("%s: found the exit code %s%s%s", command, code, out.String(), s.said(t)[len(before):])
		}
		break
	}
	for deadline := time.Now().Add(time.Minute); strings.HasSuffix(command, "&") && s.said(t) == before; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s: found nothing on standard error", command)
		}
	}
	return trimmed(out.String())
}

// said returns the text on standard error until now.
func (s *shell) said(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(s.errs)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
