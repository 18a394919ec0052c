package datatest

import (
	"io"
	"math/rand/v2"
	"runtime"
)

// Rand returns a stream of random numbers that is always the same.
func Rand() *rand.Rand { return rand.New(rand.NewPCG(3, 4)) }

// LiveBytes returns the bytes in use.
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

// Endless returns a stream that repeats a text for ever.
func Endless(text []byte) io.Reader { return &endless{text: text} }

// endless repeats a text for ever.
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
