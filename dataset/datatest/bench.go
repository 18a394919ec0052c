//go:build unix

package datatest

import (
	"bufio"
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// BenchFile writes a file of queries with 150 documents each.
func BenchFile(tb testing.TB, name string, queries int, line func([]byte, *rand.Rand, int, int) []byte) (path string, size int64) {
	tb.Helper()
	path = filepath.Join(tb.TempDir(), name)
	f, err := os.Create(path)
	if err != nil {
		tb.Fatal(err)
	}
	w := bufio.NewWriterSize(f, 1<<20)
	rng := rand.New(rand.NewPCG(1, 2))
	part := line(nil, rng, 100, 150)
	for i := 0; i < queries; i += 100 {
		text := part
		if i > 0 { // other query ids, for the same rows
			text = bytes.ReplaceAll(part, []byte(" qid:"), fmt.Appendf(nil, " qid:%d-", i))
		}
		size += int64(len(text))
		if _, err := w.Write(text); err != nil {
			tb.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		tb.Fatal(err)
	}
	if err := f.Close(); err != nil {
		tb.Fatal(err)
	}
	return path, size
}

// CPUTime returns the user and system time of the process.
func CPUTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// PerCPU runs f b.N times and reports processor time in addition to wall time.
func PerCPU(b *testing.B, size int64, f func()) {
	b.SetBytes(size)
	b.ResetTimer()
	start := CPUTime()
	for range b.N {
		f()
	}
	used := CPUTime() - start
	b.ReportMetric(float64(used.Nanoseconds())/float64(b.N), "cpu-ns/op")
	b.ReportMetric(float64(size)*float64(b.N)/1e6/used.Seconds(), "MB/cpu-s")
}
