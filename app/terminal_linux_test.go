package app

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/jedib0t/go-pretty/v6/text"
	"golang.org/x/sys/unix"
)

// openTerminal returns both ends of a new pseudo-terminal that is width wide: what is
// written to the screen is read from the control.
func openTerminal(t *testing.T, width uint16) (control, screen *os.File) {
	t.Helper()
	control, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no pseudo-terminals: %v", err)
	}
	t.Cleanup(func() { _ = control.Close() })
	if err := unix.IoctlSetPointerInt(int(control.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Skipf("no pseudo-terminals: %v", err)
	}
	n, err := unix.IoctlGetInt(int(control.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Skipf("no pseudo-terminals: %v", err)
	}
	screen, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no pseudo-terminals: %v", err)
	}
	t.Cleanup(func() { _ = screen.Close() })
	if err := unix.IoctlSetWinsize(int(screen.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: width}); err != nil {
		t.Fatal(err)
	}
	return control, screen
}

// onTerminal returns what a command, as a process of its own, writes to a terminal:
// all of it, or the results alone.
func onTerminal(t *testing.T, width uint16, results bool, args ...string) string {
	t.Helper()
	control, screen := openTerminal(t, width)
	cmd := exec.Command(os.Args[0], args...)
	cmd.Args[0] = "listwise" // see TestMain
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "COLUMNS=") {
			cmd.Env = append(cmd.Env, v)
		}
	}
	var notes bytes.Buffer
	cmd.Stdout, cmd.Stderr = screen, io.Writer(screen)
	if results {
		cmd.Stderr = &notes
	}
	shown := make(chan string)
	go func() {
		var b bytes.Buffer
		_, _ = io.Copy(&b, control) // ends with an error as the terminal closes
		shown <- b.String()
	}()
	err := cmd.Run()
	_ = screen.Close()
	got := strings.ReplaceAll(<-shown, "\r\n", "\n")
	if err != nil {
		t.Fatalf("listwise %v: %v: %s%s", args, err, got, notes.String())
	}
	return got
}

// What people read in a terminal of 80 columns fits it, and holds the numbers that a
// pipe gets.
func TestTerminalWidth(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	mustCall(t, "data", "synth", "--queries", "20", "--docs", "10", "--relevant", "3", "--features", "5", "--out", "all-of-the-data.txt")
	mustCall(t, "data", "fold", "all-of-the-data.txt", "--folds", "3", "--out", "folds")
	systems := []string{"regression.json", "mle.json", "a-model-whose-name-is-long-indeed.json"}
	for i, m := range []string{"regression", "mle", "mle"} {
		mustCall(t, "train", "--method", m, "--train", "all-of-the-data.txt", "--model", systems[i])
	}
	compare := append([]string{"compare", "--data", "all-of-the-data.txt", "--measures", "map,ndcg@10"}, systems...)
	commands := [][]string{
		{"methods", "lambdarank"},
		compare,
		{"runs", "list"},
		append([]string{"fuse", "--data", "all-of-the-data.txt"}, systems...),
		append([]string{"fuse", "--long", "--data", "folds/Fold1/test.txt", "--valid", "folds/Fold1/vali.txt"}, systems...),
		{"reproduce"},
	}
	if !testing.Short() { // it takes seconds
		commands = append(commands, []string{"reproduce", "lambdarank-artificial", "--scale", "0.001", "--out", "results"})
	}
	for _, args := range commands {
		t.Run(strings.Join(args[:min(2, len(args))], " "), func(t *testing.T) {
			got := onTerminal(t, 80, true, args...)
			for line := range strings.Lines(got) {
				if n := text.StringWidthWithoutEscSequences(strings.TrimRight(line, "\n ")); n > 80 {
					t.Errorf("a line of %d columns: %q", n, line)
				}
			}
			found := make(map[string]bool)
			for _, number := range decimal.FindAllString(got, -1) {
				found[number] = true
			}
			for _, number := range decimal.FindAllString(mustCall(t, args...), -1) {
				if !found[number] {
					t.Errorf("%s is missing in\n%s", number, got)
				}
			}
		})
	}
	if mustCall(t, compare...) == onTerminal(t, 80, true, compare...) {
		t.Error("compare does not fit its tables to the terminal")
	}
}

var decimal = regexp.MustCompile(`[0-9]+\.[0-9]{4}`)
