package childtest

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestMain(m *testing.M) {
	Main(m, func(args []string) error {
		dir, lines := args[0], args[1:]
		for _, line := range lines {
			if err := Say(line, "said"); err != nil {
				return err
			}
		}
		return os.WriteFile(filepath.Join(dir, "done"), []byte(strings.Join(lines, ",")), 0o600)
	})
}

// Claim: a child has its arguments, waits after every line, ends by itself unless it is
// killed, and goes no further than the line it is killed at.
func TestChildren(t *testing.T) {
	for kill, want := range map[int]int{1: 1, 2: 2, 3: 3, 9: 3} {
		dir := t.TempDir()
		first, seen := Start(t, dir, "one", "two", "three").KillAt(kill)
		text, err := os.ReadFile(filepath.Join(dir, "done"))
		if first != "one said" || seen != want || (kill <= 3) != errors.Is(err, os.ErrNotExist) || kill > 3 && string(text) != "one,two,three" {
			t.Errorf("killed at %d: %q, %d lines, left %q, %v", kill, first, seen, text, err)
		}
	}
	p := Start(t, t.TempDir(), "one")
	if line, ok := p.Line(); !ok || line != "one said" {
		t.Errorf("line %q, %v", line, ok)
	}
	p.GoOn()
	if line, ok := p.Line(); ok {
		t.Errorf("another line %q", line)
	}
	if err := p.Wait(); err != nil {
		t.Error(err)
	}
}
