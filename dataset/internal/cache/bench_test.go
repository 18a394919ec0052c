//go:build linux

package cache

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/datatest"
	"github.com/listwise/listwise/dataset/internal/input"
	"github.com/listwise/listwise/dataset/internal/letor"
	"github.com/listwise/listwise/dataset/memory"
	"github.com/listwise/listwise/internal/block"
	"github.com/listwise/listwise/internal/kernel"
	"github.com/listwise/listwise/internal/parallel"
)

// benchCache writes a cache with a matrix of 259 MB, the shape of OHSUMED.
func benchCache(b *testing.B) (path string, size int64) {
	b.Helper()
	text, _ := datatest.BenchFile(b, "ohsumed.txt", 9600, datatest.OHSUMEDLike)
	var d *dataset.Dataset
	err := input.With(text, dataset.Options{}, nil, func(in *input.Input) (err error) {
		d, err = letor.Read(in, dataset.Options{})
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	path = filepath.Join(b.TempDir(), "ohsumed.lwd")
	if err := Write(path, d); err != nil {
		b.Fatal(err)
	}
	return path, int64(4 * len(d.X()))
}

// dropPages makes the system forget what it holds of a file in memory.
func dropPages(b *testing.B, path string) {
	b.Helper()
	f, err := os.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	if err := f.Sync(); err != nil {
		b.Fatal(err)
	}
	if err := unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED); err != nil {
		b.Fatal(err)
	}
}

// linearPass computes the scores of all documents and the gradient of their sum,
// as an evaluation of a linear model's risk does.
func linearPass(d *dataset.Dataset, workers int) {
	w := make([]float64, d.Features)
	grads := make([][]float64, parallel.Workers(workers, len(d.Queries)))
	for i := range grads {
		grads[i] = make([]float64, d.Features)
	}
	scores := make([]float64, d.Docs())
	parallel.For(len(d.Queries), workers, func(worker, i int) {
		q := &d.Queries[i]
		s := scores[q.Start : q.Start+q.Len()]
		kernel.Gemv(s, q.X, w)
		kernel.GemvT(grads[worker], q.X, s)
	})
}

// openUnchecked maps a cache and leaves its matrix untouched.
func openUnchecked(b *testing.B, path string) *dataset.Dataset {
	f, err := os.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	info, err := f.Stat()
	if err != nil {
		b.Fatal(err)
	}
	c := &file{name: path, mem: memory.New(path, dataset.Options{}), bytes: block.Map(f, info, path)}
	c.data = c.bytes.Data
	parts, err := c.dataset()
	if err != nil {
		b.Fatal(err)
	}
	return dataset.FromBlocks(*parts)
}

// BenchmarkCheckedCache opens a cache and passes over it once, with its pages on
// the disk (cold) or in memory (warm), by turns with and without the matrix being
// checked, and reports what checking adds to the whole, in percent: to the time and
// to the processors' time.
func BenchmarkCheckedCache(b *testing.B) {
	path, size := benchCache(b)
	for _, cold := range []bool{true, false} {
		for _, workers := range []int{1, 2} {
			b.Run(fmt.Sprintf("cold=%v/workers=%d", cold, workers), func(b *testing.B) {
				b.SetBytes(size)
				timed := func(open func() *dataset.Dataset) (wall, cpu time.Duration) {
					if cold {
						dropPages(b, path)
					}
					start, startCPU := time.Now(), datatest.CPUTime()
					d := open()
					linearPass(d, workers)
					wall, cpu = time.Since(start), datatest.CPUTime()-startCPU
					if err := d.Close(); err != nil {
						b.Fatal(err)
					}
					return wall, cpu
				}
				var checked, unchecked, checkedCPU, uncheckedCPU time.Duration
				for b.Loop() {
					wall, cpu := timed(func() *dataset.Dataset { return openUnchecked(b, path) })
					unchecked, uncheckedCPU = unchecked+wall, uncheckedCPU+cpu
					wall, cpu = timed(func() *dataset.Dataset {
						d, err := openFile(path, dataset.Options{Workers: workers})
						if err != nil {
							b.Fatal(err)
						}
						return d
					})
					checked, checkedCPU = checked+wall, checkedCPU+cpu
				}
				b.ReportMetric(100*(float64(checked)/float64(unchecked)-1), "%more")
				b.ReportMetric(100*(float64(checkedCPU)/float64(uncheckedCPU)-1), "%more-cpu")
				b.ReportMetric(float64(uncheckedCPU.Milliseconds())/float64(b.N), "unchecked-cpu-ms")
				b.ReportMetric(float64(checkedCPU.Milliseconds())/float64(b.N), "checked-cpu-ms")
				b.ReportMetric(float64(unchecked.Milliseconds())/float64(b.N), "unchecked-ms")
				b.ReportMetric(float64(checked.Milliseconds())/float64(b.N), "checked-ms")
			})
		}
	}
}

// BenchmarkCacheMetadata opens a cache of 1.44 million documents but for its matrix.
func BenchmarkCacheMetadata(b *testing.B) {
	path, _ := benchCache(b)
	info, err := os.Stat(path)
	if err != nil {
		b.Fatal(err)
	}
	datatest.PerCPU(b, info.Size(), func() { _ = openUnchecked(b, path).Close() })
}

// BenchmarkSumPiece checks a matrix that is in memory, on one core.
func BenchmarkSumPiece(b *testing.B) {
	bytes := block.LittleEndian(block.New(64 << 20 / 4))
	b.SetBytes(int64(len(bytes)))
	for b.Loop() {
		for i := range pieces(len(bytes)) {
			sumPiece(bytes[i*matrixPiece:(i+1)*matrixPiece], false)
		}
	}
}
