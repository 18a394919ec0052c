package parallel

import (
	"runtime"
	"syscall"
	"testing"
	"time"
	"unsafe"
)

// Claim: memory that cannot be read, as that of a file that was truncated, does not end the process when it is read
// ahead, nor the work of the team.
func TestTeamSurvivesFaultsAhead(t *testing.T) {
	bytes, err := syscall.Mmap(-1, 0, 1<<16, syscall.PROT_NONE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := syscall.Munmap(bytes); err != nil {
			t.Error(err)
		}
	}()
	team := NewTeam(2)
	defer team.Close()
	team.Ahead = unsafe.Slice((*float32)(unsafe.Pointer(&bytes[0])), len(bytes)/4)
	touched := false
	for begun := time.Now(); !touched && time.Since(begun) < 20*time.Second; { // other work may have the processors
		team.Run(func(int) { runtime.Gosched() })
		touched = team.members[0].faults.Load() > 0
	}
	if !touched {
		t.Error("nothing was read ahead in 20 seconds of pieces of work")
	}
}
