package atomicfile

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/listwise/listwise/internal/testing/childtest"
)

// TestMain makes the test's binary a process that writes, for the tests that need
// several of them, or need to kill one.
func TestMain(m *testing.M) {
	childtest.Main(m, func(args []string) error { return child(args[0], args[1]) })
}

// child writes in dir, says "begun" when it is half way, and goes on once it can
// read a line.
func child(how, dir string) error {
	wait := func() error { return childtest.Say("begun") }
	half := func(w io.Writer) error {
		if _, err := io.WriteString(w, strings.Repeat("half", 1<<16)); err != nil {
			return err
		}
		return wait()
	}
	switch how {
	case "file":
		return Write(filepath.Join(dir, "slow"), half)
	case "folder":
		path, remove, err := Folder(dir)
		if err != nil {
			return err
		}
		defer remove()
		if err := os.WriteFile(filepath.Join(path, "S1.txt"), []byte("half"), 0o666); err != nil {
			return err
		}
		return wait()
	case "abandon":
		begun := make(chan struct{})
		go func() {
			_ = Write(filepath.Join(dir, "slow"), func(w io.Writer) error {
				close(begun)
				for {
					if _, err := io.WriteString(w, "more"); err != nil {
						panic(err)
					}
				}
			})
		}()
		if _, _, err := Folder(dir); err != nil {
			return err
		}
		<-begun
		Abandon()
		fmt.Println("begun")
		return nil
	case "many":
		for i := range 300 {
			searched.Clear() // look again every time
			err := Write(filepath.Join(dir, "shared"), func(w io.Writer) error {
				_, err := fmt.Fprintln(w, i)
				return err
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// start starts a child and waits until it is half way.
func start(t *testing.T, how, dir string) *childtest.Process {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("there are no locks that tell dead from living")
	}
	p := childtest.Start(t, how, dir)
	if line, ok := p.Line(); !ok {
		t.Fatal(line)
	}
	return p
}

func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all
}

// Claim: what a process killed by SIGKILL was writing is removed by the next Write of
// another file beside it, and by the next Probe of its folder.
func TestRemainsOfTheKilledAreRemoved(t *testing.T) {
	killed := func(how string) (dir string) {
		dir = t.TempDir()
		cmd := start(t, how, dir)
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if left := names(t, dir); len(left) != 1 {
			t.Fatalf("%s: the killed process left %v", how, left)
		}
		return dir
	}
	for _, how := range []string{"file", "folder"} {
		path := filepath.Join(killed(how), "other")
		if err := Write(path, text("x")); err != nil {
			t.Fatal(err)
		}
		only(t, path, "x")
		dir := killed(how)
		if err := Probe(dir); err != nil {
			t.Fatal(err)
		}
		if left := names(t, dir); left != nil {
			t.Errorf("%s: %v is left after a probe", how, left)
		}
	}
}

// Claim: what a living process writes is left alone and becomes what it should.
func TestFilesOfTheLivingStay(t *testing.T) {
	for how, want := range map[string][]string{"file": {"other", "slow"}, "folder": {"other"}} {
		dir := t.TempDir()
		cmd := start(t, how, dir)
		if err := Write(filepath.Join(dir, "other"), text("x")); err != nil {
			t.Fatal(err)
		}
		if left := names(t, dir); len(left) != 2 {
			t.Errorf("%s: beside the living process's there is %v", how, left)
		}
		cmd.GoOn()
		if err := cmd.Wait(); err != nil {
			t.Errorf("%s: %v", how, err)
		}
		if got := names(t, dir); !slices.Equal(got, want) {
			t.Errorf("%s: found %v, want %v", how, got, want)
		}
	}
}

// Claim: files and folders that only look alike are left alone.
func TestOtherFilesStay(t *testing.T) {
	dir := t.TempDir()
	want := []string{".a.0123456.tmp", ".a.0123456x.tmp", ".parts-old", "a.01234567.tmp", "x"}
	for _, name := range want[:4] {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want = append(want, ".a.01234567.tmp", ".b.01234567.tmp") // no regular files
	if err := os.Mkdir(filepath.Join(dir, ".a.01234567.tmp"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("a.01234567.tmp", filepath.Join(dir, ".b.01234567.tmp")); err != nil {
		t.Skip(err)
	}
	if err := Write(filepath.Join(dir, "x"), text("x")); err != nil {
		t.Fatal(err)
	}
	slices.Sort(want)
	if got := names(t, dir); !slices.Equal(got, want) {
		t.Errorf("found %v, want %v", got, want)
	}
}

// Claim: Abandon leaves nothing of what is being written, and lets nothing be
// written after.
func TestAbandon(t *testing.T) {
	for range 5 {
		dir := t.TempDir()
		cmd := start(t, "abandon", dir)
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
		if left := names(t, dir); left != nil {
			t.Errorf("left %v", left)
		}
	}
}

// Claim: processes that write the same file at once and all look for remains take
// nothing from each other.
func TestManyWriteAtOnce(t *testing.T) {
	dir := t.TempDir()
	var cmds []*childtest.Process
	for range 4 {
		cmds = append(cmds, childtest.Start(t, "many", dir))
	}
	for _, cmd := range cmds {
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	}
	only(t, filepath.Join(dir, "shared"), "299\n")
}

// Claim: a link whose target does not exist stays, and the target is made.
func TestDanglingLinkStays(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "a"), 0o777); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "link")
	for name, target := range map[string]string{"second": filepath.Join("a", "target"), "link": "second"} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Skip(err)
		}
	}
	if err := Write(link, text("new")); err != nil {
		t.Fatal(err)
	}
	only(t, filepath.Join(dir, "a", "target"), "new")
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is gone: %v", err)
	}
	round := filepath.Join(dir, "round")
	if err := os.Symlink("round", round); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- Write(round, text("x")) }()
	select {
	case err := <-done:
		if err == nil {
			t.Error("a link to itself was written")
		}
	case <-time.After(10 * time.Second):
		t.Error("a link to itself is followed for ever")
	}
}
