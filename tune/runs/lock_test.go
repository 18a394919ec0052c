//go:build !windows

package runs

import (
	"testing"
	"time"
)

// Claim: LockFolder waits until the folder is unlocked.
func TestLockFolderWaits(t *testing.T) {
	dir := t.TempDir()
	unlock, err := LockFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	got := make(chan func())
	go func() {
		second, err := LockFolder(dir)
		if err != nil {
			t.Error(err)
		}
		got <- second
	}()
	select {
	case <-got:
		t.Fatal("the folder was locked twice")
	case <-time.After(50 * time.Millisecond):
	}
	unlock()
	(<-got)()
}
