//go:build !linux

package input

func machineMemory() int64 { return 0 }
