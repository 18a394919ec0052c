package tune

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/datafile"
)

// writeDivided writes queries of so many documents with 20 features into two folds of different formats, and whole.
func writeDivided(t *testing.T, queries, docs int) (dir, whole string) {
	t.Helper()
	rng := rand.New(rand.NewPCG(3, 4))
	sets := make([]dataset.Builder, 4) // three parts, and all
	for q := range queries {
		grades, x := make([]float64, docs), make([]float32, docs*20)
		for i := range x {
			x[i] = float32(rng.IntN(100)) / 100
		}
		for i := range grades {
			if grades[i] = float64(rng.IntN(2)); x[20*i]+x[20*i+1] > 1.2 {
				grades[i]++
			}
		}
		for _, b := range []*dataset.Builder{&sets[q%3], &sets[3]} {
			if err := b.Add(strconv.Itoa(q), grades, x, nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	dir, whole = t.TempDir(), filepath.Join(t.TempDir(), "whole.lwd")
	paths := [][]string{{"Fold1/train.lwd", "Fold2/vali.txt"}, {"Fold1/vali.txt.gz", "Fold2/test.parquet"}, {"Fold1/test.parquet", "Fold2/train.lwd"}, {whole}}
	for i := range sets {
		d := sets[i].Dataset()
		for _, path := range paths[i] {
			if !filepath.IsAbs(path) {
				path = filepath.Join(dir, path)
			}
			if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
				t.Fatal(err)
			}
			if err := datafile.Write(path, d, datafile.TextOptions{}); err != nil {
				t.Fatal(err)
			}
		}
	}
	return dir, whole
}

// boundedConfig tries some settings of methods of several kinds.
func boundedConfig(t *testing.T, folds []Fold, memory int64) Config {
	t.Helper()
	return Config{
		Folds: folds, MaxBytes: memory, Seed: 5, Jobs: 3,
		Entries: []Entry{
			entry(t, "listnet", map[string][]string{"C": {"1", "100"}}),
			entry(t, "lambdamart", map[string][]string{"trees": {"2", "3"}}),
			entry(t, "lambdarank", map[string][]string{"epochs": {"1", "2"}}),
			entry(t, "regression", nil),
		},
	}
}

// Claim: in every format, features in memory stay within the limit. Models and results are the same as for data in
// memory.
func TestTuningWithinMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long with the race detector; other tests run the same goroutines")
	}
	dir, whole := writeDivided(t, 90, 30)
	all, err := ReadFolds(dir, dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	d, err := datafile.Open(whole, dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	divided, err := Divide(d, 2, 6)
	if err != nil {
		t.Fatal(err)
	}
	want, wantDivided := outcome(t, boundedConfig(t, all, 0)), outcome(t, boundedConfig(t, divided, 0))
	part := 4 * int64(30*30*20) // features of a file of a fold
	for _, most := range []int64{1, part, 3*part + 1, 100 * part} {
		b := &Bounded{Options: dataset.Options{MaxBytes: 4 << 20}, Features: most}
		folds, err := b.ReadFolds(dir)
		if err != nil {
			t.Fatal(err)
		}
		held, streamed := int64(0), 0
		for _, f := range folds {
			for _, d := range []*dataset.Dataset{f.Train, f.Valid, f.Test} {
				if held += heldBytes(d); d.Streamed() {
					streamed++
				}
			}
		}
		if held > most || most == 1 && streamed < 6 || most == 100*part && streamed > 0 {
			t.Errorf("%d bytes of features are held and %d data sets streamed, expected at most %d bytes", held, streamed, most)
		}
		same(t, want, outcome(t, boundedConfig(t, folds, 6<<20)))
	}
	b := &Bounded{Options: dataset.Options{MaxBytes: 4 << 20}, Features: 1}
	d, err = b.Open(whole)
	if err != nil || !d.Streamed() {
		t.Fatalf("streamed: %v, %v", d != nil && d.Streamed(), err)
	}
	if divided, err = Divide(d, 2, 6); err != nil {
		t.Fatal(err)
	}
	same(t, wantDivided, outcome(t, boundedConfig(t, divided, 6<<20)))
}

// outcome returns the results and the models of a run.
func outcome(t *testing.T, c Config) string {
	t.Helper()
	r := run(t, c)
	b := bytes.NewBufferString(digest(r))
	for _, row := range r.Rows {
		for _, f := range row.Folds {
			if err := f.Model.Write(b); err != nil {
				t.Fatal(err)
			}
		}
	}
	return b.String()
}

func same(t *testing.T, want, got string) {
	t.Helper()
	if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("another outcome than that of data in memory: %s", diff)
	}
}

// Claim: a training that has too little in its share of the memory is done with all of it, and one that has too little
// in all of it says so.
func TestTrainingAlone(t *testing.T) {
	_, whole := writeDivided(t, 30, 60)
	b := &Bounded{Options: dataset.Options{MaxBytes: 4 << 20}, Features: 1}
	d, err := b.Open(whole)
	if err != nil {
		t.Fatal(err)
	}
	folds, err := Divide(d, 2, 6)
	if err != nil {
		t.Fatal(err)
	}
	least := func(jobs int) int64 { // of memory that is enough, a power of 2
		for memory := int64(1 << 14); ; memory *= 2 {
			c := boundedConfig(t, folds, memory)
			c.Jobs, c.Entries = jobs, c.Entries[1:2]
			_, err := Run(context.Background(), c)
			switch {
			case err == nil:
				return memory
			case !errors.Is(err, dataset.ErrTooLarge) || !strings.Contains(err.Error(), "raise the limit"):
				t.Fatal(err)
			}
		}
	}
	one, many := least(1), least(4)
	if one == 1<<14 || one != many {
		t.Errorf("one training at a time takes %d bytes at least, four side by side %d, expected the same, more than 16 KiB", one, many)
	}
}

// Claim: files that fit the limit one by one and not together are an error, which tells so; caches, which are mapped, take none.
func TestFilesTooLargeTogether(t *testing.T) {
	dir, whole := writeDivided(t, 90, 60)
	const part = 4 * 30 * 60 * 20 // bytes of features of a file of a fold, of which four are text or tables
	_, err := ReadFolds(dir, dataset.Options{MaxBytes: 3 * part})
	if !errors.Is(err, dataset.ErrTooLarge) || !strings.Contains(err.Error(), "6 files of features that take more than") {
		t.Errorf("found %v, expected that the files are too large together", err)
	}
	if _, err := ReadFolds(dir, dataset.Options{MaxBytes: 6 * part}); err != nil {
		t.Errorf("with more memory: %v", err)
	}
	if _, err := ReadParts([]string{whole, whole}, dataset.Options{MaxBytes: part}); err != nil {
		t.Errorf("caches: %v", err)
	}
	sets, err := ReadParts([]string{whole, filepath.Join(dir, "Fold2/vali.txt")}, dataset.Options{MaxBytes: part, Stream: true})
	if err != nil {
		t.Fatal(err)
	}
	for i, d := range sets {
		if !d.Streamed() {
			t.Errorf("file %d is in memory, expected that it is streamed where that is allowed", i+1)
		}
	}
}
