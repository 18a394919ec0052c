//go:build race

package losstest

// raceEnabled skips the tests of allocations, because the race detector allocates.
const raceEnabled = true
