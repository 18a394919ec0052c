//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package block

import (
	"os"
	"syscall"
)

// mapFile maps a file into memory, copy on write, so that changes to the data never change the
// file. It returns nil if the system refuses.
func mapFile(f *os.File, size int64) (data []byte, unmap func([]byte) error) {
	if int64(int(size)) != size {
		return nil, nil
	}
	data, err := syscall.Mmap(int(f.Fd()), 0, int(size), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|noReserve)
	if err != nil {
		return nil, nil
	}
	return data, syscall.Munmap
}
