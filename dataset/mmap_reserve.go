//go:build darwin || dragonfly || freebsd || netbsd || openbsd

package dataset

const noReserve = 0 // these systems do not reserve memory for mappings
