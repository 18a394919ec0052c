package dataset

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"os"
	"strconv"
	"unsafe"
)

// cacheFile is the memory that a Dataset opened from a cache views.
type cacheFile struct {
	name   string
	mem    *memory
	data   []byte
	matrix []byte               // the end of data
	unmap  func(b []byte) error // nil if data is the garbage collector's

	// Of a mapped file, nil for others:
	file *os.File    // kept open to see whether it changes
	info os.FileInfo // before the first byte was read
}

// openCache opens a cache: mapped into memory if it is a file, where the system
// can, otherwise read. A file that is mapped is taken from the input.
func openCache(in *input, opts Options) (d *Dataset, err error) {
	c := &cacheFile{name: in.name, mem: in.mem}
	if in.file != nil {
		c.data, c.unmap = mapFile(in.file, in.size)
	}
	if c.unmap != nil {
		c.file, c.info, in.file = in.file, in.info, nil
		c.track()
	} else {
		if err := c.mem.take(in.size, "bytes of a cache"); err != nil {
			return nil, err
		}
		c.data = make([]byte, in.size)
		if _, err := in.r.ReadAt(c.data, 0); err != nil {
			return nil, fmt.Errorf("%s: %w", in.name, err)
		}
	}
	defer func() {
		if err != nil {
			_ = c.close() // the error at hand is the one to tell
		}
	}()
	d, err = c.checked(opts)
	if err != nil {
		return nil, err
	}
	return d, d.widen(opts)
}

// checked returns the cache as a data set, all of it checked.
func (c *cacheFile) checked(opts Options) (d *Dataset, err error) {
	defer GuardFaults(&err)()
	d, sums, err := c.dataset()
	if err == nil {
		err = c.checkMatrix(opts.context(), d, sums, opts.Workers)
	}
	if err == nil {
		err = d.Changed()
	}
	return d, err
}

func (c *cacheFile) close() error {
	if c.unmap == nil {
		return nil
	}
	c.untrack()
	unmap := c.unmap
	c.unmap = nil
	return errors.Join(unmap(c.data), c.file.Close())
}

func (c *cacheFile) bad(expected, format string, args ...any) error {
	return &SyntaxError{File: c.name, Found: fmt.Sprintf(format, args...), Expected: expected}
}

// header is the checked beginning of a cache.
type header struct {
	docs, features, queries int
	fingerprint             string
	blocks                  [cacheBlocks][]byte
}

// header checks all that it takes to know where everything is, and the checksum
// of the metadata.
func (c *cacheFile) header() (*header, error) {
	le, size := binary.LittleEndian, uint64(len(c.data))
	if size < cacheHeader {
		return nil, c.bad(fmt.Sprintf("a cache's header of %d", cacheHeader), "a file of %d bytes", size)
	}
	if v := le.Uint32(c.data[offVersion:]); v != cacheVersion {
		return nil, c.bad(fmt.Sprintf("version %d; write the cache anew", cacheVersion), "a cache of format version %d", v)
	}
	if n := le.Uint64(c.data[offSize:]); n != size {
		return nil, c.bad(fmt.Sprintf("the %d that its header tells", n), "a file of %d bytes", size)
	}
	h := new(header)
	at := uint64(cacheHeader)
	for i := range h.blocks {
		at = min(uint64(aligned(int(at))), size)
		n := le.Uint64(c.data[offLengths+8*i:])
		if n > size-at {
			return nil, c.bad(fmt.Sprintf("at most the %d that are left", size-at), "a block %d of %d bytes", i, n)
		}
		h.blocks[i] = c.data[at : at+n : at+n]
		at += n
	}
	at = min(uint64(aligned(int(at))), size)
	c.matrix = c.data[at:]
	if got, want := crc32.Checksum(c.data[offNumbers:at], castagnoli), le.Uint32(c.data[offSum:]); got != want {
		return nil, c.bad(fmt.Sprintf("%08x; the cache is damaged, write it anew", want), "a metadata checksum of %08x", got)
	}
	for i, n := range []*int{&h.docs, &h.features, &h.queries} {
		v := le.Uint64(c.data[offNumbers+8*i:])
		if v == 0 || v > size {
			return nil, c.bad("a positive one that fits the file", "a number %d (of %s)", v, [...]string{"documents", "features", "queries"}[i])
		}
		*n = int(v)
	}
	h.fingerprint = hex.EncodeToString(c.data[offFingerprint:offLengths])
	return h, c.sizes(h)
}

// sizes checks that the blocks have the sizes that the numbers of documents,
// features and queries ask for.
func (c *cacheFile) sizes(h *header) error {
	want := [cacheBlocks]int{
		blockNameEnds:  4 * h.features,
		blockQueryEnds: 4 * h.queries,
		blockCounts:    8 * h.queries,
		blockDocEnds:   4 * h.docs,
		blockGrades:    8 * h.docs,
		blockInput:     8 * h.docs,
		blockSums:      4 * pieces(len(c.matrix)),
	}
	for i, n := range want {
		optional := i == blockNameEnds || i == blockDocEnds || i == blockInput
		if n > 0 && len(h.blocks[i]) != n && (!optional || len(h.blocks[i]) > 0) {
			return c.bad(strconv.Itoa(n), "a block %d of %d bytes", i, len(h.blocks[i]))
		}
	}
	if n := len(c.matrix); n%4 != 0 || n/4%h.docs != 0 || n/4/h.docs != h.features {
		return c.bad(fmt.Sprintf("4 for each of %d × %d values", h.docs, h.features), "a matrix of %d bytes", n)
	}
	return nil
}

// dataset checks all of the cache but the matrix and returns a Dataset that views
// its grades and matrix, and the checksums of the latter. Identifiers are copied, so
// that they outlive the mapping.
func (c *cacheFile) dataset() (d *Dataset, sums []byte, err error) {
	h, err := c.header()
	if err != nil {
		return nil, nil, err
	}
	// Identifiers are copied, once as a whole and names once more each.
	copied := len(h.blocks[blockDocs]) + 4*h.docs + 2*len(h.blocks[blockQueries]) + 2*len(h.blocks[blockNames]) + queryBytes*h.queries + 16*h.features
	if len(h.blocks[blockInput]) > 0 {
		copied += inputRowBytes * h.docs
	}
	if err := c.mem.take(int64(copied), "identifiers"); err != nil {
		return nil, nil, err
	}
	d = &Dataset{Features: h.features, x: viewFloat32(c.matrix), grades: viewFloat64(h.blocks[blockGrades]), cache: c}
	if d.FeatureNames, err = c.strings(h.blocks[blockNameEnds], h.blocks[blockNames]); err != nil {
		return nil, nil, err
	}
	ids, err := c.strings(h.blocks[blockQueryEnds], h.blocks[blockQueries])
	if err != nil {
		return nil, nil, err
	}
	counts, err := c.counts(h, ids)
	if err != nil {
		return nil, nil, err
	}
	docs, err := c.arena(h.blocks[blockDocEnds], h.blocks[blockDocs])
	if err != nil {
		return nil, nil, err
	}
	for r, g := range d.grades {
		if !(g >= 0) || g > math.MaxFloat64 {
			return nil, nil, c.bad("a finite non-negative number", "grade %v of document %d", g, r)
		}
	}
	if d.inputRow, err = c.inputRows(h.blocks[blockInput]); err != nil {
		return nil, nil, err
	}
	d.cut(ids, counts, docs)
	d.remember(h.fingerprint)
	return d, h.blocks[blockSums], nil
}

// arena checks the ends of strings and copies them and their text.
func (c *cacheFile) arena(ends, text []byte) (docIDs, error) {
	if len(ends) == 0 {
		return docIDs{}, nil
	}
	a := docIDs{text: string(text), end: make([]uint32, len(ends)/4)}
	last := uint32(0)
	for i := range a.end {
		a.end[i] = binary.LittleEndian.Uint32(ends[4*i:])
		if a.end[i] < last || int(a.end[i]) > len(text) {
			return docIDs{}, c.bad(fmt.Sprintf("one from %d to %d", last, len(text)), "an end %d of string %d", a.end[i], i)
		}
		last = a.end[i]
	}
	return a, nil
}

func (c *cacheFile) strings(ends, text []byte) ([]string, error) {
	a, err := c.arena(ends, text)
	if err != nil || a.end == nil {
		return nil, err
	}
	s := make([]string, len(a.end))
	for i := range s {
		s[i] = a.at(i)
	}
	return s, nil
}

// counts returns the queries' numbers of documents.
func (c *cacheFile) counts(h *header, ids []string) ([]int, error) {
	counts, left := make([]int, h.queries), uint64(h.docs)
	known := make(map[string]bool, h.queries)
	for i, id := range ids {
		n := binary.LittleEndian.Uint64(h.blocks[blockCounts][8*i:])
		if n == 0 || n > left {
			return nil, c.bad(fmt.Sprintf("1 to %d", left), "%d documents of query %q", n, id)
		}
		if known[id] {
			return nil, c.bad("different ones", "two queries of id %q", id)
		}
		known[id] = true
		counts[i] = int(n)
		left -= n
	}
	if left > 0 {
		return nil, c.bad("none", "%d documents of no query", left)
	}
	return counts, nil
}

// inputRows returns the places of the rows, which must be a permutation.
func (c *cacheFile) inputRows(block []byte) ([]int, error) {
	if len(block) == 0 {
		return nil, nil
	}
	rows := make([]int, len(block)/8)
	seen := make([]bool, len(rows))
	for r := range rows {
		in := binary.LittleEndian.Uint64(block[8*r:])
		if in >= uint64(len(rows)) || seen[in] {
			return nil, c.bad(fmt.Sprintf("every number below %d once", len(rows)), "input place %d of row %d", in, r)
		}
		seen[in] = true
		rows[r] = int(in)
	}
	return rows, nil
}

// widen gives a data set from a cache the columns that the options ask for. If
// that means to add some, the data set is copied from the cache and closes it.
func (d *Dataset) widen(opts Options) error {
	if opts.Features > 0 && d.Features > opts.Features {
		return d.cache.bad(fmt.Sprintf("at most %d", opts.Features), "%d features", d.Features)
	}
	old, f := d.Features, max(d.Features, opts.Features, opts.MinFeatures)
	if f == old {
		return nil
	}
	if err := d.cache.mem.takeMatrix(d.Docs(), f, true); err != nil {
		return err
	}
	x := newBlock(d.Docs() * f)
	for r := range d.Docs() {
		copy(x[r*f:], d.x[r*old:(r+1)*old])
	}
	for j := old; d.FeatureNames != nil && j < f; j++ {
		d.FeatureNames = append(d.FeatureNames, strconv.Itoa(j+1))
	}
	d.Features, d.x, d.grades = f, x, append([]float64(nil), d.grades...)
	for i := range d.Queries {
		q := &d.Queries[i]
		from, to := q.Start, q.Start+q.Len()
		q.X, q.Grades = x[from*f:to*f:to*f], d.grades[from:to:to]
	}
	d.Modified() // the number of features is part of the fingerprint
	c := d.cache
	d.cache = nil
	return c.close()
}

// Close releases what Open holds for the data set: the mapping of a cache. Neither
// the data set nor a slice obtained from it may be used afterwards; identifiers,
// and data sets made from it, may. Closing twice, or a data set from elsewhere,
// does nothing.
func (d *Dataset) Close() error {
	if d.cache == nil {
		return nil
	}
	c := d.cache
	d.cache, d.Queries, d.x, d.grades = nil, nil, nil, nil
	return c.close()
}

// viewFloat32 returns the little-endian numbers in b: the same memory where the
// processor is little-endian too and b aligned, else a copy.
func viewFloat32(b []byte) []float32 {
	n := len(b) / 4
	if native(b, unsafe.Alignof(float32(0))) {
		return unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(b))), n)
	}
	x := newBlock(n)
	for i := range x {
		x[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return x
}

// viewFloat64 is viewFloat32 for float64.
func viewFloat64(b []byte) []float64 {
	n := len(b) / 8
	if native(b, unsafe.Alignof(float64(0))) {
		return unsafe.Slice((*float64)(unsafe.Pointer(unsafe.SliceData(b))), n)
	}
	x := make([]float64, n)
	for i := range x {
		x[i] = math.Float64frombits(binary.LittleEndian.Uint64(b[8*i:]))
	}
	return x
}

// viewWords returns the 64-bit little-endian words in b, as viewFloat64 does.
func viewWords(b []byte) []uint64 {
	n := len(b) / 8
	if native(b, unsafe.Alignof(uint64(0))) {
		return unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(b))), n)
	}
	x := make([]uint64, n)
	for i := range x {
		x[i] = binary.LittleEndian.Uint64(b[8*i:])
	}
	return x
}

func native(b []byte, align uintptr) bool {
	little := binary.NativeEndian.Uint16([]byte{1, 0}) == 1
	return little && uintptr(unsafe.Pointer(unsafe.SliceData(b)))%align == 0
}

// littleEndian returns the values as the bytes of a cache: the same memory where
// the processor is little-endian, else a copy.
func littleEndian(values []float32) []byte {
	if binary.NativeEndian.Uint16([]byte{1, 0}) == 1 {
		return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(values))), 4*len(values))
	}
	b := make([]byte, 0, 4*len(values))
	for _, v := range values {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
	}
	return b
}
