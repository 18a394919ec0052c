//go:build !linux

package block

import "os"

const noReserve = 0 // these systems do not reserve memory for mappings

// AdviseSoon does nothing on this system.
func AdviseSoon([]byte) {}

// Forget does nothing on this system.
func Forget([]byte) {}

// AdviseHuge does nothing on this system.
func AdviseHuge([]byte) {}

// reserve sets the size of a file.
func reserve(f *os.File, size int64) error { return f.Truncate(size) }
