//go:build !linux

package main

import "time"

// sleepUntil sleeps as Go does, which may be late by a millisecond.
func sleepUntil(t time.Time) { time.Sleep(time.Until(t)) }
