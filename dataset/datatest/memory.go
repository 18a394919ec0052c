package datatest

import (
	"io"
	"math/rand/v2"
	"runtime"
)

// Rand returns a random number generator with a fixed seed.
func Rand() *rand.Rand { return rand.New(rand.NewPCG(3, 4)) }

// LiveBytes returns the size of the live heap in bytes.
func LiveBytes() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// Allocated returns the bytes allocated while f ran.
func Allocated(f func()) int64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return int64(after.TotalAlloc - before.TotalAlloc)
}

// Endless returns a stream that repeats a text forever.
func Endless(text []byte) io.Reader { return &endless{text: text} }

// endless is the stream that Endless returns.
type endless struct {
	text []byte
	at   int
}

func (e *endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = e.text[e.at]
		e.at = (e.at + 1) % len(e.text)
	}
	return len(p), nil
}
