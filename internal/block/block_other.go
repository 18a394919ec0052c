//go:build !linux

package block

func adviseHugePages([]float32) {}
