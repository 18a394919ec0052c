package cache

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/internal/input"
	"github.com/listwise/listwise/dataset/memory"
	"github.com/listwise/listwise/internal/block"
)

// file is a cache that is being read.
type file struct {
	name   string
	mem    *memory.Account
	bytes  *block.File
	data   []byte // content of the file
	matrix []byte // matrix of features, the end of data
	sums   []byte // checksums of the pieces of the matrix
	views  bool   // document identifiers are views of data

	d *dataset.Dataset // data set made from the cache
}

// Read opens a cache. It maps a regular file into memory if the system allows this, and reads other inputs. A
// mapped file no longer belongs to the input. The data set is a view of the bytes, and the caller must close
// it. Errors in the content are of type [*dataset.SyntaxError].
func Read(in *input.Input, opts dataset.Options) (*dataset.Dataset, error) {
	return read(in, opts, false)
}

// read does the work of Read. With views, document identifiers are views of the bytes, too. They must not be
// used after the data set is closed.
func read(in *input.Input, opts dataset.Options, views bool) (d *dataset.Dataset, err error) {
	c := &file{name: in.Name, mem: in.Mem, bytes: in.Map(), views: views}
	if c.bytes == nil {
		if err := c.mem.Take(in.Size, "bytes of a cache"); err != nil {
			return nil, err
		}
		data := make([]byte, in.Size)
		if _, err := in.R.ReadAt(data, 0); err != nil {
			return nil, fmt.Errorf("%s: %w", in.Name, err)
		}
		c.bytes = &block.File{Name: in.Name, Data: data}
	}
	c.data = c.bytes.Data
	c.tell(opts)
	defer func() {
		if err != nil {
			_ = c.bytes.Close() // err is reported instead
		}
	}()
	d, parts, err := c.checked(opts)
	if err != nil {
		return nil, err
	}
	if d, err = c.widen(d, parts, opts); err != nil {
		return nil, err
	}
	d.TakeMissing(c.name, opts.Missing)
	return d, nil
}

// tell passes a mapped file to opts.Opened.
func (c *file) tell(opts dataset.Options) {
	if opts.Opened != nil && c.bytes.Mapped() {
		opts.Opened(c.bytes)
	}
}

// checked returns the cache as a data set, and the parts of the data set. It checks the whole cache, except
// for the matrix of a streamed data set.
func (c *file) checked(opts dataset.Options) (d *dataset.Dataset, parts *dataset.Blocks, err error) {
	defer block.Guard(&err)()
	streamed := c.bytes.Mapped() && (opts.GradesOnly || opts.Stream && (opts.Unheld || c.mem.Exceeds(float64(len(c.data)))))
	c.views = c.views || streamed // copies of so many identifiers would take much memory
	parts, err = c.dataset()
	if err != nil {
		return nil, nil, err
	}
	d, err = c.withMatrix(parts, streamed, opts)
	return d, parts, err
}

// withMatrix returns the data set of the parts and the matrix of the cache. It checks the matrix. A streamed
// matrix is checked while it is read; but if values are missing, it is checked now, because their number must
// be known.
func (c *file) withMatrix(parts *dataset.Blocks, streamed bool, opts dataset.Options) (*dataset.Dataset, error) {
	if streamed {
		if err := c.checkLongest(parts, opts); err != nil {
			return nil, err
		}
		parts.Matrix = c.newMatrix(parts.Counts, parts.Features)
	} else {
		parts.X = block.Float32s(c.matrix)
	}
	c.d = dataset.FromBlocks(*parts)
	if streamed && (!c.incomplete() || opts.GradesOnly) {
		return c.d, c.d.Changed()
	}
	var err error
	if parts.Missing, err = c.checkMatrix(input.Context(opts), opts.Workers); err != nil {
		return nil, err
	}
	if parts.Missing > 0 && opts.Missing == dataset.MissingError {
		return nil, c.firstMissing()
	}
	c.d = dataset.FromBlocks(*parts)
	return c.d, c.d.Changed()
}

// firstMissing returns the error about the first missing value.
func (c *file) firstMissing() error {
	values := block.Float32s(c.matrix)
	i := slices.IndexFunc(values, func(v float32) bool { return v != v })
	found, expected := notFinite(c.d, i, values[i])
	return c.bad(expected+", or to be told what missing values stand for", "%s", found)
}

func (c *file) bad(expected, format string, args ...any) error {
	return &dataset.SyntaxError{File: c.name, Found: fmt.Sprintf(format, args...), Expected: expected}
}

// header is the decoded beginning of a cache.
type header struct {
	docs, features, queries int
	fingerprint             string
	blocks                  [numBlocks][]byte
}

// header checks the header, the lengths of all blocks and the checksum of the metadata.
func (c *file) header() (*header, error) {
	if !bytes.HasPrefix(c.data, []byte(Magic)) {
		return nil, c.bad("a cache", "a file that begins as none")
	}
	le, size := binary.LittleEndian, uint64(len(c.data))
	if size < headerSize {
		return nil, c.bad(fmt.Sprintf("a cache's header of %d", headerSize), "a file of %d bytes", size)
	}
	if v := le.Uint32(c.data[offVersion:]); v != version && v != incomplete {
		return nil, c.bad(fmt.Sprintf("version %d or %d; write the cache anew", version, incomplete), "a cache of format version %d", v)
	}
	if n := le.Uint64(c.data[offSize:]); n != size {
		return nil, c.bad(fmt.Sprintf("the %d that its header tells", n), "a file of %d bytes", size)
	}
	h := new(header)
	at := uint64(headerSize)
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

// sizes checks that the lengths of blocks fit the numbers of documents, features and queries.
func (c *file) sizes(h *header) error {
	want := [numBlocks]int{
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
		if i == blockGrades && len(h.blocks[i]) == 2*n+8*h.queries {
			continue // with weights
		}
		if n > 0 && len(h.blocks[i]) != n && (!optional || len(h.blocks[i]) > 0) {
			return c.bad(strconv.Itoa(n), "a block %d of %d bytes", i, len(h.blocks[i]))
		}
	}
	if n := len(c.matrix); n%4 != 0 || n/4%h.docs != 0 || n/4/h.docs != h.features {
		return c.bad(fmt.Sprintf("4 for each of %d × %d values", h.docs, h.features), "a matrix of %d bytes", n)
	}
	return nil
}

// dataset checks the cache except for its matrix, and returns the parts of a data set. Grades are views of the
// file. Identifiers are copies that may be used after the file is closed, unless c.views is set.
func (c *file) dataset() (d *dataset.Blocks, err error) {
	h, err := c.header()
	if err != nil {
		return nil, err
	}
	// The memory for copies of identifiers and names.
	copied := 2*len(h.blocks[blockQueries]) + 2*len(h.blocks[blockNames]) + memory.QueryBytes*h.queries + 16*h.features
	if !c.views {
		copied += len(h.blocks[blockDocs]) + 4*h.docs
	}
	if len(h.blocks[blockInput]) > 0 {
		copied += memory.RowBytes * h.docs
	}
	if err := c.mem.TakeAll(int64(copied), "queries and identifiers"); err != nil {
		return nil, err
	}
	d = &dataset.Blocks{
		Features:    h.features,
		Grades:      block.Float64s(h.blocks[blockGrades][:8*h.docs]),
		Fingerprint: h.fingerprint,
		File:        c.bytes,
	}
	if d.FeatureNames, err = c.strings(h.blocks[blockNameEnds], h.blocks[blockNames]); err != nil {
		return nil, err
	}
	for _, name := range d.FeatureNames {
		if !utf8.ValidString(name) {
			return nil, c.bad("text in UTF-8", "the name of a feature %q", name)
		}
	}
	if d.IDs, err = c.strings(h.blocks[blockQueryEnds], h.blocks[blockQueries]); err != nil {
		return nil, err
	}
	if d.Counts, err = c.counts(h, d.IDs); err != nil {
		return nil, err
	}
	if d.Docs, err = c.arena(h.blocks[blockDocEnds], h.blocks[blockDocs], c.views); err != nil {
		return nil, err
	}
	for r, g := range d.Grades {
		if !(g >= 0) || g > math.MaxFloat64 {
			return nil, c.bad("a finite non-negative number", "grade %v of document %d", g, r)
		}
	}
	if err := c.weights(h, d); err != nil {
		return nil, err
	}
	if d.InputRow, err = c.inputRows(h.blocks[blockInput]); err != nil {
		return nil, err
	}
	c.sums = h.blocks[blockSums]
	return d, nil
}

// arena checks the ends of strings. It returns the strings as views of text, or as a copy.
func (c *file) arena(ends, text []byte, views bool) (dataset.DocIDs, error) {
	if len(ends) == 0 {
		return dataset.DocIDs{}, nil
	}
	var a dataset.DocIDs
	if views {
		a = dataset.DocIDs{Text: block.Text(text), End: block.Uint32s(ends)}
	} else {
		a = dataset.DocIDs{Text: string(text), End: slices.Clone(block.Uint32s(ends))}
	}
	last := uint32(0)
	for i := range a.End {
		if a.End[i] < last || int(a.End[i]) > len(text) {
			return dataset.DocIDs{}, c.bad(fmt.Sprintf("one from %d to %d", last, len(text)), "an end %d of string %d", a.End[i], i)
		}
		last = a.End[i]
	}
	return a, nil
}

func (c *file) strings(ends, text []byte) ([]string, error) {
	a, err := c.arena(ends, text, false)
	if err != nil || a.End == nil {
		return nil, err
	}
	s := make([]string, len(a.End))
	for i := range s {
		s[i] = a.At(i)
	}
	return s, nil
}

// counts returns the number of documents of each query. It is an error if two queries have the same id.
func (c *file) counts(h *header, ids []string) ([]int, error) {
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

// weights sets the weights of documents and queries, if the cache has them.
func (c *file) weights(h *header, d *dataset.Blocks) error {
	all := h.blocks[blockGrades][8*h.docs:]
	if len(all) == 0 {
		return nil
	}
	d.Weights, d.QueryWeights = block.Float64s(all[:8*h.docs]), block.Float64s(all[8*h.docs:])
	for _, w := range []struct {
		each []float64
		of   string
	}{{d.Weights, "document"}, {d.QueryWeights, "query"}} {
		for i, v := range w.each {
			if dataset.CheckWeight(v) != nil {
				return c.bad("a finite number that is not negative", "the weight %v of %s %d", v, w.of, i)
			}
		}
		if slices.Max(w.each) == 0 {
			return c.bad("one at least that is not", "weights of 0 of every %s", w.of)
		}
	}
	return nil
}

// inputRows returns the input position of each row. The positions must be a permutation.
func (c *file) inputRows(block []byte) ([]int, error) {
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

// widen adds columns of zeros to d if the options request more. parts are the parts of d. Unless d is
// streamed, the result is then a copy, and widen closes the cache.
func (c *file) widen(d *dataset.Dataset, parts *dataset.Blocks, opts dataset.Options) (*dataset.Dataset, error) {
	if opts.Features > 0 && d.Features > opts.Features {
		return nil, c.bad(fmt.Sprintf("at most %d", opts.Features), "%d features", d.Features)
	}
	old, f := d.Features, max(d.Features, opts.Features)
	if d.FeatureNames == nil {
		f = max(f, opts.MinFeatures)
	}
	if f == old {
		return d, nil
	}
	if d.Streamed() {
		wide := d.Widen(f)
		for j := range f {
			switch {
			case parts.FeatureNames == nil:
			case j < old:
				wide.FeatureNames = append(wide.FeatureNames, parts.FeatureNames[j])
			default:
				wide.FeatureNames = append(wide.FeatureNames, strconv.Itoa(j+1))
			}
		}
		return wide, nil
	}
	if err := c.mem.TakeMatrix(d.Docs(), f, true); err != nil {
		return nil, err
	}
	wide := *parts
	wide.X = block.New(d.Docs() * f)
	for r := range d.Docs() {
		copy(wide.X[r*f:], parts.X[r*old:(r+1)*old])
	}
	for j := old; wide.FeatureNames != nil && j < f; j++ {
		wide.FeatureNames = append(wide.FeatureNames, strconv.Itoa(j+1))
	}
	wide.Features, wide.Grades, wide.Weights = f, slices.Clone(parts.Grades), slices.Clone(parts.Weights)
	wide.Fingerprint = "" // it depends on the number of features
	wide.File = nil
	if c.views {
		wide.Docs = dataset.DocIDs{Text: strings.Clone(wide.Docs.Text), End: slices.Clone(wide.Docs.End)}
	}
	return dataset.FromBlocks(wide), c.bytes.Close()
}
