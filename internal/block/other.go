//go:build !linux

package block

import "os"

const noReserve = 0 // these systems do not reserve memory for mappings

// AdviseSoon does nothing where no such advice is taken.
func AdviseSoon([]byte) {}

// Forget does nothing where no such advice is taken.
func Forget([]byte) {}

// AdviseHuge does nothing where no such advice is taken.
func AdviseHuge([]byte) {}

// reserve gives a file its size.
func reserve(f *os.File, size int64) error { return f.Truncate(size) }
