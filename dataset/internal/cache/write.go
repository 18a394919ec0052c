// Package cache stores a data set in a binary file. The file has the layout of the data set in memory, so it
// is opened by mapping it. Start reading at the description of the format below, then read [Write] and [Read].
package cache

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"iter"
	"math"
	"slices"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/internal/atomicfile"
	"github.com/listwise/listwise/internal/block"
	"github.com/listwise/listwise/internal/parallel"
)

// A cache has the layout of a Dataset in memory, so it is opened by mapping it. All numbers are little-endian:
//
//	offset  size  content
//	0       8     Magic
//	8       4     format version: 2, or 3 if values are missing
//	12      4     CRC32C of all bytes from 16 up to the matrix
//	16      8     number of documents
//	24      8     number of features
//	32      8     number of queries
//	40      8     size of the file
//	48      16    fingerprint of the data set, as bytes
//	64      8·10  lengths in bytes of the ten blocks
//
// The blocks follow, each at the next multiple of 64. Zeros fill the gaps:
//
//	0  ends of the feature names within block 1, a uint32 per feature; or empty
//	1  feature names, UTF-8
//	2  ends of the query ids within block 3, a uint32 per query
//	3  query ids, UTF-8
//	4  numbers of documents, a uint64 per query
//	5  ends of the document ids within block 6, a uint32 per document; or empty
//	6  document ids, UTF-8
//	7  grades, a float64 per document; then, if some weight is not 1, the weights:
//	   a float64 per document and a float64 per query
//	8  input positions of the rows, a uint64 per document; or empty
//	9  CRC32C of the pieces of the matrix, a uint32 per piece of matrixPiece bytes;
//	   the last piece may be shorter
//
// The matrix begins at the next multiple of 64 and ends with the file. It has documents × features values of
// type float32, in row-major order. Warnings are not stored.
//
// The checksums cover all bytes from 16 on, and any change of the bytes before makes the file invalid. A CRC
// detects every changed bit. Read checks the whole file, and the pieces of the matrix in parallel. A streamed
// matrix is checked piece by piece when it is read. In version 2 all values are finite. In version 3 some are
// NaN, which is a missing value. Files of version 1 are refused: the matrix had a single checksum, which was
// not verified on opening.

// Magic is the beginning of every cache.
const Magic = "\x89LWDATA\n"

const (
	version    = 2
	incomplete = 3 // version of files with missing values
	numBlocks  = 10
	headerSize = 64 + 8*numBlocks
	alignment  = 64
)

// matrixPiece is the number of bytes of the matrix under one checksum. It is large enough for the checksum to
// run at full speed, and small enough to keep several cores equally busy. The blocks of a fingerprint have the
// same size.
const matrixPiece = 1 << 20

// Offsets in the header.
const (
	offVersion     = 8
	offSum         = 12
	offNumbers     = 16
	offSize        = 40
	offFingerprint = 48
	offLengths     = 64
)

// Numbers of the blocks.
const (
	blockNameEnds = iota
	blockNames
	blockQueryEnds
	blockQueries
	blockCounts
	blockDocEnds
	blockDocs
	blockGrades
	blockInput
	blockSums
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// aligned returns the next multiple of alignment.
func aligned(n int) int { return (n + alignment - 1) &^ (alignment - 1) }

// Write writes the data set to a file that Read maps into memory without parsing. It replaces an existing file
// after all data are written; data sets opened from the old file stay valid. Warnings are not stored. It is an
// error if a value is infinite, or if it is NaN and d.Missing returns 0.
func Write(path string, d *dataset.Dataset) error { return WriteObserved(path, d, nil) }

// WriteObserved does the work of Write. If observe is not nil, it is called with the number of queries written
// and the total.
func WriteObserved(path string, d *dataset.Dataset, observe func(done, total int)) error {
	head, err := metadata(d)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return atomicfile.Write(path, func(w io.Writer) error { return write(w, head, d, observe) })
}

// Encode writes the data set to a stream in the format of Write.
func Encode(w io.Writer, d *dataset.Dataset) error {
	head, err := metadata(d)
	if err != nil {
		return err
	}
	return write(w, head, d, nil)
}

// write writes head, which metadata returned, and the matrix.
func write(w io.Writer, head []byte, d *dataset.Dataset, observe func(done, total int)) error {
	if _, err := w.Write(head); err != nil {
		return err
	}
	matrix := block.LittleEndian(d.X())
	for done := 0; done < len(matrix); {
		n, err := w.Write(matrix[done:min(len(matrix), done+matrixPiece)])
		if err != nil {
			return err
		}
		done += n
		if observe != nil {
			observe(int(float64(done)/float64(len(matrix))*float64(len(d.Queries))), len(d.Queries))
		}
	}
	return d.Changed()
}

// writer collects the metadata of a cache.
type writer struct {
	buf []byte
	err error
}

func (c *writer) align() {
	c.buf = append(c.buf, make([]byte, aligned(len(c.buf))-len(c.buf))...)
}

// block appends a block. fill appends the content of the block to its argument.
func (c *writer) block(number int, fill func(b []byte) []byte) {
	c.align()
	start := len(c.buf)
	c.buf = fill(c.buf)
	binary.LittleEndian.PutUint64(c.buf[offLengths+8*number:], uint64(len(c.buf)-start))
}

// strings appends two blocks: the ends of strings, and their text.
func (c *writer) strings(ends, text int, each iter.Seq[string]) {
	c.block(ends, func(b []byte) []byte {
		n := 0
		for s := range each {
			n += len(s)
			b = binary.LittleEndian.AppendUint32(b, uint32(n))
		}
		if uint64(n) > math.MaxUint32 {
			c.err = tooLong(n)
		}
		return b
	})
	c.block(text, func(b []byte) []byte {
		for s := range each {
			b = append(b, s...)
		}
		return b
	})
}

// words appends a block of n 64-bit words.
func (c *writer) words(number, n int, word func(i int) uint64) {
	c.block(number, func(b []byte) []byte {
		for i := range n {
			b = binary.LittleEndian.AppendUint64(b, word(i))
		}
		return b
	})
}

// metadata returns the bytes of the file before the matrix.
func metadata(d *dataset.Dataset) ([]byte, error) {
	if n := len(d.FeatureNames); n != 0 && n != d.Features {
		return nil, fmt.Errorf("%d feature names for %d features", n, d.Features)
	}
	c := &writer{buf: make([]byte, headerSize, headerSize+32*d.Docs())}
	c.strings(blockNameEnds, blockNames, slices.Values(d.FeatureNames))
	c.strings(blockQueryEnds, blockQueries, queryIDs(d))
	c.words(blockCounts, len(d.Queries), func(i int) uint64 { return uint64(d.Queries[i].Len()) })
	c.strings(blockDocEnds, blockDocs, docNames(d))
	grades, rows := d.Grades(), d.InputRows()
	c.block(blockGrades, func(b []byte) []byte { return appendWeights(block.AppendFloat64s(b, grades), d) })
	c.words(blockInput, len(rows), func(i int) uint64 { return uint64(rows[i]) })
	sums, err := matrixSums(d)
	if err != nil {
		return nil, err
	}
	c.block(blockSums, func(b []byte) []byte {
		for _, sum := range sums {
			b = binary.LittleEndian.AppendUint32(b, sum)
		}
		return b
	})
	c.align()
	err = c.header(header{docs: d.Docs(), features: d.Features, queries: len(d.Queries), fingerprint: d.Fingerprint()}, d.Missing() > 0)
	binary.LittleEndian.PutUint32(c.buf[offSum:], crc32.Checksum(c.buf[offNumbers:], castagnoli))
	return c.buf, errors.Join(err, c.err)
}

// header sets the header except for its checksum. The lengths of the blocks must be set before.
func (c *writer) header(h header, missing bool) error {
	b, le := c.buf, binary.LittleEndian
	copy(b, Magic)
	le.PutUint32(b[offVersion:], version)
	if missing {
		le.PutUint32(b[offVersion:], incomplete)
	}
	le.PutUint64(b[offNumbers:], uint64(h.docs))
	le.PutUint64(b[offNumbers+8:], uint64(h.features))
	le.PutUint64(b[offNumbers+16:], uint64(h.queries))
	at := headerSize
	for i := range numBlocks {
		at = aligned(at) + int(le.Uint64(b[offLengths+8*i:]))
	}
	le.PutUint64(b[offSize:], uint64(aligned(at)+4*h.docs*h.features))
	sum, err := hex.DecodeString(h.fingerprint)
	copy(b[offFingerprint:offLengths], sum)
	return err
}

// matrixSums returns the checksum of every piece of the matrix. It is an error if a value is neither finite
// nor missing.
func matrixSums(d *dataset.Dataset) ([]uint32, error) {
	sums := make([]uint32, pieces(4*len(d.X())))
	bad := make([]int, len(sums))
	parallel.For(len(sums), 0, func(_, i int) {
		values := d.X()[i*matrixPiece/4 : min((i+1)*matrixPiece/4, len(d.X()))]
		sums[i], bad[i], _ = sumPiece(block.LittleEndian(values), d.Missing() > 0)
	})
	for i, at := range bad {
		if at >= 0 {
			found, expected := notFinite(d, i*matrixPiece/4+at, d.X()[i*matrixPiece/4+at])
			return nil, fmt.Errorf("found %s, expected %s", found, expected)
		}
	}
	return sums, nil
}

// appendWeights appends the weights of documents and queries, if some weight is not 1.
func appendWeights(b []byte, d *dataset.Dataset) []byte {
	if !d.Weighted() {
		return b
	}
	for i := range d.Queries {
		q := &d.Queries[i]
		weights := q.Weights()
		if weights == nil {
			weights = slices.Repeat([]float64{1}, q.Len())
		}
		b = block.AppendFloat64s(b, weights)
	}
	for i := range d.Queries {
		b = block.AppendFloat64s(b, []float64{d.Queries[i].Weight()})
	}
	return b
}

func queryIDs(d *dataset.Dataset) iter.Seq[string] {
	return func(yield func(string) bool) {
		for i := range d.Queries {
			if !yield(d.Queries[i].ID) {
				return
			}
		}
	}
}

// docNames yields the identifiers of all documents, or nothing if none has one.
func docNames(d *dataset.Dataset) iter.Seq[string] {
	return func(yield func(string) bool) {
		if !d.KeepsDocIDs() {
			return
		}
		for i := range d.Queries {
			for j := range d.Queries[i].Len() {
				if !yield(d.Queries[i].DocID(j)) {
					return
				}
			}
		}
	}
}
