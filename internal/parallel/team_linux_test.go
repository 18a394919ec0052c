package parallel

import (
	"runtime"
	"syscall"
	"testing"
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
	for range 10000 {
		team.Run(func(int) { runtime.Gosched() })
		touched = touched || team.members[0].faults.Load() > 0
	}
	if !touched {
		t.Error("nothing was read ahead in 10,000 pieces of work")
	}
}
