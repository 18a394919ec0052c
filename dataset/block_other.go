//go:build !linux

package dataset

func adviseHugePages([]float32) {}
