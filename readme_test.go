package listwise

import (
	"os"
	"strings"
	"testing"
)

// Claim: the library sample of the README is the body of Example, which is compiled
// and run.
func TestReadmeSample(t *testing.T) {
	read := func(path, from, to string) string {
		t.Helper()
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		_, rest, found := strings.Cut(string(text), from)
		part, _, ended := strings.Cut(rest, to)
		if !found || !ended {
			t.Fatalf("%s has nothing between %q and %q", path, from, to)
		}
		return strings.TrimSpace(strings.ReplaceAll("\n"+part, "\n\t", "\n"))
	}
	sample, example := read("README.md", "```go\n", "```"), read("example_test.go", "func Example() {\n", "\t// Output")
	if sample != example {
		t.Errorf("README.md has\n%s\nExample has\n%s", sample, example)
	}
}
