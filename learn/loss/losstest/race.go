//go:build race

package losstest

// raceEnabled: the race detector allocates.
const raceEnabled = true
