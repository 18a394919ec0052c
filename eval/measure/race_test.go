//go:build race

package measure

// The race detector makes sync.Pool forget at random, so allocations cannot be
// counted.
func init() { raceDetector = true }
