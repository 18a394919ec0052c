package papers

import (
	"path/filepath"
	"strings"
	"testing"
)

// A row whose choice is at an edge with every seed is noted once, and one with two values,
// of which either is an edge, not at all.
func TestEdgeNotes(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "mine")
	writeFolds(t, dir, 12, 3)
	s := declared()
	s.rows = []row{
		{name: "narrow", method: "listmle", seeds: 3, grid: map[string][]string{"C": {"1e-9", "2e-9", "3e-9"}, "ties": {"random"}}},
		{name: "two", method: "listnet", grid: map[string][]string{"C": {"0.1", "10"}}},
	}
	s.parts = []part{edgeNotes}
	r := reportOf(t, s, Options{Data: dir, Seed: 5})
	if len(r.Notes) != 1 || !strings.HasPrefix(r.Notes[0], "mine, narrow: ") {
		t.Errorf("notes %q, expected one, about narrow", r.Notes)
	}
}
