//go:build !linux

package dataset

func machineMemory() int64 { return 0 }
