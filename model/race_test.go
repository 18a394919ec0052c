//go:build race

package model

// The race detector makes sync.Pool forget at random, so allocations cannot be
// counted.
func init() { raceDetector = true }
