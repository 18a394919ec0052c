//go:build !linux

package block

// MachineMemory returns 0: nothing is known.
func MachineMemory() int64 { return 0 }
