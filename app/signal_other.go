//go:build !unix

package app

// ignoreFileSizeSignal does nothing: there is no such signal.
func ignoreFileSizeSignal() {}
