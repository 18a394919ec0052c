//go:build !unix

package app

// ignoreFileSizeSignal does nothing, because the system has no such signal.
func ignoreFileSizeSignal() {}
