package datafile

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/listwise/listwise/dataset/datatest"
)

// BenchmarkConvertPeak converts text with a matrix of more than 200 MB to a cache in a
// process of its own, and reports the text read a second and the most memory that process
// held.
func BenchmarkConvertPeak(b *testing.B) {
	path, size := datatest.BenchFile(b, "big.txt", 8000, datatest.OHSUMEDLike)
	b.SetBytes(size)
	for b.Loop() {
		cmd := exec.Command(os.Args[0], "-test.run=^TestConvertPeakChild$", "-test.v")
		cmd.Env = append(os.Environ(), "LISTWISE_TEST_CONVERT="+path)
		out, err := cmd.CombinedOutput()
		if err != nil {
			b.Fatalf("%v\n%s", err, out)
		}
		_, rest, _ := strings.Cut(string(out), "VmHWM:")
		kb, err := strconv.Atoi(strings.Fields(rest)[0])
		if err != nil {
			b.Fatalf("%v in %s", err, out)
		}
		b.ReportMetric(float64(kb)/1024, "peak-MiB")
	}
}

// TestConvertPeakChild is BenchmarkConvertPeak's other process.
func TestConvertPeakChild(t *testing.T) {
	path := os.Getenv("LISTWISE_TEST_CONVERT")
	if path == "" {
		t.Skip("run by BenchmarkConvertPeak only")
	}
	done, err := Convert(Conversion{Inputs: []string{path}, Out: filepath.Join(t.TempDir(), "out.lwd")})
	if err != nil {
		t.Fatal(err)
	}
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Skip(err)
	}
	t.Logf("%s", status)
	if done.Documents != 8000*150 {
		t.Errorf("%d documents", done.Documents)
	}
}
