//go:build darwin || dragonfly || freebsd || netbsd || openbsd

package block

const noReserve = 0 // these systems do not reserve memory for mappings
