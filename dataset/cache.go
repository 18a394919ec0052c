package dataset

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"iter"
	"math"
	"slices"

	"github.com/listwise/listwise/internal/atomicfile"
)

// The binary cache holds a Dataset as it lies in memory, so that opening it is
// mapping a file. All numbers are little-endian:
//
//	offset  size  what
//	0       8     magic, cacheMagic
//	8       4     format version, cacheVersion
//	12      4     CRC32C of all bytes from 16 up to the matrix block
//	16      4     CRC32C of the matrix block
//	20      4     0
//	24      8     documents
//	32      8     features
//	40      8     queries
//	48      8     size of the file
//	56      8     0
//	64      8·9   lengths in bytes of the nine blocks
//
// The blocks follow, each at the next multiple of 64, the gaps filled with zeros:
//
//	0  ends of the feature names within block 1, uint32 a feature; or empty
//	1  feature names, UTF-8
//	2  ends of the query ids within block 3, uint32 a query
//	3  query ids, UTF-8
//	4  numbers of documents, uint64 a query
//	5  ends of the document ids within block 6, uint32 a document; or empty
//	6  document ids, UTF-8
//	7  grades, float64 a document
//	8  places of the rows among the input's documents, uint64 a document; or empty
//
// and then, again at a multiple of 64, up to the end of the file the matrix,
// float32, documents × features, row-major. Warnings are not kept.
//
// The first checksum is verified and all of the metadata checked on opening. The
// matrix is not touched then, since that would mean to read all of the file:
// [Dataset.Verify] does.

const (
	cacheMagic   = "\x89LWDATA\n"
	cacheVersion = 1
	cacheBlocks  = 9
	cacheHeader  = 64 + 8*cacheBlocks
	cacheAlign   = 64
)

// The blocks by number.
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
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// aligned returns the next multiple of cacheAlign.
func aligned(n int) int { return (n + cacheAlign - 1) &^ (cacheAlign - 1) }

// WriteCache writes the data set to a file that Open maps into memory without
// parsing. A file that is there is replaced, but only once all is written; data
// sets opened from it stay valid. Warnings are not kept.
func WriteCache(path string, d *Dataset) error {
	head, err := cacheMetadata(d)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return atomicfile.Write(path, func(w io.Writer) error {
		if _, err := w.Write(head); err != nil {
			return err
		}
		return writeFloats(w, d.x)
	})
}

// cacheWriter collects the metadata of a cache.
type cacheWriter struct {
	buf []byte
	err error
}

func (c *cacheWriter) align() {
	c.buf = append(c.buf, make([]byte, aligned(len(c.buf))-len(c.buf))...)
}

// block appends a block that fill appends to its argument.
func (c *cacheWriter) block(number int, fill func(b []byte) []byte) {
	c.align()
	start := len(c.buf)
	c.buf = fill(c.buf)
	binary.LittleEndian.PutUint64(c.buf[64+8*number:], uint64(len(c.buf)-start))
}

// strings appends two blocks, the ends and the text of strings.
func (c *cacheWriter) strings(ends, text int, each iter.Seq[string]) {
	c.block(ends, func(b []byte) []byte {
		n := 0
		for s := range each {
			n += len(s)
			b = binary.LittleEndian.AppendUint32(b, uint32(n))
		}
		if uint64(n) > math.MaxUint32 {
			c.err = fmt.Errorf("identifiers take %d bytes, a cache holds at most 4 GiB", n)
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

// words appends a block of 64-bit words.
func (c *cacheWriter) words(number int, each iter.Seq[uint64]) {
	c.block(number, func(b []byte) []byte {
		for w := range each {
			b = binary.LittleEndian.AppendUint64(b, w)
		}
		return b
	})
}

// cacheMetadata returns all of the file before the matrix.
func cacheMetadata(d *Dataset) ([]byte, error) {
	if n := len(d.FeatureNames); n != 0 && n != d.Features {
		return nil, fmt.Errorf("%d feature names for %d features", n, d.Features)
	}
	c := &cacheWriter{buf: make([]byte, cacheHeader, cacheHeader+32*d.Docs())}
	c.strings(blockNameEnds, blockNames, slices.Values(d.FeatureNames))
	c.strings(blockQueryEnds, blockQueries, d.queryIDs())
	c.words(blockCounts, func(yield func(uint64) bool) {
		for i := range d.Queries {
			if !yield(uint64(d.Queries[i].Len())) {
				return
			}
		}
	})
	c.strings(blockDocEnds, blockDocs, d.docNames())
	c.words(blockGrades, func(yield func(uint64) bool) {
		for _, g := range d.grades {
			if !yield(math.Float64bits(g)) {
				return
			}
		}
	})
	c.words(blockInput, func(yield func(uint64) bool) {
		for _, in := range d.inputRow {
			if !yield(uint64(in)) {
				return
			}
		}
	})
	c.align()
	b := c.buf
	sum := crc32.New(castagnoli)
	_ = writeFloats(sum, d.x) // a hash takes everything
	copy(b, cacheMagic)
	le := binary.LittleEndian
	le.PutUint32(b[8:], cacheVersion)
	le.PutUint32(b[16:], sum.Sum32())
	le.PutUint64(b[24:], uint64(d.Docs()))
	le.PutUint64(b[32:], uint64(d.Features))
	le.PutUint64(b[40:], uint64(len(d.Queries)))
	le.PutUint64(b[48:], uint64(len(b)+4*len(d.x)))
	le.PutUint32(b[12:], crc32.Checksum(b[16:], castagnoli))
	return b, c.err
}

func (d *Dataset) queryIDs() iter.Seq[string] {
	return func(yield func(string) bool) {
		for i := range d.Queries {
			if !yield(d.Queries[i].ID) {
				return
			}
		}
	}
}

// docNames yields the identifiers of all documents, or nothing if none has one.
func (d *Dataset) docNames() iter.Seq[string] {
	return func(yield func(string) bool) {
		if !d.hasDocIDs() {
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

func (d *Dataset) hasDocIDs() bool {
	return slices.ContainsFunc(d.Queries, func(q Query) bool { return q.docs.end != nil })
}

// writeFloats writes values in little-endian order.
func writeFloats(w io.Writer, values []float32) error {
	buf := make([]byte, 0, 1<<16)
	for part := range slices.Chunk(values, cap(buf)/4) {
		buf = buf[:0]
		for _, v := range part {
			buf = binary.LittleEndian.AppendUint32(buf, math.Float32bits(v))
		}
		if _, err := w.Write(buf); err != nil {
			return err
		}
	}
	return nil
}
