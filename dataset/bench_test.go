//go:build unix

package dataset

import (
	"bufio"
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// benchFile writes a file of queries of 150 documents each.
func benchFile(tb testing.TB, name string, queries int, line func([]byte, *rand.Rand, int, int) []byte) (path string, size int64) {
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
		w.Write(text)
	}
	if err := w.Flush(); err != nil {
		tb.Fatal(err)
	}
	if err := f.Close(); err != nil {
		tb.Fatal(err)
	}
	return path, size
}

// cpuTime returns the user and system time of the process.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// perCPU runs f b.N times and reports processor time beside the wall's.
func perCPU(b *testing.B, size int64, f func()) {
	b.SetBytes(size)
	b.ResetTimer()
	start := cpuTime()
	for range b.N {
		f()
	}
	used := cpuTime() - start
	b.ReportMetric(float64(used.Nanoseconds())/float64(b.N), "cpu-ns/op")
	b.ReportMetric(float64(size)*float64(b.N)/1e6/used.Seconds(), "MB/cpu-s")
}

func readWithOpen(tb testing.TB, path string, workers int) {
	d, err := Open(path, Options{Workers: workers})
	if err != nil || d.Docs() == 0 {
		tb.Fatal(err)
	}
}

// readWithScanner is how a LETOR file is read with what the standard library
// offers.
func readWithScanner(tb testing.TB, path string) {
	f, err := os.Open(path)
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	var x []float32
	var grades []float64
	var ids, docs []string
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		data, comment, _ := strings.Cut(lines.Text(), "#")
		fields := strings.Fields(data)
		g, err := strconv.ParseFloat(fields[0], 64)
		if err != nil {
			tb.Fatal(err)
		}
		grades = append(grades, g)
		ids = append(ids, strings.TrimPrefix(fields[1], "qid:"))
		docs = append(docs, comment)
		for _, pair := range fields[2:] {
			_, value, _ := strings.Cut(pair, ":")
			v, err := strconv.ParseFloat(value, 32)
			if err != nil {
				tb.Fatal(err)
			}
			x = append(x, float32(v))
		}
	}
	if len(x) == 0 || len(ids) != len(docs) || len(grades) != len(docs) {
		tb.Fatal("nothing read")
	}
}

func BenchmarkReadLETOR(b *testing.B) {
	path, size := benchFile(b, "ohsumed.txt", 400, ohsumedLike)
	for _, workers := range []int{1, 2} {
		b.Run(fmt.Sprintf("workers=%d", workers), func(b *testing.B) {
			perCPU(b, size, func() { readWithOpen(b, path, workers) })
		})
	}
}

func BenchmarkReadScanner(b *testing.B) {
	path, size := benchFile(b, "ohsumed.txt", 400, ohsumedLike)
	perCPU(b, size, func() { readWithScanner(b, path) })
}

// BenchmarkReadRatio reads the same file by turns with Open and with the
// standard library and reports how many times more processor time the latter
// takes.
func BenchmarkReadRatio(b *testing.B) {
	for name, line := range map[string]func([]byte, *rand.Rand, int, int) []byte{
		"ohsumed": ohsumedLike, "mslr": mslrLike, "sparse": sparseLike,
	} {
		b.Run(name, func(b *testing.B) {
			path, size := benchFile(b, name, 400, line)
			var own, scanner time.Duration
			rounds := 0
			for b.Loop() {
				start := cpuTime()
				readWithOpen(b, path, 0)
				own += cpuTime() - start
				start = cpuTime()
				readWithScanner(b, path)
				scanner += cpuTime() - start
				rounds++
			}
			b.ReportMetric(float64(scanner)/float64(own), "times")
			b.ReportMetric(float64(size)*float64(rounds)/1e6/own.Seconds(), "MB/cpu-s")
		})
	}
}

// BenchmarkReadPeak opens a file with a matrix of more than 200 MB in a process
// of its own and reports the most memory that process held, as a multiple of the
// matrix.
func BenchmarkReadPeak(b *testing.B) {
	const queries, matrix = 8000, 8000 * 150 * 45 * 4
	path, _ := benchFile(b, "big.txt", queries, ohsumedLike)
	for b.Loop() {
		cmd := exec.Command(os.Args[0], "-test.run=^TestPeakChild$", "-test.v")
		cmd.Env = append(os.Environ(), "LISTWISE_TEST_PEAK="+path)
		out, err := cmd.CombinedOutput()
		if err != nil {
			b.Fatalf("%v\n%s", err, out)
		}
		_, rest, _ := strings.Cut(string(out), "VmHWM:")
		kb, err := strconv.Atoi(strings.Fields(rest)[0])
		if err != nil {
			b.Fatalf("%v in %s", err, out)
		}
		b.ReportMetric(float64(kb)*1024/matrix, "peak/matrix")
		b.ReportMetric(float64(kb)/1024, "peak-MiB")
	}
}

// TestPeakChild is BenchmarkReadPeak's other process.
func TestPeakChild(t *testing.T) {
	path := os.Getenv("LISTWISE_TEST_PEAK")
	if path == "" {
		t.Skip("run by BenchmarkReadPeak only")
	}
	d, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Skip(err)
	}
	for line := range strings.Lines(string(status)) {
		if strings.HasPrefix(line, "VmHWM:") {
			fmt.Print(line)
		}
	}
	if d.Docs() != 8000*150 {
		t.Errorf("%d documents", d.Docs())
	}
}
