package ingest

import (
	"math"
	"sync/atomic"

	"github.com/listwise/listwise/dataset/memory"
)

// countAll counts the text, in the first pass over it. At first, chunks end at any line feed. If the text
// has quotes, chunks are cut again, only at line feeds outside quotes, and counted again.
func (s *documents) countAll() error {
	quoted, ok := s.format.(Quoted)
	if err := s.count(); err != nil || s.seen.Quotes == 0 || !ok {
		return err
	}
	quotes := make([]int, len(s.sizes))
	for i, size := range s.sizes {
		quotes[i] = size.Quotes
	}
	if !s.src.quote(oddBefore(quotes)) {
		return nil
	}
	s.mem.Give(ChunkBytes * int64(len(s.sizes)))
	quoted.Recount()
	return s.count()
}

// oddBefore reports, for each chunk, whether an odd number of quotes precedes it.
func oddBefore(quotes []int) []bool {
	odd, sum := make([]bool, len(quotes)), 0
	for i, n := range quotes {
		odd[i] = sum%2 == 1
		sum += n
	}
	return odd
}

// count counts all chunks. It stops early at a feature index above the limit. It also stops if the
// documents exceed the memory limit even without features: a short compressed file may contain any number
// of documents.
func (s *documents) count() error {
	s.sizes, s.seen, s.broken = nil, Size{}, nil
	var stop atomic.Int64
	stop.Store(math.MaxInt64)
	var full error
	s.src.Each(&stop, func(_ int, c Chunk) {
		size := s.format.Count(c)
		s.mu.Lock()
		defer s.mu.Unlock()
		if more := c.Index + 1 - len(s.sizes); more > 0 {
			s.sizes = append(s.sizes, make([]Size, more)...)
			if err := s.mem.Take(ChunkBytes*int64(more), "lines"); err != nil && full == nil {
				full = err
			}
		}
		s.sizes[c.Index] = size
		s.density = max(s.density, float64(size.Lines)/float64(max(1, c.Lines())))
		s.seen.Docs += size.Docs
		s.seen.Lines += size.Lines
		s.seen.Quotes += size.Quotes
		s.seen.Feature = max(s.seen.Feature, size.Feature)
		if need := int64(s.seen.Docs) * memory.DocumentBytes; s.held && full == nil && s.mem.Exceeds(float64(need)) {
			full = s.mem.Take(need, "documents")
		}
		switch {
		case c.Err != nil && int64(c.Index) <= stop.Load():
			s.broken, s.last = c.Err, c.Index
			stop.Store(int64(c.Index))
		case s.seen.Feature > s.format.Limit() || full != nil: // all chunks before the last one seen are still counted
			stop.Store(min(stop.Load(), int64(len(s.sizes)-1)))
		}
	})
	if err := s.context(); err != nil {
		return err
	}
	return full
}

// ChunkBytes is the memory that is counted for the data about a chunk.
const ChunkBytes = 160

// settle makes the first pass over the text, which counts documents and lines, and returns the number of
// columns of features. It is an error if there are no documents or features, too many features or documents
// for the limits, or a syntax error found by the pass.
func (s *documents) settle() (width int, err error) {
	if err := s.countAll(); err != nil {
		return 0, err
	}
	if err := s.format.Counted(); err != nil {
		if s.broken == nil {
			return 0, Locate(err, s.name, 0)
		}
		line := 1
		for _, size := range s.sizes[:s.last+1] {
			line += size.Lines
		}
		return 0, Locate(s.broken, s.name, line)
	}
	width = s.format.Width(s.seen.Feature)
	if s.broken != nil || s.seen.Feature > s.format.Limit() || s.seen.Docs == 0 || width == 0 {
		return 0, s.mistake(width)
	}
	return width, nil
}
