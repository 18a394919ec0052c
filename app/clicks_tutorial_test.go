package app

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/listwise/listwise/internal/testing/sessions"
)

// Claim: the tutorial of clicks works from an empty folder, with a server and simulated users, and prints what the page
// says.
func TestClicksTutorial(t *testing.T) {
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("not run: found no bash")
	}
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	build := exec.Command("go", "build", "-o", bin, "./examples/users")
	build.Dir = root
	if text, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	// The test's binary behaves as the command under this name: see TestMain.
	if err := os.Symlink(os.Args[0], filepath.Join(bin, "listwise")); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	t.Chdir(t.TempDir())
	copied(filepath.Join(root, "docs/guide/data"))(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, err := net.SplitHostPort(listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	sessions.CheckShell(t, filepath.Join(root, "docs/guide/clicks.md"), strings.NewReplacer("localhost:8080", "localhost:"+port))
}
