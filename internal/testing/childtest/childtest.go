// Package childtest runs a test's own binary as another process, for tests that need several
// processes or kill a process. Start reading at [Main]. The package must not depend on what the
// processes do.
package childtest

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// variable is the environment variable with a child's arguments, one per line.
const variable = "LISTWISE_TEST_CHILD"

// Main must be called by the TestMain of a package with children. In a process that [Start] began,
// Main calls child with the arguments and ends the process. In any other process it runs the tests.
func Main(m *testing.M, child func(args []string) error) {
	args, ok := os.LookupEnv(variable)
	if !ok {
		os.Exit(m.Run())
	}
	if err := child(strings.Split(args, "\n")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

var answers = bufio.NewReader(os.Stdin)

// Say is for children. It prints a line and waits for [Process.GoOn]. It returns an error if the
// parent has ended.
func Say(what ...any) error {
	fmt.Println(what...)
	_, err := answers.ReadString('\n')
	return err
}

// Process is a running child.
type Process struct {
	*exec.Cmd

	t     testing.TB
	in    io.Writer
	lines *bufio.Scanner
}

// Start begins a child with arguments that contain no line ends. The child shares the test's
// standard error.
func Start(t testing.TB, args ...string) *Process {
	t.Helper()
	p := &Process{Cmd: exec.Command(os.Args[0]), t: t}
	p.Env = append(os.Environ(), variable+"="+strings.Join(args, "\n"))
	p.Stderr = os.Stderr
	in, err := p.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := p.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	p.in, p.lines = in, bufio.NewScanner(out)
	return p
}

// Line returns the next line that the child prints. ok is false if the child ended instead.
func (p *Process) Line() (line string, ok bool) {
	ok = p.lines.Scan()
	return p.lines.Text(), ok
}

// GoOn lets a child continue that waits in [Say].
func (p *Process) GoOn() { _, _ = io.WriteString(p.in, "\n") } // an ended child needs no answer

// KillAt answers every line of the child before line number, counted from 1, and kills the child at
// that line by SIGKILL. It returns the first line and the number of lines. If the child ends by
// itself with an error, the test fails.
func (p *Process) KillAt(number int) (first string, seen int) {
	p.t.Helper()
	killed := false
	for line, ok := p.Line(); ok; line, ok = p.Line() {
		if seen++; seen == 1 {
			first = line
		}
		if seen < number {
			p.GoOn()
		} else if seen == number {
			killed = true
			if err := p.Process.Kill(); err != nil {
				p.t.Error(err)
			}
		}
	}
	if err := p.Wait(); err != nil && !killed {
		p.t.Fatal(err)
	}
	return first, seen
}
