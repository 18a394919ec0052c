// Package long decides whether slow tests run. They run if the environment variable LISTWISE_LONG
// is set, as make checks does.
package long

import (
	"os"
	"testing"
)

// Enabled reports whether slow tests run.
func Enabled() bool { return os.Getenv("LISTWISE_LONG") != "" }

// Test skips the calling test unless slow tests run.
func Test(t testing.TB) {
	t.Helper()
	if !Enabled() {
		t.Skip("takes long: LISTWISE_LONG=1 runs it")
	}
}
