//go:build unix

package letor

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/datatest"
)

func readWithOpen(tb testing.TB, path string, workers int) {
	d, err := openFile(path, dataset.Options{Workers: workers})
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
	path, size := datatest.BenchFile(b, "ohsumed.txt", 400, datatest.OHSUMEDLike)
	for _, workers := range []int{1, 2} {
		b.Run(fmt.Sprintf("workers=%d", workers), func(b *testing.B) {
			datatest.PerCPU(b, size, func() { readWithOpen(b, path, workers) })
		})
	}
}

func BenchmarkReadScanner(b *testing.B) {
	path, size := datatest.BenchFile(b, "ohsumed.txt", 400, datatest.OHSUMEDLike)
	datatest.PerCPU(b, size, func() { readWithScanner(b, path) })
}

// BenchmarkReadRatio reads the same file by turns with Open and with the
// standard library and reports how many times more processor time the latter
// takes.
func BenchmarkReadRatio(b *testing.B) {
	for name, line := range map[string]func([]byte, *rand.Rand, int, int) []byte{
		"ohsumed": datatest.OHSUMEDLike, "mslr": datatest.MSLRLike, "sparse": datatest.SparseLike,
	} {
		b.Run(name, func(b *testing.B) {
			path, size := datatest.BenchFile(b, name, 400, line)
			var own, scanner time.Duration
			rounds := 0
			for b.Loop() {
				start := datatest.CPUTime()
				readWithOpen(b, path, 0)
				own += datatest.CPUTime() - start
				start = datatest.CPUTime()
				readWithScanner(b, path)
				scanner += datatest.CPUTime() - start
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
	path, _ := datatest.BenchFile(b, "big.txt", queries, datatest.OHSUMEDLike)
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
	d, err := openFile(path, dataset.Options{})
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

// What writing a score takes, whose floor is finding the shortest decimal (strconv.AppendFloat, 72.6 ns where this was measured) over the
// number of cores.
func BenchmarkWriteScores(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	scores := make([]float64, 1<<20)
	for i := range scores {
		scores[i] = rng.NormFloat64()
	}
	b.SetBytes(int64(8 * len(scores)))
	for b.Loop() {
		if err := WriteScores(io.Discard, scores); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(scores)), "ns/score")
}
