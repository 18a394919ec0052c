//go:build linux

package dataset_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/datafile"
	"github.com/listwise/listwise/dataset/internal/cache"
	"github.com/listwise/listwise/dataset/internal/letor"
	"github.com/listwise/listwise/internal/kernel"
	"github.com/listwise/listwise/internal/parallel"
)

// mappedCache returns a cache of one query with a matrix of 6 MiB, opened.
func mappedCache(t *testing.T) (path string, d *dataset.Dataset) {
	t.Helper()
	var b dataset.Builder
	const docs, features = 1 << 14, 96
	x := make([]float32, docs*features)
	for i := range x {
		x[i] = float32(i % 7)
	}
	if err := b.Add("q", make([]float64, docs), x, nil); err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(t.TempDir(), "f.lwd")
	if err := cache.Write(path, b.Dataset()); err != nil {
		t.Fatal(err)
	}
	d, err := datafile.Open(path, dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	return path, d
}

// guarded returns the error that use ends in.
func guarded(use func() error) (err error) {
	defer dataset.GuardFaults(&err)()
	return use()
}

// A cache that is cut while it is in use is an error, wherever it is touched: in
// Go, in assembly, in the runtime's own copying, in this goroutine or in others.
func TestCutCacheIsAnError(t *testing.T) {
	path, d := mappedCache(t)
	if err := os.Truncate(path, 1<<20); err != nil {
		t.Fatal(err)
	}
	q := &d.Queries[0]
	w, sum := make([]float64, d.Features), float32(0)
	lambda := make([]float64, q.Len())
	other := make([]float32, len(d.X()))
	for name, use := range map[string]func(){
		"Go":      func() { sum += q.Row(q.Len() - 1)[0] },
		"writing": func() { q.Row(q.Len() - 1)[0] = sum },
		"copy":    func() { copy(other, d.X()) },
		"Dot32":   func() { kernel.Dot32(q.Row(q.Len()-1), w) },
		"Gemv":    func() { kernel.Gemv(lambda, q.X, w) },
		"GemvT":   func() { kernel.GemvT(w, q.X, lambda) },
		"Gemm": func() {
			kernel.Gemm(make([]float64, 4*q.Len()), q.X, make([]float64, 4*d.Features), q.Len(), d.Features)
		},
		"fingerprint": func() { d.ComputeFingerprint() },
		"normalize":   func() { dataset.NormalizeInPlace(d, dataset.MinMax) },
		"one worker":  func() { parallel.For(3, 1, func(_, _ int) { kernel.Gemv(lambda, q.X, w) }) },
		"several":     func() { parallel.For(9, 3, func(_, _ int) { kernel.Gemv(make([]float64, q.Len()), q.X, w) }) },
		"workers within": func() {
			parallel.For(3, 3, func(_, _ int) { parallel.For(3, 3, func(_, _ int) { copy(make([]float32, 9), q.Row(q.Len()-1)) }) })
		},
		"sums": func() {
			parallel.NewSums(1, []int{0, 1, 2}).Run(2, func(_, _, _ int, _ []float64) float64 { return kernel.Dot32(q.Row(q.Len()-1), w) })
		},
	} {
		err := guarded(func() error { use(); return nil })
		if want := path + ": the file was changed while it was read"; !errors.Is(err, dataset.ErrChanged) || err.Error() != want {
			t.Errorf("%s: error is %v, want %s", name, err, want)
		}
	}
}

// Other faults and panics pass a guard as they are.
func TestOtherPanicsGoOn(t *testing.T) {
	_, d := mappedCache(t)
	_ = d
	var nothing *dataset.Dataset
	for name, use := range map[string]func(){
		"nil pointer": func() { nothing.Features++ },
		"message":     func() { panic("message") },
		"in a worker": func() { parallel.For(2, 2, func(_, _ int) { nothing.Features++ }) },
		"error":       func() { panic(errors.New("error")) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			if err := guarded(func() error { use(); return nil }); err != nil {
				t.Errorf("%s: error is %v", name, err)
			}
		}()
	}
}

// Every change of a cache's file is detected, and results computed from its data are not
// written; a deleted file is no change.
func TestChangedCache(t *testing.T) {
	for name, change := range map[string]func(path string) error{
		"cut":     func(path string) error { return os.Truncate(path, 1<<20) },
		"longer":  func(path string) error { return os.Truncate(path, 1<<24) },
		"written": func(path string) error { return writeAt(path, 5<<20) },
		"replaced": func(path string) error {
			if err := os.WriteFile(path+".new", []byte("1 qid:1 1:1\n"), 0o644); err != nil {
				return err
			}
			return os.Rename(path+".new", path)
		},
	} {
		path, d := mappedCache(t)
		if err := d.Changed(); err != nil {
			t.Errorf("%s: at first the error is %v", name, err)
		}
		if err := change(path); err != nil {
			t.Fatal(err)
		}
		if err := d.Changed(); !errors.Is(err, dataset.ErrChanged) || !strings.HasPrefix(err.Error(), path+": ") {
			t.Errorf("%s: error is %v", name, err)
		}
		for _, out := range []string{"out.txt", "out.lwd"} {
			out = filepath.Join(t.TempDir(), out)
			err := guarded(func() error { return datafile.Write(out, d, letor.WriteOptions{}) })
			if _, exists := os.Stat(out); !errors.Is(err, dataset.ErrChanged) || !errors.Is(exists, os.ErrNotExist) {
				t.Errorf("%s: writing %s: error is %v; of the file's absence, %v", name, out, err, exists)
			}
		}
	}
	path, d := mappedCache(t)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := d.Changed(); err != nil {
		t.Errorf("removed: error is %v", err)
	}
	text, err := datafile.Read(strings.NewReader("1 qid:1 1:1\n"), "f", dataset.Options{})
	if err != nil || text.Changed() != nil {
		t.Errorf("text: %v", err)
	}
}

// writeAt changes a byte of a file.
func writeAt(path string, at int64) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	if _, err := f.WriteAt([]byte{1}, at); err != nil {
		return err
	}
	return f.Close()
}
