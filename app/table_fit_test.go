package app

import (
	"bytes"
	"strings"
	"testing"

	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/listwise/listwise/learn/method"
)

// Tables fit screens of 80 columns and of 50, and lose no word of what a wide one says.
func TestTablesFit(t *testing.T) {
	reports := map[string]report{"methods": methodList(), "reproduce": experimentList()}
	for _, m := range method.List() {
		reports[m.Name] = methodReport(m, m)
		if trees, err := m.For("trees"); err == nil {
			reports[m.Name+" on trees"] = methodReport(m, trees)
		}
	}
	reports["many columns"] = report{
		title:   "a title that goes on and on until it cannot be read in a single line of any terminal there is",
		columns: []string{"model", "method", "queries", "documents", "objective", "above minimum by at most", "iterations", "stopped because"},
		rows:    [][]any{{"runs/m.json", "mle", 12345, 1234567, 0.25, "unknown", 17, "certified gap reached"}, {"n.json", "mle", 1, 2, nil, "3", 4, "b"}},
		notes:   []string{"warning: a note that goes on and on until it cannot be read in a single line of any terminal there is"},
	}
	for name, r := range reports {
		wide := written(r, 0)
		for _, width := range []int{80, 50} {
			got := written(r, width)
			for line := range strings.Lines(got) {
				if n := text.StringWidthWithoutEscSequences(strings.TrimRight(line, "\n ")); n > width {
					t.Errorf("%s: a line of %d columns at a width of %d: %q", name, n, width, line)
				}
			}
			if a, b := letters(got), letters(wide); len(a) < len(b) {
				t.Errorf("%s: %d letters at a width of %d, %d without limit", name, len(a), width, len(b))
			}
		}
	}
}

func written(r report, width int) string {
	return r.text(width)
}

func letters(s string) string {
	return strings.Map(func(r rune) rune {
		if r == ' ' || r == '\n' || r == '─' {
			return -1
		}
		return r
	}, s)
}

// Output that does not go to a terminal has no width, even if COLUMNS is set.
func TestWidthOfPipes(t *testing.T) {
	t.Setenv("COLUMNS", "20")
	env := &environment{stdout: &bytes.Buffer{}}
	if w := env.width(); w != 0 {
		t.Errorf("a buffer is %d wide", w)
	}
}

// A table with key columns that is too wide for a screen becomes several, each of which
// begins with them; a column without a name stays with the one before.
func TestTablesAreParted(t *testing.T) {
	r := report{
		keys:    1,
		columns: []string{"system", "first-value", "second-value", "", "third-value"},
		rows:    [][]any{{"mle", 0.25, 0.5, "***", 0.75}, {"ranknet", 1.25, 1.5, "", 1.75}},
	}
	want := ` system   first-value 
──────────────────────
 mle           0.2500 
 ranknet       1.2500 

 system   second-value      
────────────────────────────
 mle            0.5000  *** 
 ranknet        1.5000      

 system   third-value 
──────────────────────
 mle           0.7500 
 ranknet       1.7500 
`
	if got := written(r, 36); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// A status never goes on in a second line, which could not be drawn anew.
func TestCut(t *testing.T) {
	for _, c := range []struct {
		line  string
		width int
		want  string
	}{{"reading a.txt", 13, "reading a.txt"}, {"reading a.txt", 12, "reading a.t…"}, {"reading a.txt", -1, "reading a.txt"}} {
		if got := cut(c.line, c.width); got != c.want {
			t.Errorf("%q cut to %d is %q, want %q", c.line, c.width, got, c.want)
		}
	}
}
