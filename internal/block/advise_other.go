//go:build !linux

package block

// AdviseSoon does nothing where no such advice is taken.
func AdviseSoon([]byte) {}
