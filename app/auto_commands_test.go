package app

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Claim: commands.sh runs no more than listwise and mkdir, whatever files are called: a line feed in
// a name neither ends a comment nor a word.
func TestCommandsOfHostileNames(t *testing.T) {
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("found no sh")
	}
	t.Chdir(t.TempDir())
	for i, data := range []string{"a\ntouch pwned\n.txt", "$(touch pwned).txt", "'; touch pwned; '.txt", "b\r\ntouch pwned #.txt", "-n.txt"} {
		mustCall(t, "data", "synth", "--queries", "9", "--docs", "6", "--relevant", "2", "--features", "3", "--out", data)
		out := "-o" + string(rune('0'+i))
		mustCall(t, "auto", "--data", data, "--folds", "2", "--trials", "2", "--out", out, "--no-record")
		called := exec.CommandContext(t.Context(), shell, "-e", "-c", `listwise() { printf '%s\n' "$@" >>called; }; . "./$1"`, "sh", out+"/commands.sh")
		if said, err := called.CombinedOutput(); err != nil {
			t.Fatalf("%q: %v: %s", data, err, said)
		}
		if exists("pwned") {
			t.Fatalf("%q: the script ran a command of the name", data)
		}
		words, err := os.ReadFile("called")
		if err != nil || !strings.Contains(string(words), "\n"+data+"\n") {
			t.Errorf("%q: the script names other data: %v", data, err)
		}
	}
}

// Claim: a shell reads the words of a line back as they are.
func TestShellLine(t *testing.T) {
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("found no sh")
	}
	rapid.Check(t, func(rt *rapid.T) {
		words := rapid.SliceOfN(rapid.StringMatching("[ -~\n\r\tä…\x01\x7f]*"), 1, 5).Draw(rt, "words")
		got, err := exec.CommandContext(t.Context(), shell, "-c", `f() { printf '%s\0' "$@"; }; f `+shellLine(words...)).Output()
		if want := strings.Join(words, "\x00") + "\x00"; err != nil || string(got) != want {
			rt.Fatalf("read %q, want %q (%v)", got, want, err)
		}
	})
}
