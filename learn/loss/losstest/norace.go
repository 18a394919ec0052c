//go:build !race

package losstest

const raceEnabled = false
