package block

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// queued returns a file of random bytes and a queue of it.
func queued(t *testing.T, size, depth int) (f *File, q *Queue, text []byte) {
	t.Helper()
	text = make([]byte, size)
	rng := rand.NewChaCha8([32]byte{7})
	_, _ = rng.Read(text)
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	info, err := file.Stat()
	if err != nil {
		t.Fatal(err)
	}
	if f = Map(file, info, path); f == nil {
		_ = file.Close()
		t.Skip("files are not mapped here")
	}
	t.Cleanup(func() { _ = f.Close() })
	if q = f.NewQueue(depth); q == nil {
		t.Skip("the system reads nothing by itself here")
	}
	return f, q, text
}

// pending is a read and what came of it.
type pending struct {
	Read

	done chan struct{}
	err  error
}

func newPending(n int, offset int64, align int) *pending {
	p := &pending{done: make(chan struct{})}
	p.Read = Read{Bytes: Aligned(n, align), Offset: offset, Ended: func(err error) {
		p.err = err
		close(p.done)
	}}
	return p
}

// Claim: several goroutines get what the file has, of any lengths, short reads at its end among them, also when
// more is begun than may be under way, and when the system refuses to read.
func TestQueueReads(t *testing.T) {
	for _, refusing := range []bool{false, true} {
		const depth = 8
		f, q, text := queued(t, 3<<20+123, depth)
		align := f.Direct()
		if refusing {
			q.ring.close()
		}
		var all sync.WaitGroup
		for worker := range 4 {
			all.Go(func() {
				rng := rand.New(rand.NewPCG(1, uint64(worker)))
				for range 30 {
					list := make([]*pending, 1+rng.IntN(2*depth))
					reads := make([]*Read, len(list))
					for i := range list {
						offset := rng.IntN(len(text)) / align * align
						list[i] = newPending((1+rng.IntN(600<<10)/align)*align, int64(offset), align)
						reads[i] = &list[i].Read
					}
					q.Begin(reads)
					q.Poll()
					for _, i := range rng.Perm(len(list)) {
						p := list[i]
						q.Wait(p.done)
						want := text[p.Offset:]
						want = want[:min(len(want), len(p.Bytes))]
						if p.err != nil || !bytes.Equal(p.Bytes[:len(want)], want) {
							t.Errorf("%d bytes at %d are others, or %v", len(p.Bytes), p.Offset, p.err)
						}
					}
				}
			})
		}
		all.Wait()
	}
}

// Claim: a read of what was cut off meanwhile ends with an error that says so.
func TestQueueOfChangedFile(t *testing.T) {
	f, q, _ := queued(t, 1<<20, 4)
	if err := os.Truncate(f.Name, 1<<19); err != nil {
		t.Fatal(err)
	}
	p := newPending(1<<16, 1<<19, f.Direct())
	q.Begin([]*Read{&p.Read})
	q.Wait(p.done)
	if !errors.Is(p.err, ErrChanged) {
		t.Errorf("error %v, expected one that the file was changed", p.err)
	}
}

// Claim: closing a file ends its reads, so that nothing is written to memory afterwards.
func TestQueueCloses(t *testing.T) {
	f, q, text := queued(t, 4<<20, 16)
	reads, list := make([]*Read, 16), make([]*pending, 16)
	for i := range list {
		list[i] = newPending(1<<18, int64(i)<<18, f.Direct())
		reads[i] = &list[i].Read
	}
	q.Begin(reads)
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	for _, p := range list {
		select {
		case <-p.done:
			if p.err != nil || !bytes.Equal(p.Bytes, text[p.Offset:][:len(p.Bytes)]) {
				t.Errorf("the bytes at %d are others, or %v", p.Offset, p.err)
			}
		default:
			t.Errorf("the read at %d has not ended", p.Offset)
		}
	}
}
