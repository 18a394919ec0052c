//go:build !linux

package main

import "time"

// sleepUntil sleeps by time.Sleep, which may wake up a millisecond late.
func sleepUntil(t time.Time) { time.Sleep(time.Until(t)) }
