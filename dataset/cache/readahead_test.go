package cache

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/memory"
	"github.com/listwise/listwise/internal/block"
	"github.com/listwise/listwise/internal/parallel"
)

// Claim: what is read ahead stays within its memory, whatever is announced and never read, and what
// is read is right, as long as it is lent, with a queue of the system and without.
func TestReadAheadIsBounded(t *testing.T) {
	for _, queued := range []bool{false, true} {
		t.Run(fmt.Sprintf("queued=%v", queued), func(t *testing.T) { readAheadIsBounded(t, queued) })
	}
}

func readAheadIsBounded(t *testing.T, queued bool) {
	rng := rand.New(rand.NewPCG(9, 10))
	path := filepath.Join(t.TempDir(), "d.lwd")
	d := someData(t, rng, 40)
	if err := Write(path, d); err != nil {
		t.Fatal(err)
	}
	s := openStreamed(t, path, dataset.Options{})
	rows, whole := s.Reader().Quiet(), d.Reader()
	m := matrixOf(t, path, 1<<20)
	if !queued {
		m.ahead.queue = nil
	}
	var lent []int
	var loans []dataset.Loan
	var xs [][]float32
	for range 500 {
		q, other := rng.IntN(len(d.Queries)), rng.IntN(len(d.Queries))
		rows.Soon([]int{q})
		m.Soon([]dataset.Part{{From: other, To: other + 1}}) // most of which nobody reads
		if !slices.Equal(rows.At(q), whole.At(q)) {
			t.Fatalf("query %d has other features", q)
		}
		lent = append(lent, q)
		x, loan := m.Lend(q)
		loans, xs = append(loans, loan), append(xs, x)
		for i, q := range lent { // also those whose memory could have been used again
			if want := whole.At(q); !slices.Equal(xs[i], want) {
				t.Fatalf("query %d has other features while it is lent", q)
			}
		}
		if len(lent) > 5 {
			loans[0].Return()
			lent, loans, xs = lent[1:], loans[1:], xs[1:]
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

// Claim: where there is room for large pages, what is lent of them stays as it was until it is returned, to
// several goroutines, and all of it is free when nothing is lent or announced.
func TestLargePages(t *testing.T) {
	path := filepath.Join(t.TempDir(), "d.lwd")
	d := someData(t, rand.New(rand.NewPCG(11, 12)), 2000) // queries of 8 kB to half a MB, and one of 3 MB
	if err := Write(path, d); err != nil {
		t.Fatal(err)
	}
	m := matrixOf(t, path, 1<<30)
	whole := [2]int{m.ahead.most / 8 * 9 / page, m.ahead.most / 8 * 9 / slot}
	parallel.For(4, 4, func(_, worker int) {
		rng := rand.New(rand.NewPCG(13, uint64(worker)))
		for range 200 {
			from := rng.IntN(len(d.Queries))
			to := min(from+1+rng.IntN(3), len(d.Queries))
			m.Soon([]dataset.Part{{From: from, To: to}})
			var xs [][]float32
			var loans []dataset.Loan
			for q := from; q < to; q++ {
				x, loan := m.Lend(q)
				xs, loans = append(xs, x), append(loans, loan)
			}
			for i, loan := range loans {
				if !slices.Equal(xs[i], d.Queries[from+i].X) {
					panic(fmt.Sprintf("query %d has other features", from+i))
				}
				loan.Return()
			}
		}
	})
	free := func() (buffers [2]int, held int) {
		m.ahead.mu.Lock()
		defer m.ahead.mu.Unlock()
		return [2]int{len(m.ahead.pools[0].free), len(m.ahead.pools[1].free)}, m.ahead.held
	}
	buffers, held := free()
	for range 1000 { // the last reads give back their part a little later than they are lent
		if buffers == whole && held == 0 {
			return
		}
		time.Sleep(10 * time.Millisecond)
		buffers, held = free()
	}
	t.Fatalf("%d large and small buffers are free and %d bytes held, expected %d and 0", buffers, held, whole)
}

// Claim: queries that are much longer than others are not all read at once because the window was made for these.
func TestLongQueriesAreNotAnnouncedTogether(t *testing.T) {
	var b dataset.Builder
	const features = 100
	for q := range 2000 {
		docs := 1
		if q < 20 {
			docs = 2000 // 800 kB
		}
		if err := b.Add(strconv.Itoa(q), make([]float64, docs), make([]float32, docs*features), nil); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(t.TempDir(), "d.lwd")
	if err := Write(path, b.Dataset()); err != nil {
		t.Fatal(err)
	}
	m := matrixOf(t, path, 128<<20) // 4 MiB of which are read ahead
	m.Soon([]dataset.Part{{From: 0, To: 20}, {From: 1000, To: 1900}})
	m.ahead.mu.Lock()
	defer m.ahead.mu.Unlock()
	if m.ahead.of[1000] == nil || m.ahead.of[1000] != m.ahead.of[1300] {
		t.Error("short queries are not read together")
	}
	if m.ahead.held > m.together+1<<20 {
		t.Errorf("%d bytes are held, expected %d of short queries and a long one at most", m.ahead.held, m.together)
	}
}

// shortQueries returns the path of a cache of many queries of two documents, and the data.
func shortQueries(t *testing.T, queries int) (string, *dataset.Dataset) {
	t.Helper()
	var b dataset.Builder
	const features = 20
	for q := range queries {
		x := make([]float32, 2*features)
		for i := range x {
			x[i] = float32(q + i)
		}
		if err := b.Add(strconv.Itoa(q), []float64{0, 1}, x, nil); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(t.TempDir(), "d.lwd")
	if err := Write(path, b.Dataset()); err != nil {
		t.Fatal(err)
	}
	return path, b.Dataset()
}

// Claim: queries between which few are left out are read at once, those that are far from each other are not, and what is
// left out is not waited for.
func TestNearQueriesAreReadTogether(t *testing.T) {
	path, _ := shortQueries(t, 5000)
	m := matrixOf(t, path, 64<<20)
	var parts []dataset.Part
	for q := 0; q < 300; q += 3 { // 2 of 3
		parts = append(parts, dataset.Part{From: q, To: q + 2})
	}
	m.Soon(append(parts, dataset.Part{From: 4000, To: 4001}))
	m.ahead.mu.Lock()
	of := m.ahead.of
	if of[0] == nil || of[0] != of[298] || of[2] != nil || of[4000] == nil || of[4000] == of[298] {
		t.Errorf("extents %p of query 0, %p of 298, %p of 2, %p of 4000, expected the first two alike, the third nil", of[0], of[298], of[2], of[4000])
	}
	m.ahead.mu.Unlock()
	for _, p := range append(parts, dataset.Part{From: 4000, To: 4001}) {
		for q := p.From; q < p.To; q++ {
			x, loan := m.Lend(q)
			if x[0] != float32(q) || len(x) != 40 {
				t.Fatalf("query %d has %d values from %v on", q, len(x), x[0])
			}
			loan.Return()
		}
	}
	for range 1000 { // a read gives back its part a little later
		m.ahead.mu.Lock()
		held := m.ahead.held
		m.ahead.mu.Unlock()
		if held == 0 {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Error("bytes are held of which all that was announced was returned")
}

// Claim: short queries that are read in any order are announced no further than there is memory for, and read with it:
// into buffers that were used before, and hardly any again because its memory was taken.
func TestShortQueriesInAnyOrder(t *testing.T) {
	path, d := shortQueries(t, 8000)
	s := openStreamed(t, path, dataset.Options{})
	order := rand.New(rand.NewPCG(14, 15)).Perm(len(d.Queries))
	rows := s.ReaderOf(order)
	pass := func() {
		for i, q := range order {
			if x := rows.At(i); x[0] != float32(q) {
				t.Fatalf("query %d has values from %v on", q, x[0])
			}
		}
	}
	pass()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	pass()
	runtime.ReadMemStats(&after)
	const each = 600 // bytes of what is known of a read; a buffer has 1 KiB at least
	if per := (after.TotalAlloc - before.TotalAlloc) / uint64(len(order)); per > each {
		t.Errorf("%d bytes were allocated for each query, expected %d at most", per, each)
	}
}

// matrixOf returns the matrix of a cache, as a streamed data set has it.
func matrixOf(t *testing.T, path string, limit int64) *matrix {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	c := &file{name: path, mem: memory.New(path, dataset.Options{MaxBytes: limit}), bytes: block.Map(f, info, path)}
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
