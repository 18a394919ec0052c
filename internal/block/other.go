//go:build !linux

package block

const noReserve = 0 // these systems do not reserve memory for mappings

// AdviseSoon does nothing where no such advice is taken.
func AdviseSoon([]byte) {}

func adviseHugePages([]byte) {}
