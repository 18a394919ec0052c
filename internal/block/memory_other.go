//go:build !linux

package block

// MachineMemory returns 0, which means unknown.
func MachineMemory() int64 { return 0 }
