// Package childtest runs a test's own binary as another process, for tests that need
// several processes, or need to kill one. Start reading at [Main]. The package must not
// depend on what the processes do.
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

// variable of the environment holds a child's arguments, a line each.
const variable = "LISTWISE_TEST_CHILD"

// Main must be called by the TestMain of a package with children. In a process that [Start] began, it runs
// child with the arguments and ends the process; in any other it runs the tests.
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

// Say is for children: it prints a line and waits for [Process.GoOn]. An error means that
// nobody will answer.
func Say(what ...any) error {
	fmt.Println(what...)
	_, err := answers.ReadString('\n')
	return err
}

// Process is a child.
type Process struct {
	*exec.Cmd

	t     testing.TB
	in    io.Writer
	lines *bufio.Scanner
}

// Start begins a child with arguments that hold no line ends. Its standard error is the
// test's.
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

// Line returns the next line that the child says; ok is false if it ended without one.
func (p *Process) Line() (line string, ok bool) {
	ok = p.lines.Scan()
	return p.lines.Text(), ok
}

// GoOn answers a line.
func (p *Process) GoOn() { _, _ = io.WriteString(p.in, "\n") } // who has ended needs none

// KillAt answers every line but the one of the given number, from 1, at which it kills the
// child (SIGKILL). It returns the first line and how many there were. A child that ends with
// an error of its own fails the test.
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
