package atomicfile

import (
	"os"
	"sync"

	"github.com/listwise/listwise/internal/block"
)

// behind writes to a file and has the system put on the disk, all the while, what its cache has of it, and forget what
// lies far behind. Of a file as large as memory the cache would else first fill that, and every page then take a
// processor's time to be given up. A file that leaves most of the memory to others stays in the cache, for who reads it
// next from a disk that may be slow.
type behind struct {
	f           *os.File
	at, started int64 // bytes written, and of these given to the disk
}

// piece is the number of bytes that are given to the disk together.
var piece int64 = 8 << 20

// near returns the number of bytes that stay in the cache: 2 GiB, but no more than a quarter of the memory.
var near = sync.OnceValue(func() int64 {
	const most, least = 2 << 30, 64 << 20
	return max(least, min(most, block.MachineMemory()/4))
})

// Write implements io.Writer.
func (b *behind) Write(p []byte) (int, error) {
	n, err := b.f.Write(p)
	b.at += int64(n)
	if b.at-b.started >= piece {
		ToDisk(b.f, b.started, b.at)
		b.started = b.at
		Forget(b.f, b.at)
	}
	return n, err
}

// Forget asks the system's cache to forget what lies far before a place in a file. All up to that place was given to ToDisk.
func Forget(f *os.File, at int64) {
	if far := at - near(); far > 0 {
		forget(f, far)
	}
}
