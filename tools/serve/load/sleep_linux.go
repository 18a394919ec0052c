package main

import (
	"syscall"
	"time"
	"unsafe"
)

// held is how long a thread may sleep without the runtime's knowledge, in which it cannot collect garbage.
const held = 2 * time.Millisecond

// sleepUntil sleeps by the system's clock. The last of it passes without the runtime's knowledge: this would
// otherwise look after the sleeping thread every 20 µs and give its processor to another thread, which takes
// from the server what two wake-ups a request cost.
func sleepUntil(t time.Time) {
	for wait := time.Until(t); wait > 0; wait = time.Until(t) {
		if wait > held {
			rest := syscall.NsecToTimespec(int64(wait - held))
			_ = syscall.Nanosleep(&rest, nil) // what a signal cuts short is slept again
			continue
		}
		rest := syscall.NsecToTimespec(int64(wait))
		_, _, _ = syscall.RawSyscall(syscall.SYS_NANOSLEEP, uintptr(unsafe.Pointer(&rest)), 0, 0)
	}
}
