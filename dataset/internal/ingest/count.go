package ingest

import (
	"github.com/listwise/listwise/dataset/memory"
	"math"
)

// countAll is the first pass, which is repeated where quotes turn out to stand.
func (r *textReader) countAll() error {
	if err := r.count(); err != nil || r.seen.Quotes == 0 || !r.format.Quotes() {
		return err
	}
	quotes := make([]int, len(r.sizes))
	for i, size := range r.sizes {
		quotes[i] = size.Quotes
	}
	if !r.src.quote(oddBefore(quotes)) {
		return nil
	}
	return r.recount()
}

// recount forgets what was counted and repeats it.
func (r *textReader) recount() error {
	for _, c := range r.chunks {
		if c != nil {
			r.mem.Give(ChunkBytes)
		}
	}
	r.chunks, r.sizes, r.seen, r.broken, r.cut = nil, nil, Size{}, nil, false
	r.format.Recount()
	return r.count()
}

// exceeds reports whether the documents so far take too much memory.
func (r *textReader) exceeds() bool {
	return r.mem.Exceeds(memory.DocumentsNeed(r.seen.Docs, r.format.Width(r.seen.Feature)))
}

// oddBefore reports of each chunk whether those before have an odd number of quotes.
func oddBefore(quotes []int) []bool {
	odd, sum := make([]bool, len(quotes)), 0
	for i, n := range quotes {
		odd[i] = sum%2 == 1
		sum += n
	}
	return odd
}

// count goes over all chunks. It ends early where the documents so far take too much
// memory, or where an index is so large that it must be a mistake.
func (r *textReader) count() error {
	r.stop.Store(math.MaxInt64)
	var full error
	r.src.Each(&r.stop, func(_ int, c Chunk) {
		size := r.format.Count(c)
		r.mu.Lock()
		defer r.mu.Unlock()
		for len(r.chunks) <= c.Index {
			r.chunks, r.sizes = append(r.chunks, nil), append(r.sizes, Size{})
		}
		r.chunks[c.Index], r.sizes[c.Index] = &Part{Docs: size.Docs, Lines: size.Lines}, size
		r.density = max(r.density, float64(size.Lines)/float64(max(1, c.Lines())))
		if c.Err != nil && int64(c.Index) <= r.stop.Load() {
			r.broken, r.last = c.Err, c.Index
		}
		r.seen.Docs += size.Docs
		r.seen.Quotes += size.Quotes
		r.seen.Feature = max(r.seen.Feature, size.Feature)
		if err := r.mem.Take(ChunkBytes, "lines"); err != nil && full == nil {
			full = err
		}
		wrong := r.seen.Feature > r.format.Limit()
		large := !wrong && !r.passing && r.exceeds()
		r.cut = r.cut || large && len(r.chunks) < r.src.Chunks()
		switch {
		case c.Err != nil:
			r.stop.Store(min(r.stop.Load(), int64(c.Index)))
		case wrong || large || full != nil: // all chunks before the last seen will be seen
			r.stop.Store(min(r.stop.Load(), int64(len(r.chunks)-1)))
		}
	})
	end := r.stop.Swap(math.MaxInt64)
	if err := r.context(); err != nil {
		return err
	}
	if r.cut && full == nil {
		r.forget(int(end) + 1)
	}
	return full
}

// forget makes the chunks from one on uncounted: some between them were not counted.
func (r *textReader) forget(from int) {
	for _, c := range r.chunks[from:] {
		if c != nil {
			r.mem.Give(ChunkBytes)
		}
	}
	r.chunks, r.sizes, r.seen = r.chunks[:from], r.sizes[:from], Size{}
	for _, size := range r.sizes {
		r.seen.Docs += size.Docs
		r.seen.Quotes += size.Quotes
		r.seen.Feature = max(r.seen.Feature, size.Feature)
	}
	if r.last >= from {
		r.broken, r.last = nil, 0
	}
}

// ChunkBytes is how much memory is counted for a chunk.
const ChunkBytes = 160

// fits counts the memory that the documents take. If it is too much, the error is
// of the documents up to the first chunk at which it is, for any number of
// workers.
func (r *textReader) fits() (at int, err error) {
	docs, feature := 0, 0
	for i, s := range r.sizes {
		if r.chunks[i] == nil {
			continue
		}
		docs, feature = docs+s.Docs, max(feature, s.Feature)
		width, last := r.format.Width(feature), i == len(r.chunks)-1
		if need := memory.DocumentsNeed(docs, width); last || r.mem.Exceeds(need) {
			return i, r.mem.TakeMatrix(docs, width, last && !r.cut)
		}
	}
	return 0, nil
}

// layout gives each chunk its place and returns the number of documents, the
// largest feature index and why the text broke off, if it did.
func (r *textReader) layout() (docs, feature int, broken error) {
	lines := 0
	for i, c := range r.chunks {
		if c == nil {
			continue
		}
		c.Row, c.Line = docs, lines
		docs += c.Docs
		lines += c.Lines
		feature = max(feature, r.sizes[i].Feature)
	}
	return docs, feature, r.broken
}

// counted tells the format what is counted. Its errors are those of the text as far as it
// could be read.
func (r *textReader) counted() error {
	switch err := r.format.Counted(len(r.chunks)); {
	case err == nil:
		return nil
	case r.broken != nil:
		return Locate(r.broken, r.name, r.chunks[r.last].Line+r.sizes[r.last].Lines+1)
	default:
		return Locate(err, r.name, 0)
	}
}
