package atomicfile

import "os"

// behind writes to a file and has the system put on the disk, all the while, what its cache has of it, and forget what
// lies far behind. Of a file as large as memory the cache would else first fill that, and every page then take a
// processor's time to be given up.
type behind struct {
	f           *os.File
	at, started int64 // bytes written, and of these given to the disk
}

var (
	piece int64 = 8 << 20   // bytes that are given to the disk together
	near  int64 = 256 << 20 // bytes that stay in the cache, for who reads the file next
)

// Write implements io.Writer.
func (b *behind) Write(p []byte) (int, error) {
	n, err := b.f.Write(p)
	b.at += int64(n)
	if b.at-b.started >= piece {
		toDisk(b.f, b.started, b.at)
		b.started = b.at
		if far := b.at - near; far > 0 {
			forget(b.f, far)
		}
	}
	return n, err
}
