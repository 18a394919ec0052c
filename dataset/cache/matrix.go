package cache

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
	"slices"
	"sort"
	"sync"
	"sync/atomic"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/internal/block"
	"github.com/listwise/listwise/internal/parallel"
)

// matrix is the matrix of a cache that is read query by query, as [dataset.Matrix] says. Its
// checksums are those of pieces, in which queries begin and end anywhere; since the checksum of a
// piece is a sum over its parts (checksum.go), a query is added to the sums of its pieces when it is
// first read, whatever the order, and a piece is judged when all of it was. So the file is not read
// once more to be checked. Check, before results are handed on, completes the pieces of which a
// part was read.
type matrix struct {
	c        *file
	size     int // in bytes
	ahead    *readAhead
	window   int // queries that a reader announces
	alone    int // those of them that are not neighbours, at most
	together int // bytes that are announced at a time, at most
	features int
	starts   []int                                                      // row of each query's first document, and the number of rows
	describe func(query, value int, v float32) (found, expected string) // of a value that is not finite

	checked bool            // by then, nothing remains to be done
	seen    []atomic.Uint64 // a bit a query: it was read
	mu      sync.Mutex
	parts   []piece
}

// piece is what was seen of a piece of the matrix.
type piece struct {
	sum  uint32 // of the parts that were seen
	left int    // bytes that were not
}

// newMatrix returns the matrix of queries with the given numbers of documents.
func (c *file) newMatrix(counts []int, features int) *matrix {
	m := &matrix{c: c, size: len(c.matrix), features: features, starts: make([]int, len(counts)+1)}
	for i, n := range counts {
		m.starts[i+1] = m.starts[i] + n
	}
	cores := parallel.Workers(0, math.MaxInt)
	m.ahead = newReadAhead(c.bytes, int64(len(c.data)-len(c.matrix)), c.mem.Limit(), cores)
	mean := max(1, len(c.matrix)/max(1, len(counts)))
	m.window, m.alone = m.ahead.windows(cores, mean)
	m.together = m.ahead.window(cores) / 4
	m.seen = make([]atomic.Uint64, (len(counts)+63)/64)
	m.parts = make([]piece, pieces(len(c.matrix)))
	for i := range m.parts {
		m.parts[i].left = min(matrixPiece, len(c.matrix)-i*matrixPiece)
	}
	return m
}

// span returns where the bytes of a query are in the matrix.
func (m *matrix) span(query int) (from, to int) {
	return 4 * m.features * m.starts[query], 4 * m.features * m.starts[query+1]
}

// describeAt is describe for a value of the matrix.
func (m *matrix) describeAt(value int, v float32) (found, expected string) {
	row := value / m.features
	query := sort.Search(len(m.starts)-1, func(q int) bool { return m.starts[q+1] > row })
	return m.describe(query, value-m.starts[query]*m.features, v)
}

// Window implements dataset.Matrix.
func (m *matrix) Window() (queries, alone int) { return m.window, m.alone }

// Soon implements dataset.Matrix. A window is so many queries of the mean length: of longer ones, fewer are announced,
// and what is not is read when it is asked for. Parts with little between them are read at once, with that.
func (m *matrix) Soon(parts []dataset.Part) {
	list := make([]announcement, 0, len(parts))
	kept := make([]dataset.Part, 0, len(parts))
	for _, p := range parts {
		p, begin, end := m.fitting(p)
		if end-begin > max(m.together, m.ahead.most/4) {
			continue
		}
		kept = append(kept, p)
		if last := len(list) - 1; last >= 0 && m.near(list[last], begin, end) {
			list[last].parts, list[last].end = kept[len(kept)-1-len(list[last].parts):], end
			continue
		}
		list = append(list, announcement{kept[len(kept)-1:], begin, end})
	}
	m.ahead.soon(list)
}

// fitting returns the beginning of a part that is not too long to be read at once, one query at least, and where its bytes
// are in the matrix.
func (m *matrix) fitting(p dataset.Part) (cut dataset.Part, begin, end int) {
	begin, end = m.span(p.From)
	cut = dataset.Part{From: p.From, To: p.From + 1}
	for ; cut.To < p.To; cut.To++ {
		_, further := m.span(cut.To)
		if further-begin > m.together {
			break
		}
		end = further
	}
	return cut, begin, end
}

// near reports whether bytes of the matrix come so soon after those of an announcement that one read for both is less
// work than two, and are not too many together.
func (m *matrix) near(a announcement, begin, end int) bool {
	const little = 4 << 10 // of a page of the file or two, most of which is read anyway
	return a.end <= begin && begin-a.end <= little && end-a.begin <= m.together
}

// Lend implements dataset.Matrix.
func (m *matrix) Lend(query int) ([]float32, dataset.Loan) {
	from, to := m.span(query)
	e, err := m.ahead.lend(query, from, to)
	if err != nil {
		panic(&block.Failure{Err: err})
	}
	b := e.part(from, to)
	if err := m.look(query, b, from); err != nil {
		panic(&block.Failure{Err: err})
	}
	return block.Float32s(b), e
}

// look adds a query that is read for the first time to the sums of its pieces.
func (m *matrix) look(query int, b []byte, from int) error {
	word, bit := &m.seen[query/64], uint64(1)<<(query%64)
	if m.checked || word.Load()&bit != 0 || word.Or(bit)&bit != 0 {
		return nil
	}
	if !block.AllFinite(b) {
		bad := block.FirstNotFinite(b)
		found, expected := m.describe(query, bad, block.Float32s(b)[bad])
		return m.c.bad(expected, "%s", found)
	}
	for at := from; at < from+len(b); {
		i := at / matrixPiece
		end := min((i+1)*matrixPiece, from+len(b))
		sum := m.share(i, b[at-from:end-from], end)
		m.mu.Lock()
		p := &m.parts[i]
		p.sum ^= sum
		p.left -= end - at
		done := *p
		m.mu.Unlock()
		if err := m.judge(i, done); err != nil {
			return err
		}
		at = end
	}
	return nil
}

// share returns what the bytes of a piece up to a place of the matrix add to its checksum.
func (m *matrix) share(i int, b []byte, end int) uint32 {
	behind := min((i+1)*matrixPiece, m.size) - end
	return shifted(crc32.Checksum(b, castagnoli), behind)
}

// judge compares the checksum of a piece, all of which was seen, with the one in the file.
func (m *matrix) judge(i int, p piece) error {
	if want := binary.LittleEndian.Uint32(m.c.sums[4*i:]); p.left == 0 && p.sum != want {
		from := i * matrixPiece
		return m.c.bad(fmt.Sprintf("%08x; the cache is damaged, write it anew", want), "a checksum of %08x of the matrix's bytes %d to %d", p.sum, from, min(from+matrixPiece, m.size)-1)
	}
	return nil
}

// Check implements dataset.Matrix: it reads what is missing of pieces of which a part was read.
func (m *matrix) Check() error {
	for i := range m.parts {
		if m.checked {
			break
		}
		m.mu.Lock()
		p := m.parts[i]
		m.mu.Unlock()
		if size := min(matrixPiece, m.size-i*matrixPiece); p.left == 0 || p.left == size {
			continue
		}
		if err := m.complete(i, p); err != nil {
			return err
		}
	}
	return nil
}

// complete judges a piece after reading the parts of it that belong to queries not read before.
func (m *matrix) complete(i int, p piece) error {
	from, to := i*matrixPiece, min((i+1)*matrixPiece, m.size)
	row := from / (4 * m.features)
	query := sort.Search(len(m.starts)-1, func(q int) bool { return m.starts[q+1] > row })
	for ; query < len(m.starts)-1; query++ {
		begin, end := m.span(query)
		begin, end = max(begin, from), min(end, to)
		if begin >= to {
			break
		}
		if m.seen[query/64].Load()&(1<<(query%64)) != 0 {
			continue
		}
		b := make([]byte, end-begin)
		if err := m.ahead.fetch(b, begin); err != nil {
			return err
		}
		p.sum ^= m.share(i, b, end)
		p.left -= len(b)
	}
	return m.judge(i, p)
}

// scan judges all of the matrix of a cache with missing values, which is not looked at again, and
// returns how many are missing. It is an error if some are and the policy is to have none.
func (m *matrix) scan(ctx context.Context, policy dataset.Missing) (missing int, err error) {
	buf := make([]byte, matrixPiece)
	for i := range m.parts {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		from := i * matrixPiece
		b := buf[:min(matrixPiece, m.size-from)]
		if err := m.ahead.fetch(b, from); err != nil {
			return 0, err
		}
		sum, bad, holes := checkPiece(b, true)
		if err := m.judge(i, piece{sum: sum}); err != nil {
			return 0, err
		}
		if policy == dataset.MissingError && holes > 0 && bad < 0 {
			bad = slices.IndexFunc(block.Float32s(b), func(v float32) bool { return v != v })
		}
		if bad >= 0 {
			found, expected := m.describeAt(from/4+bad, block.Float32s(b)[bad])
			if holes > 0 {
				expected += ", or to be told what missing values stand for"
			}
			return 0, m.c.bad(expected, "%s", found)
		}
		missing += holes
	}
	if missing == 0 {
		return 0, m.c.bad("one at least", "no missing value in a cache of version %d", incomplete)
	}
	m.checked = true
	return missing, nil
}
