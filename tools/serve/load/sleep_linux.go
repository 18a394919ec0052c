package main

import (
	"syscall"
	"time"
)

// sleepUntil sleeps by the system's clock, which is some 50 µs late at most on a core that is free.
func sleepUntil(t time.Time) {
	for wait := time.Until(t); wait > 0; wait = time.Until(t) {
		rest := syscall.NsecToTimespec(int64(wait))
		_ = syscall.Nanosleep(&rest, nil) // what a signal cuts short is slept again
	}
}
