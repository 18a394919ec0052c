package cache

import (
	"crypto/sha256"
	"fmt"
	"os"
	"sync"

	"github.com/listwise/listwise/internal/atomicfile"
	"github.com/listwise/listwise/internal/parallel"
)

// written looks at pieces of a matrix as soon as all of their bytes are in the file, while the system's cache has them:
// afterwards they would have to come from the disk. What was looked at is put on the disk all the while.
type written struct {
	f      *os.File
	matrix int64 // where it begins
	size   int
	left   []int // bytes of each piece that are not there yet
	next   int   // the first piece of which some are not
	sums   []pieceSums

	queue chan int
	crew  sync.WaitGroup
}

// pieceSums is what is known of a piece.
type pieceSums struct {
	known bool
	crc   uint32
	sha   [sha256.Size]byte
	holes int
	err   error
}

// newWritten returns what looks at the pieces of a matrix of so many bytes that begins at a place of the file; its end
// must be called.
func newWritten(f *os.File, matrix int64, size int) *written {
	n := pieces(size)
	w := &written{f: f, matrix: matrix, size: size, left: make([]int, n), sums: make([]pieceSums, n), queue: make(chan int, 16)}
	for i := range w.left {
		w.left[i] = w.length(i)
	}
	for range parallel.Workers(0, n) {
		w.crew.Go(func() {
			var memory []byte
			for i := range w.queue {
				if memory == nil {
					memory = make([]byte, matrixPiece)
				}
				w.look(i, memory)
			}
		})
	}
	return w
}

// length returns the bytes of a piece.
func (w *written) length(i int) int { return min(matrixPiece, w.size-i*matrixPiece) }

// wrote says that bytes from ≤ i < to of the matrix are in the file. Each byte is said once.
func (w *written) wrote(from, to int64) {
	for to = min(to, int64(w.size)); from < to; {
		i := int(from / matrixPiece)
		end := min(to, int64(i+1)*matrixPiece)
		if w.left[i] -= int(end - from); w.left[i] == 0 {
			w.queue <- i
			w.behind()
		}
		from = end
	}
}

// behind has the system forget what lies far behind the pieces that are there.
func (w *written) behind() {
	const often = 16
	before := w.next / often
	for w.next < len(w.left) && w.left[w.next] == 0 {
		w.next++
	}
	if w.next/often > before {
		atomicfile.Forget(w.f, w.matrix+int64(w.next)*matrixPiece)
	}
}

// end returns when no piece is being looked at.
func (w *written) end() {
	close(w.queue)
	w.crew.Wait()
}

// changed says that bytes from ≤ i < to of the matrix are others since, after end.
func (w *written) changed(from, to int64) {
	for i := from / matrixPiece; i*matrixPiece < to; i++ {
		w.sums[i].known = false
	}
}

// rest looks at the pieces that are not known, after end.
func (w *written) rest() {
	memory := make([][]byte, parallel.Workers(0, len(w.sums)))
	parallel.For(len(w.sums), 0, func(worker, i int) {
		if w.sums[i].known {
			return
		}
		if memory[worker] == nil {
			memory[worker] = make([]byte, matrixPiece)
		}
		w.look(i, memory[worker])
	})
}

// look reads a piece and its sums.
func (w *written) look(i int, memory []byte) {
	piece, s, at := memory[:w.length(i)], &w.sums[i], w.matrix+int64(i)*matrixPiece
	*s = pieceSums{known: true}
	if _, s.err = w.f.ReadAt(piece, at); s.err != nil {
		return
	}
	var bad int
	if s.crc, bad, s.holes = checkPiece(piece, true); bad >= 0 {
		s.err = fmt.Errorf("found the infinite value %d, expected finite ones", i*matrixPiece/4+bad)
	}
	s.sha = sha256.Sum256(piece)
	atomicfile.ToDisk(w.f, at, at+int64(len(piece)))
}
