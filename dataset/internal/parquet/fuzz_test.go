package parquet

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/internal/testing/long"
)

// FuzzRead reads damaged files: that gives an error about the file or a data set within the
// limit of memory, and no panic.
func FuzzRead(f *testing.F) {
	files, err := filepath.Glob("testdata/*.parquet")
	parts, _ := filepath.Glob("testdata/*/part-*.parquet") // the pattern is right
	if err != nil || len(files) == 0 || len(parts) == 0 {
		f.Fatal(files, parts, err)
	}
	for _, path := range append(files, parts...) {
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			continue
		}
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		checkDamaged(t, data)
	})
}

func checkDamaged(t *testing.T, data []byte) {
	t.Helper()
	opts := dataset.Options{Missing: dataset.MissingKeep, MaxBytes: 32 << 20, Table: dataset.TableOptions{OneHotAuto: true}}
	d, err := readBytes(data, opts)
	if s, ok := errors.AsType[*dataset.SyntaxError](err); err != nil && (!ok || s.File != "f.parquet" || s.Found == "" || s.Expected == "") {
		t.Fatalf("error %v is not one about the file", err)
	}
	if err != nil && strings.Contains(err.Error(), "runtime error") && !strings.Contains(err.Error(), "cannot be decoded") {
		t.Fatal(err)
	}
	if err == nil && (d.Docs() == 0 || len(d.X()) != d.Docs()*d.Features) {
		t.Fatalf("%d documents, %d values of %d features", d.Docs(), len(d.X()), d.Features)
	}
}

// Claim: no single changed byte of a file makes reading it panic or take unbounded memory.
func TestChangedBytes(t *testing.T) {
	parts, err := filepath.Glob("testdata/spark_*/part-00001-*.parquet")
	if err != nil || len(parts) != 2 {
		t.Fatal(parts, err)
	}
	for _, name := range []string{"v1_dictionary", "v2_plain", "small_pages", "streams", "words", "brotli", "fastparquet_none_1", "duckdb_snappy_v2"} {
		parts = append(parts, filepath.Join("testdata", name+".parquet"))
	}
	for _, path := range parts {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		step := 35
		if long.Enabled() {
			step = 7
		}
		for i := 0; i < len(data); i += step {
			x := []byte{0x01, 0x80, 0xff}[i%3]
			data[i] ^= x
			checkDamaged(t, data)
			data[i] ^= x
		}
		for n := 0; n < len(data); n += 17 * step {
			checkDamaged(t, data[:n])
		}
	}
}
