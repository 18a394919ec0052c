package app

import (
	"os"
	"strings"
	"testing"
	"unicode/utf8"
)

// hostile is a name that a terminal would obey: an escape sequence that sets its
// title, one that clears it, both in C0 and in C1, and a line end.
const hostile = "a\x1b]0;title\x07\x1b[2J\u009b2J\r\nb"

// Claim: a message shows control characters and loses only the middle of what is very
// long.
func TestMessage(t *testing.T) {
	long := strings.Repeat("ü", 1000) + strings.Repeat("x", 1e6) + strings.Repeat("ö", 500)
	for text, want := range map[string]string{
		"a\x1bb":                  `a\x1bb`,
		strings.Repeat("x", 1500): strings.Repeat("x", 1500),
		long:                      strings.Repeat("ü", 1000) + " … " + strings.Repeat("ö", 500),
	} {
		if got := message(text); got != want {
			t.Errorf("%.20q… is shown as %q", text, got)
		}
	}
}

// Claim: what is written as text shows control characters and sends none; all other
// text, line ends among it, is left alone.
func TestVisible(t *testing.T) {
	for text, want := range map[string]string{
		"":             "",
		"plain, ü 文 �": "plain, ü 文 �",
		hostile:        `a\x1b]0;title\x07\x1b[2J\x9b2J\r\nb`,
		"\x7f\t\x00":   `\x7f\t\x00`,
		"\x9b\xff\xc3": `\x9b\xff\xc3`,
	} {
		if got := visible(text); got != want {
			t.Errorf("%q is shown as %q, want %q", text, got, want)
		}
	}
	const text, want = "grün\n文 \x1b[1m\nlast\n", "grün\n文 \\x1b[1m\nlast\n"
	if got := visibleLines(text); got != want {
		t.Errorf("the lines are %q, want %q", got, want)
	}
}

// FuzzVisible: nothing that is shown has a control character, and text without one
// stays as it is.
func FuzzVisible(f *testing.F) {
	f.Add(hostile)
	f.Add("\xe2\x82")
	f.Fuzz(func(t *testing.T, text string) {
		got := visible(text)
		for _, r := range got {
			if r < ' ' || r >= 0x7f && r < 0xa0 {
				t.Errorf("%q is shown as %q", text, got)
			}
		}
		if !utf8.ValidString(got) || visible(got) != got {
			t.Errorf("%q is shown as %q, and that as %q", text, got, visible(got))
		}
	})
}

// Claim: no command sends a control character of a file's, a query's or a method's
// name, in results, notes or errors; JSON and CSV have names as they are.
func TestHostileNames(t *testing.T) {
	t.Chdir(t.TempDir())
	mustCall(t, "data", "synth", "--queries", "6", "--docs", "8", "--relevant", "3", "--features", "3", "--out", "d.txt")
	text, err := os.ReadFile("d.txt")
	if err != nil {
		t.Fatal(err)
	}
	name := strings.ReplaceAll(hostile, "/", "")
	ids := strings.ReplaceAll(string(text), "qid:1 ", "qid:\x1b[31m1\u009b ")
	for path, content := range map[string]string{name: string(text), "ids\x1b[2J": ids, "bad\x1b[2J": "x\n", "nan\x1b[2J": "nan qid:1 1:nan\n"} {
		if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
			t.Skip(err)
		}
	}
	for _, c := range [][]string{
		{"train", "--method", "mle", "--train", name, "--model", name + ".json", "--valid", name},
		{"eval", "--data", name, "--model", name + ".json"},
		{"eval", "--data", "bad\x1b[2J", "--model", name + ".json"},
		{"eval", "--data", "nan\x1b[2J", "--missing", "zero", "--model", name + ".json"},
		{"eval", "--data", "d.txt", "--model", "none\x1b[2J"},
		{"eval", "--data", "d.txt", "--measures", "\x1b[2J"},
		{"train", "--method", "\x1b[2J", "--train", name, "--model", "x"},
		{"--\x1b[2J"},
		{"\x1b[2J"},
		{"score", "--model", name + ".json", "--data", "bad\x1b[2J"},
		{"data", "info", name},
		{"data", "info", "ids\x1b[2J"}, // which is refused
		{"data", "convert", name, "--out", name + ".lwd"},
		{"data", "fold", name, "--folds", "3", "--out", name + "\x1b[2J"},
		{"compare", "--data", name, "--permutations", "9", name + ".json", "\x1b[2J=" + name + ".json"},
		{"compare", "--data", name, "--permutations", "9", "--format", "markdown", name + ".json", "\x1b[2J=" + name + ".json"},
		{"compare", "--data", name, "--permutations", "9", "--format", "latex", name + ".json", "\x1b[2J=" + name + ".json"},
		{"compare", "--data", "\x1b[2J=" + name, "--compact", "--baseline", "\x1b[2J", "--permutations", "9", name + ".json", "\x1b[2J=" + name + ".json"},
		{"compare", "--data", "\x1b[2J=" + name, "--compact", "--baseline", "\x1b[2J", "--permutations", "9", "--format", "latex", name + ".json", "\x1b[2J=" + name + ".json"},
		{"fuse", "--data", name, "--rule", "rrf", name + ".json", name + ".json"},
		{"report", "--data", name, "--permutations", "9", "--out", name + ".html", name + ".json"},
		{"runs", "list"},
		{"runs", "show", "1"},
		{"runs", "show", "2"},
		{"runs", "diff", "1", "2"},
	} {
		_, out, said := call(c...)
		if out+said == "" {
			t.Errorf("%q says nothing", c)
		}
		for _, r := range out + said {
			if r < ' ' && r != '\n' || r >= 0x7f && r < 0xa0 {
				t.Errorf("%q prints %q and %q", c, out, said)
				break
			}
		}
	}
	if out := mustCall(t, "runs", "show", "1", "--format", "json"); !strings.Contains(out, `a\u001b]0;title\u0007`) {
		t.Errorf("JSON has another name: %s", out)
	}
	if out := mustCall(t, "runs", "list", "--format", "csv"); !strings.Contains(out, "a\x1b]0;title\x07") {
		t.Errorf("CSV has another name: %q", out)
	}
}
