//go:build !unix

package cli

// ignoreFileSizeSignal does nothing: there is no such signal.
func ignoreFileSizeSignal() {}
