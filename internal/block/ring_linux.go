//go:build linux && (amd64 || arm64)

package block

import (
	"os"
	"syscall"
	"unsafe"
)

// ring is Linux's asynchronous I/O (io_submit(2)), whose reads around the system's cache go on by themselves.
type ring struct {
	context  uintptr
	fd       uint32
	controls []ioControl // of a submit
	pointers []*ioControl
	events   []ioEvent // of a call of ended
	list     []ended
}

// ioControl is struct iocb of linux/aio_abi.h, as little-endian machines have it. What is left blank is 0: an
// operation of 0 reads.
type ioControl struct {
	data   uint64
	_      [2]uint32 // key, flags
	_      [2]uint16 // operation, priority
	fd     uint32
	buf    uint64
	bytes  uint64
	offset int64
	_      [2]uint64 // reserved, and an event to signal
}

// ioEvent is struct io_event.
type ioEvent struct {
	data   uint64
	_      uint64
	result int64 // bytes, or an error's number, negative
	_      int64
}

// open reports whether there is a ring for reads of a file.
func (r *ring) open(f *os.File, depth int) bool {
	_, _, errno := syscall.Syscall(syscall.SYS_IO_SETUP, uintptr(depth), uintptr(unsafe.Pointer(&r.context)), 0)
	r.fd, r.events = uint32(f.Fd()), make([]ioEvent, depth)
	r.controls, r.pointers = make([]ioControl, depth), make([]*ioControl, depth)
	return errno == 0
}

// submit has the system read, and returns how many of the reads it does, from the first on. A slot is what a read is
// known by when it has ended.
func (r *ring) submit(slots []int, reads []*Read) int {
	r.controls, r.pointers = r.controls[:len(reads)], r.pointers[:len(reads)]
	for i, read := range reads {
		r.controls[i] = ioControl{
			data: uint64(slots[i]), fd: r.fd, offset: read.Offset,
			buf: uint64(uintptr(unsafe.Pointer(unsafe.SliceData(read.Bytes)))), bytes: uint64(len(read.Bytes)),
		}
		r.pointers[i] = &r.controls[i]
	}
	n, _, errno := syscall.Syscall(syscall.SYS_IO_SUBMIT, r.context, uintptr(len(reads)), uintptr(unsafe.Pointer(unsafe.SliceData(r.pointers))))
	if errno != 0 {
		return 0
	}
	return int(n)
}

// ended returns reads that have ended, and waits for so many. The list is overwritten by the next call.
func (r *ring) ended(least int) []ended {
	for {
		n, _, errno := syscall.Syscall6(syscall.SYS_IO_GETEVENTS, r.context, uintptr(least), uintptr(len(r.events)), uintptr(unsafe.Pointer(&r.events[0])), 0, 0)
		if errno == syscall.EINTR {
			continue
		}
		if errno != 0 {
			panic("block: io_getevents: " + errno.Error()) // a ring that was closed
		}
		r.list = r.list[:0]
		for _, e := range r.events[:n] {
			one := ended{slot: int(e.data), n: int(e.result)}
			if e.result < 0 {
				one.n, one.err = 0, syscall.Errno(-e.result)
			}
			r.list = append(r.list, one)
		}
		return r.list
	}
}

func (r *ring) close() { _, _, _ = syscall.Syscall(syscall.SYS_IO_DESTROY, r.context, 0, 0) }
