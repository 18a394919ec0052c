package rows

import (
	"strings"
	"testing"
)

// Claim: floats keep every digit, nil is empty, and text that needs it is quoted.
func TestWriteCSV(t *testing.T) {
	var b strings.Builder
	err := WriteCSV(&b, []string{"name", "value"}, [][]any{{"a, b", 0.30000000000000004}, {"c", 7}, {nil, 1e-300}})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := b.String(), "name,value\n\"a, b\",0.30000000000000004\nc,7\n,1e-300\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
