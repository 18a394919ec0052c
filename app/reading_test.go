package app

import (
	"io"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Claim: of a limit, the program's own part is what it takes from the least limit on, and a higher limit never leaves less.
func TestOwnMemory(t *testing.T) {
	for _, c := range []struct{ limit, own int64 }{
		{1, 0}, {8 << 20, 0}, {16 << 20, 6 << 20}, {leastMemory, 18 << 20}, {64 << 20, 24 << 20}, {1 << 30, 144 << 20}, {16 << 30, 144 << 20},
	} {
		if got := ownMemory(c.limit); got != c.own {
			t.Errorf("limit %d: found %d, expected %d", c.limit, got, c.own)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.Int64Range(1, 1<<40).Draw(t, "limit")
		more := limit + rapid.Int64Range(0, 1<<30).Draw(t, "more")
		if left, leftOfMore := limit-ownMemory(limit), more-ownMemory(more); left < 1 || leftOfMore < left {
			t.Fatalf("a limit of %d leaves %d, one of %d leaves %d", limit, left, more, leftOfMore)
		}
	})
}

// Claim: a command gives the process back its memory limit and its rate of collecting garbage, which it sets to train.
func TestMemorySettingsAreGivenBack(t *testing.T) {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(77 << 30))
	defer debug.SetGCPercent(debug.SetGCPercent(123))
	model := filepath.Join(t.TempDir(), "m.json")
	code := Run(t.Context(), []string{"train", "--method", "mle", "--train", "../testdata/train.txt", "--model", model, "-q"}, strings.NewReader(""), io.Discard, io.Discard)
	if limit, every := debug.SetMemoryLimit(-1), debug.SetGCPercent(123); code != 0 || limit != 77<<30 || every != 123 {
		t.Errorf("found the code %d, the limit %d and the percentage %d, expected 0, %d and 123", code, limit, every, 77<<30)
	}
}
