package cache

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"os"
	"slices"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/internal/input"
	"github.com/listwise/listwise/dataset/stream"
	"github.com/listwise/listwise/internal/atomicfile"
	"github.com/listwise/listwise/internal/block"
	"github.com/listwise/listwise/internal/parallel"
)

// Stream returns a cache as a source of documents. Until the source is closed, the cache and its document
// identifiers stay mapped, which takes little memory of the process. A matrix larger than opts.MaxBytes is
// read query by query. Missing values are an error with dataset.MissingError; with other policies they are
// visited as NaN.
func Stream(in *input.Input, opts dataset.Options) (stream.Source, error) {
	if opts.Missing != dataset.MissingError {
		opts.Missing = dataset.MissingKeep
	}
	opts.Stream = true
	d, err := read(in, opts, true)
	if err != nil {
		return nil, err
	}
	return stream.Of(d), nil
}

// WriteStream writes the documents of a plan to a cache. The file has the same bytes as with [Write], but the
// documents need not fit in memory. Each document is written to its position in the file. Then the file is
// read once to compute checksums. If observe is not nil, it is called with the number of queries written and
// the total.
func WriteStream(path string, p *stream.Plan, observe func(done, total int)) error {
	return atomicfile.WriteFile(path, func(f *os.File) error { return BuildStream(f, p, observe) })
}

// BuildStream does the work of WriteStream for a new file that is open.
func BuildStream(f *os.File, p *stream.Plan, observe func(done, total int)) error {
	b, err := newBuilder(p)
	if err != nil {
		return err
	}
	if err := f.Truncate(b.size()); err != nil {
		return err
	}
	return b.build(f, observe)
}

// build writes the file, which already has its final size.
func (b *builder) build(f *os.File, observe func(done, total int)) error {
	p := b.plan
	b.f = f
	b.index()
	err := p.Each(func(part *stream.Part) error {
		if observe != nil {
			observe(part.Runs[len(part.Runs)-1].Query(), len(p.IDs))
		}
		return b.put(part)
	})
	if err == nil {
		err = b.finish()
	}
	if err == nil && observe != nil {
		observe(len(p.IDs), len(p.IDs))
	}
	return err
}

// builder writes a cache from documents in any order.
type builder struct {
	f      *os.File
	plan   *stream.Plan
	head   *writer          // header of the file
	at     [numBlocks]int64 // position of each block
	matrix int64            // position of the matrix
	holes  map[int]bool     // queries with missing values that must be filled

	err   error  // error of the first failed write
	bytes []byte // buffer for writes
}

// size returns the size of the file in bytes.
func (b *builder) size() int64 { return b.matrix + 4*int64(b.plan.Docs)*int64(b.plan.Features) }

// newBuilder computes the positions of all parts of the file.
func newBuilder(p *stream.Plan) (*builder, error) {
	c := &writer{buf: make([]byte, headerSize)}
	b := &builder{plan: p, head: c, holes: make(map[int]bool)}
	lengths := map[int]int{
		blockNameEnds: 4 * len(p.FeatureNames), blockNames: totalLength(p.FeatureNames),
		blockQueryEnds: 4 * len(p.IDs), blockQueries: totalLength(p.IDs), blockCounts: 8 * len(p.Counts),
		blockGrades: 8 * p.Docs, blockSums: 4 * pieces(4*p.Docs*p.Features),
	}
	if p.Weighted() {
		lengths[blockGrades] += 8 * (p.Docs + len(p.IDs))
	}
	if p.KeepsDocIDs {
		lengths[blockDocEnds], lengths[blockDocs] = 4*p.Docs, p.DocBytes()
	}
	if p.Reordered {
		lengths[blockInput] = 8 * p.Docs
	}
	at := len(c.buf)
	for i := range numBlocks {
		at = aligned(at)
		b.at[i] = int64(at)
		at += lengths[i]
		binary.LittleEndian.PutUint64(c.buf[offLengths+8*i:], uint64(lengths[i]))
	}
	b.matrix = int64(aligned(at))
	if n := max(lengths[blockNames], lengths[blockQueries], lengths[blockDocs]); uint64(n) > math.MaxUint32 {
		return nil, tooLong(n)
	}
	return b, nil
}

func totalLength(list []string) (n int) {
	for _, s := range list {
		n += len(s)
	}
	return n
}

// index writes the names of features, and the ids and numbers of documents of queries.
func (b *builder) index() {
	p, le := b.plan, binary.LittleEndian
	for _, list := range []struct {
		ends, text int
		of         []string
	}{{blockNameEnds, blockNames, p.FeatureNames}, {blockQueryEnds, blockQueries, p.IDs}} {
		end := 0
		b.list(b.at[list.ends], len(list.of), func(to []byte, i int) []byte {
			end += len(list.of[i])
			return le.AppendUint32(to, uint32(end))
		})
		b.list(b.at[list.text], len(list.of), func(to []byte, i int) []byte { return append(to, list.of[i]...) })
	}
	b.list(b.at[blockCounts], len(p.Counts), func(to []byte, i int) []byte { return le.AppendUint64(to, uint64(p.Counts[i])) })
}

// list writes n elements from position at on. add appends an element to a buffer.
func (b *builder) list(at int64, n int, add func(to []byte, i int) []byte) {
	const some = 1 << 16
	b.bytes = b.bytes[:0]
	for i := range n {
		if b.bytes = add(b.bytes, i); len(b.bytes) >= some || i == n-1 {
			b.write(at, b.bytes)
			at, b.bytes = at+int64(len(b.bytes)), b.bytes[:0]
		}
	}
}

// put writes the documents of a part.
func (b *builder) put(part *stream.Part) error {
	row, le := int64(part.Row), binary.LittleEndian
	b.write(b.matrix+4*row*int64(b.plan.Features), block.LittleEndian(part.X))
	b.bytes = block.AppendFloat64s(b.bytes[:0], part.Grades)
	b.write(b.at[blockGrades]+8*row, b.bytes)
	if b.plan.Weighted() {
		weights := part.Weights
		if weights == nil {
			weights = slices.Repeat([]float64{1}, len(part.Grades))
		}
		b.bytes = block.AppendFloat64s(b.bytes[:0], weights)
		b.write(b.at[blockGrades]+8*int64(b.plan.Docs)+8*row, b.bytes)
	}
	if b.plan.KeepsDocIDs {
		b.bytes = b.bytes[:0]
		for i := range part.Grades {
			end := part.Text
			if part.DocEnd != nil {
				end += int(part.DocEnd[i])
			}
			b.bytes = le.AppendUint32(b.bytes, uint32(end))
		}
		b.write(b.at[blockDocEnds]+4*row, b.bytes)
		b.write(b.at[blockDocs]+int64(part.Text), part.DocText)
	}
	if b.plan.Reordered {
		b.bytes = b.bytes[:0]
		for i := range part.Grades {
			in := part.Input + i
			if part.InputRow != nil {
				in = part.InputRow[i]
			}
			b.bytes = le.AppendUint64(b.bytes, uint64(in))
		}
		b.write(b.at[blockInput]+8*row, b.bytes)
	}
	if part.Incomplete && b.plan.Missing() == dataset.MissingMin {
		b.note(part)
	}
	return b.err
}

// write writes bytes at a position, unless an earlier write failed.
func (b *builder) write(at int64, bytes []byte) {
	if b.err == nil && len(bytes) > 0 {
		_, b.err = b.f.WriteAt(bytes, at)
	}
}

// note records the queries of a part that have missing values.
func (b *builder) note(part *stream.Part) {
	x := part.X
	for i := range part.Runs {
		n := part.Runs[i].Docs * b.plan.Features
		if slices.ContainsFunc(x[:n], func(v float32) bool { return v != v }) {
			b.holes[part.Runs[i].Query()] = true
		}
		x = x[n:]
	}
}

// finish fills missing values, and writes weights of queries, checksums and the header.
func (b *builder) finish() error {
	if err := b.fill(); err != nil {
		return err
	}
	p := b.plan
	crc, sha, missing, err := b.sums()
	if err != nil {
		return err
	}
	b.write(b.at[blockSums], crc)
	fingerprint := dataset.NewFingerprinter(p.Features)
	for q, id := range p.IDs {
		fingerprint.Query(id, p.Counts[q])
	}
	if err := b.numbers(fingerprint); err != nil {
		return err
	}
	for _, sum := range sha {
		fingerprint.Block(sum)
	}
	err = b.head.header(header{docs: p.Docs, features: p.Features, queries: len(p.IDs), fingerprint: fingerprint.Sum()}, missing)
	if err != nil {
		return err
	}
	b.write(0, b.head.buf)
	if b.err != nil {
		return b.err
	}
	sum := uint32(0)
	err = b.each(offNumbers, b.matrix, func(bytes []byte) { sum = crc32.Update(sum, castagnoli, bytes) })
	b.write(offSum, binary.LittleEndian.AppendUint32(nil, sum))
	return errors.Join(err, b.err)
}

// numbers adds grades and weights to the fingerprint, and writes the weights of queries.
func (b *builder) numbers(f *dataset.Fingerprinter) error {
	p := b.plan
	at, size := b.at[blockGrades], 8*int64(p.Docs)
	tell := func(bytes []byte) { f.Numbers(block.Float64s(bytes)) }
	if err := b.each(at, at+size, tell); err != nil || !p.Weighted() {
		return err
	}
	queries := p.QueryWeights
	f.Weights(queries, nil)
	if queries == nil {
		queries = slices.Repeat([]float64{1}, len(p.IDs))
	}
	b.write(at+2*size, block.AppendFloat64s(nil, queries))
	if !p.DocWeights {
		return nil
	}
	f.WeightsOf("documents")
	return b.each(at+size, at+2*size, tell)
}

// each calls visit with consecutive pieces of the file between two positions. The length of each piece except
// the last is a multiple of 8.
func (b *builder) each(from, to int64, visit func(bytes []byte)) error {
	buf := make([]byte, matrixPiece)
	for from < to {
		n := min(int64(len(buf)), to-from)
		if _, err := b.f.ReadAt(buf[:n], from); err != nil {
			return err
		}
		visit(buf[:n])
		from += n
	}
	return nil
}

// sums returns two checksums of each piece of the matrix: crc for the cache and sha for the fingerprint.
// missing reports whether values are missing.
func (b *builder) sums() (crc []byte, sha [][sha256.Size]byte, missing bool, err error) {
	size := 4 * b.plan.Docs * b.plan.Features
	n := pieces(size)
	crc, sha = make([]byte, 4*n), make([][sha256.Size]byte, n)
	holes, errs := make([]int, n), make([]error, n)
	memory := make([][]byte, parallel.Workers(0, n))
	for worker := range memory {
		memory[worker] = make([]byte, min(matrixPiece, size))
	}
	parallel.For(n, 0, func(worker, i int) {
		piece := memory[worker][:min(matrixPiece, size-i*matrixPiece)]
		if _, errs[i] = b.f.ReadAt(piece, b.matrix+int64(i)*matrixPiece); errs[i] != nil {
			return
		}
		sum, bad, missing := sumPiece(piece, true)
		if bad >= 0 {
			errs[i] = fmt.Errorf("found the infinite value %d, expected finite ones", i*matrixPiece/4+bad)
		}
		binary.LittleEndian.PutUint32(crc[4*i:], sum)
		sha[i], holes[i] = sha256.Sum256(piece), missing
	})
	missing = slices.ContainsFunc(holes, func(n int) bool { return n > 0 })
	return crc, sha, missing, errors.Join(errs...)
}

// The pieces of a cache must be the blocks of a fingerprint.
var _ = [1]struct{}{}[matrixPiece-4*dataset.FingerprintBlock]

// fill replaces missing values by the smallest value of the feature within the query.
func (b *builder) fill() error {
	if len(b.holes) == 0 {
		return nil
	}
	row := 0
	for q, n := range b.plan.Counts {
		if b.holes[q] {
			if err := b.fillQuery(row, n); err != nil {
				return err
			}
		}
		row += n
	}
	return nil
}

// fillQuery fills the missing values of a query, some documents at a time. row is the first row of the query.
func (b *builder) fillQuery(row, docs int) error {
	f := b.plan.Features
	least := slices.Repeat([]float32{float32(math.Inf(1))}, f)
	pass := func(visit func(x []float32) bool) error {
		most := stream.BatchDocs(f)
		buf := block.New(min(docs, most) * f)
		for from := 0; from < docs; from += most {
			x := buf[:min(most, docs-from)*f]
			at := b.matrix + 4*int64(row+from)*int64(f)
			if err := b.readValues(x, at); err != nil {
				return err
			}
			if visit(x) {
				b.write(at, block.LittleEndian(x))
			}
		}
		return b.err
	}
	err := pass(func(x []float32) bool {
		for k, v := range x {
			if v == v {
				least[k%f] = min(least[k%f], v) // min(0, −0) is −0
			}
		}
		return false
	})
	if err != nil {
		return err
	}
	for j, v := range least {
		if v > math.MaxFloat32 { // missing for all documents
			least[j] = 0
		}
	}
	return pass(func(x []float32) (changed bool) {
		for k, v := range x {
			if v != v {
				x[k], changed = least[k%f], true
			}
		}
		return changed
	})
}

// readValues reads values of the matrix from position at.
func (b *builder) readValues(x []float32, at int64) error {
	b.bytes = slices.Grow(b.bytes[:0], 4*len(x))[:4*len(x)]
	if _, err := io.ReadFull(io.NewSectionReader(b.f, at, int64(len(b.bytes))), b.bytes); err != nil {
		return err
	}
	copy(x, block.Float32s(b.bytes))
	return nil
}

// tooLong returns the error about identifiers with n bytes.
func tooLong(n int) error {
	return fmt.Errorf("identifiers take %d bytes, a cache holds at most 4 GiB", n)
}
