package cache

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
	"sort"
	"sync/atomic"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/internal/block"
	"github.com/listwise/listwise/internal/parallel"
)

// pieces returns the number of pieces of a matrix of n bytes.
func pieces(n int) int { return (n + matrixPiece - 1) / matrixPiece }

// piecesAhead is the number of pieces that the system is asked to read while earlier pieces are checked.
// Otherwise the disk would be idle during each check.
const piecesAhead = 8

// checkMatrix checks all pieces of the matrix. It returns the number of missing values, or the error about the
// first damaged piece.
func (c *file) checkMatrix(ctx context.Context, workers int) (missing int, err error) {
	n := pieces(len(c.matrix))
	wrong, counts := make([]error, n), make([]int, n)
	var first atomic.Int64 // first piece with an error so far
	first.Store(math.MaxInt64)
	parallel.For(n, workers, func(_, i int) {
		if int64(i) > first.Load() || ctx.Err() != nil {
			return
		}
		if i%piecesAhead == 0 && c.bytes.Mapped() {
			block.AdviseSoon(c.matrix[min((i+piecesAhead)*matrixPiece, len(c.matrix)):min((i+2*piecesAhead)*matrixPiece, len(c.matrix))])
		}
		if counts[i], wrong[i] = c.checkPiece(i); wrong[i] != nil {
			first.Store(min(first.Load(), int64(i))) // a lost race only costs time
		}
	})
	for i, err := range wrong {
		if err != nil {
			return 0, err
		}
		missing += counts[i]
	}
	if missing == 0 && c.incomplete() && ctx.Err() == nil {
		return 0, c.bad("one at least", "no missing value in a cache of version %d", incomplete)
	}
	return missing, ctx.Err()
}

// piece returns the bytes of a piece of the matrix.
func (c *file) piece(i int) []byte {
	return c.matrix[i*matrixPiece : min((i+1)*matrixPiece, len(c.matrix))]
}

// checkPiece checks the checksum and the values of a piece of the matrix, and returns the number of missing
// values. It is an error if a value is infinite, or if it is NaN in a cache without missing values.
func (c *file) checkPiece(i int) (missing int, err error) {
	piece, from := c.piece(i), i*matrixPiece
	sum, bad, missing := sumPiece(piece, c.incomplete())
	if want := binary.LittleEndian.Uint32(c.sums[4*i:]); sum != want {
		return 0, c.bad(fmt.Sprintf("%08x; the cache is damaged, write it anew", want), "a checksum of %08x of the matrix's bytes %d to %d", sum, from, from+len(piece)-1)
	}
	if bad >= 0 {
		found, expected := notFinite(c.d, from/4+bad, block.Float32s(piece)[bad])
		return 0, c.bad(expected, "%s", found)
	}
	return missing, nil
}

// incomplete reports whether the cache has missing values.
func (c *file) incomplete() bool {
	return binary.LittleEndian.Uint32(c.data[offVersion:]) == incomplete
}

// sumPiece returns the checksum of a piece of a matrix, the index of its first invalid value, or −1, and the
// number of missing values. Infinities are invalid. NaN is valid if mayMiss is set. The piece is processed in
// parts that stay in the processor's first cache.
func sumPiece(piece []byte, mayMiss bool) (sum uint32, bad, missing int) {
	const part = 1 << 14
	bad = -1
	for from := 0; from < len(piece); from += part {
		b := piece[from:min(from+part, len(piece))]
		sum = crc32.Update(sum, castagnoli, b)
		if bad >= 0 || block.AllFinite(b) {
			continue
		}
		at, holes := block.FirstNotFinite(b), 0
		if mayMiss {
			at, holes = firstInfinite(b)
		}
		if missing += holes; at >= 0 {
			bad = from/4 + at
		}
	}
	return sum, bad, missing
}

// firstInfinite returns the index of the first infinite float32 in b, or −1, and the number of NaN.
func firstInfinite(b []byte) (at, missing int) {
	at = -1
	for i := 0; i+4 <= len(b); i += 4 {
		switch v := math.Float32frombits(binary.LittleEndian.Uint32(b[i:])); {
		case v != v:
			missing++
		case at < 0 && math.IsInf(float64(v), 0):
			at = i / 4
		}
	}
	return at, missing
}

// notFinite describes v, value i of the matrix, for a [dataset.SyntaxError]. The value is not finite.
func notFinite(d *dataset.Dataset, i int, v float32) (found, expected string) {
	row := i / d.Features
	q := &d.Queries[sort.Search(len(d.Queries), func(k int) bool { return d.Queries[k].Start > row })-1]
	doc := row - q.Start
	found = fmt.Sprintf("value %v of feature %d of document %d of query %q", v, i%d.Features+1, doc+1, q.ID)
	if id := q.DocID(doc); id != "" {
		found += fmt.Sprintf(" (%q)", id)
	}
	return found, "a finite number"
}
