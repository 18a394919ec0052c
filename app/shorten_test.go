package app

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// Claim: a text table has the beginning of a long list, and says how much is left; CSV and short lists are whole.
func TestLongList(t *testing.T) {
	long := list(strings.Repeat("ü, ", 5000))
	got := readable(long)
	if len(got) > 2200 || !utf8.ValidString(got) || !strings.Contains(got, "more bytes (see --format json and csv)") {
		t.Errorf("%d bytes, %q at the end", len(got), got[max(0, len(got)-80):])
	}
	if short := list("1 a, 2 b"); readable(short) != "1 a, 2 b" {
		t.Errorf("found %q", readable(short))
	}
	r := report{columns: []string{"what", "value"}, rows: [][]any{{"names", long}}}
	if width := len(strings.Split(r.text(0), "\n")[0]); width > 9000 {
		t.Errorf("the first line has %d bytes", width)
	}
}
