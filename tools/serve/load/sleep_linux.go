package main

import (
	"syscall"
	"time"
	"unsafe"
)

// held is the longest time that a thread sleeps unnoticed by the runtime. The runtime cannot
// collect garbage meanwhile.
const held = 2 * time.Millisecond

// sleepUntil sleeps by the system's clock. The last part of the sleep is unnoticed by the runtime.
// Otherwise the runtime would check the sleeping thread every 20 µs and give its processor to
// another thread. The two additional wake-ups per request would take processor time from the
// server.
func sleepUntil(t time.Time) {
	for wait := time.Until(t); wait > 0; wait = time.Until(t) {
		if wait > held {
			rest := syscall.NsecToTimespec(int64(wait - held))
			_ = syscall.Nanosleep(&rest, nil) // the loop continues after a signal
			continue
		}
		rest := syscall.NsecToTimespec(int64(wait))
		_, _, _ = syscall.RawSyscall(syscall.SYS_NANOSLEEP, uintptr(unsafe.Pointer(&rest)), 0, 0)
	}
}
