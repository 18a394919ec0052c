//go:build race

package serve_test

func init() { raceDetector = true }
