// Package long says whether the tests that take long run. They do if the environment variable
// LISTWISE_LONG is set, as make checks sets it.
package long

import (
	"os"
	"testing"
)

// Enabled reports whether the long tests run.
func Enabled() bool { return os.Getenv("LISTWISE_LONG") != "" }

// Test skips a test that takes long, unless the long tests run.
func Test(t testing.TB) {
	t.Helper()
	if !Enabled() {
		t.Skip("takes long: LISTWISE_LONG=1 runs it")
	}
}
