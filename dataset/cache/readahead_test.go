package cache

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/internal/block"
	"github.com/listwise/listwise/internal/input"
)

// Claim: what is read ahead stays within its memory, whatever is announced and never read, and what
// is read is right.
func TestReadAheadIsBounded(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	path := filepath.Join(t.TempDir(), "d.lwd")
	d := someData(t, rng, 40)
	if err := Write(path, d); err != nil {
		t.Fatal(err)
	}
	s := openStreamed(t, path, dataset.Options{})
	rows, whole := s.Reader().Quiet(), d.Reader()
	m := matrixOf(t, path)
	for range 500 {
		q, other := rng.IntN(len(d.Queries)), rng.IntN(len(d.Queries))
		rows.Soon(q)
		m.Soon(other, other+1) // most of which nobody reads
		x := make([]float32, len(d.Queries[q].X))
		m.Read(x, q)
		if want := whole.At(q); !slices.Equal(rows.At(q), want) || !slices.Equal(x, want) {
			t.Fatalf("query %d has other features", q)
		}
		m.ahead.mu.Lock()
		held := 0
		for _, e := range m.ahead.order[:max(0, len(m.ahead.order)-1)] {
			held += len(e.bytes)
		}
		if held > m.ahead.most || m.ahead.kept > m.ahead.most {
			t.Fatalf("%d bytes are held and %d kept, expected at most %d", held, m.ahead.kept, m.ahead.most)
		}
		m.ahead.mu.Unlock()
	}
}

// matrixOf returns the matrix of a cache, as a streamed data set has it.
func matrixOf(t *testing.T, path string) *matrix {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	c := &file{name: path, mem: input.NewMemory(path, dataset.Options{MaxBytes: 1 << 20}), bytes: block.Map(f, info, path)}
	if c.bytes == nil {
		t.Skip("files are not mapped here")
	}
	t.Cleanup(func() { _ = c.bytes.Close() })
	c.data = c.bytes.Data
	parts, err := c.dataset()
	if err != nil {
		t.Fatal(err)
	}
	return c.newMatrix(parts.Counts, parts.Features)
}
