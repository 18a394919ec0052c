package datafile

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/datatest"
	"github.com/listwise/listwise/dataset/internal/cache"
	"github.com/listwise/listwise/dataset/internal/input"
	"github.com/listwise/listwise/dataset/stream"
	"github.com/listwise/listwise/internal/testing/long"
)

// loaded returns a streamed data set with its features in memory, for comparisons.
func loaded(t rapid.TB, d *dataset.Dataset) *dataset.Dataset {
	if !d.Streamed() {
		t.Fatal("the data set is in memory")
	}
	rows := d.Reader()
	for i := range d.Queries {
		d.Queries[i].X = slices.Clone(rows.At(i))
	}
	return d
}

// checkTold compares what data sets say of themselves beside their documents.
func checkTold(t rapid.TB, got, want *dataset.Dataset) {
	t.Helper()
	tell := func(d *dataset.Dataset) string {
		return fmt.Sprintf("%d filled, %d absent, rows %v, warnings %q, %v, %v, %s", d.Filled(), d.Absent(), d.InputRows(), d.Warnings, d.IgnoreOthers, d.AbsentMissing, d.Fingerprint())
	}
	if g, w := tell(got), tell(want); g != w {
		t.Fatalf("found %s, want %s", g, w)
	}
}

// Claim: data that are put in a temporary file are those that are read into memory, of every format and
// however the documents stand.
func TestStreamedFromATemporaryFile(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		path, data := drawForm(t, filepath.Join(dir, "in"), datatest.DrawText(t, true))
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		opts := dataset.Options{
			Missing:       rapid.SampledFrom([]dataset.Missing{dataset.MissingError, dataset.MissingZero, dataset.MissingMin, dataset.MissingKeep}).Draw(t, "policy"),
			Negative:      rapid.SampledFrom([]dataset.Negative{dataset.NegativeZero, dataset.NegativeDrop}).Draw(t, "negative"),
			AbsentMissing: rapid.Bool().Draw(t, "absent"),
			MinFeatures:   rapid.IntRange(0, 8).Draw(t, "features"),
			Table:         dataset.TableOptions{OneHotAuto: true},
		}
		want, wantErr := Open(path, opts)
		if wantErr == nil && want.Features == 0 {
			return
		}
		var got *dataset.Dataset
		err := input.With(path, opts, nil, func(in *input.Input) error {
			f, err := recognise(in, opts)
			if err != nil {
				return err
			}
			return f.plan(in, opts, func(p *stream.Plan) error {
				got, err = cache.Streamed(p, path, opts, nil)
				return err
			})
		})
		if fmt.Sprint(err) != fmt.Sprint(wantErr) {
			t.Fatalf("error %v, want %v", err, wantErr)
		}
		if err != nil {
			return
		}
		got.AbsentMissing = opts.AbsentMissing
		checkTold(t, got, want)
		checkSame(t, loaded(t, got), want)
		if err := got.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

// Claim: with Options.Stream, data of every format, from files, streams and shards, that do not fit into
// memory are read, with a note that tells of it and a temporary file that nobody sees; without, they are an error.
func TestMoreThanMemoryIsStreamed(t *testing.T) {
	dir, temporary := t.TempDir(), t.TempDir()
	t.Setenv("TMPDIR", temporary)
	text := datatest.MSLRLike(nil, datatest.Rand(), 120, 100)
	source := filepath.Join(dir, "in.txt")
	if err := os.WriteFile(source, text, 0o600); err != nil {
		t.Fatal(err)
	}
	want, err := Open(source, dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Shard(Conversion{Inputs: []string{source}}, filepath.Join(dir, "shards"), ".txt.gz", 3); err != nil {
		t.Fatal(err)
	}
	const limit = 4 << 20 // of features of 6.5 MB
	names := []string{"in.txt", "in.txt.gz", "in.csv", "in.jsonl.zst", "in.parquet", "in.lwd", "shards"}
	if !long.Enabled() {
		names = []string{"in.txt", "in.parquet", "shards"}
	}
	for _, name := range names {
		path := filepath.Join(dir, name)
		if _, err := os.Stat(path); err != nil {
			if _, err := Convert(Conversion{Inputs: []string{source}, Out: path}); err != nil {
				t.Fatal(err)
			}
		}
		ways := map[string]func(dataset.Options) (*dataset.Dataset, error){
			"file": func(o dataset.Options) (*dataset.Dataset, error) { return Open(path, o) },
		}
		if name != "shards" {
			ways["stream"] = func(o dataset.Options) (*dataset.Dataset, error) {
				b, err := os.ReadFile(path)
				if err != nil {
					return nil, err
				}
				return Read(bytes.NewReader(b), "standard input", o)
			}
		}
		for way, open := range ways {
			t.Run(name+" "+way, func(t *testing.T) {
				if d, err := open(dataset.Options{MaxBytes: limit}); (err == nil) != (name == "in.lwd" && way == "file") {
					t.Fatalf("without Stream: %v, %v", d, err)
				}
				for _, keep := range []func(string) bool{nil, dataset.SampleQueries(0.9, 1)} {
					told := ""
					d, err := open(dataset.Options{MaxBytes: limit, Stream: true, Keep: keep, Note: func(s string) { told = s }})
					if err != nil {
						t.Fatal(err)
					}
					if cached := name == "in.lwd" && keep == nil; strings.Contains(told, "stored in a temporary file of 0.00") == cached {
						t.Errorf("found the note %q", told)
					}
					if left, err := os.ReadDir(temporary); err != nil || runtime.GOOS == "linux" && len(left) > 0 {
						t.Errorf("%v, %v while the data are in use", left, err)
					}
					of := want
					if keep != nil {
						of = want.Filter(func(q *dataset.Query) bool { return keep(q.ID) })
					}
					if name == "in.txt" {
						checkTold(t, d, of)
					}
					if problem := datatest.SameDocuments(loaded(t, d), of); problem != "" {
						t.Error(problem)
					}
					if err := d.Close(); err != nil {
						t.Error(err)
					}
				}
			})
		}
	}
	if left, err := os.ReadDir(temporary); err != nil || len(left) > 0 {
		t.Errorf("%v, %v is left", left, err)
	}
}

// Claim: between the limits with which data are streamed and those with which they are in memory lies none with which
// they are refused, as what reading takes beside the features may be too much where these are not.
func TestNoLimitBetweenIsRefused(t *testing.T) {
	long.Test(t)
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	text := datatest.MSLRLike(nil, datatest.Rand(), 40, 100)
	source := filepath.Join(dir, "in.txt")
	if err := os.WriteFile(source, text, 0o600); err != nil {
		t.Fatal(err)
	}
	want, err := Open(source, dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	matrix := 4 * int64(want.Docs()) * int64(want.Features)
	for _, name := range []string{"in.txt", "in.csv", "in.jsonl", "in.parquet"} {
		path := filepath.Join(dir, name)
		if name != "in.txt" {
			if _, err := Convert(Conversion{Inputs: []string{source}, Out: path}); err != nil {
				t.Fatal(err)
			}
		}
		streamed := 0
		for limit := matrix / 2; limit < 4*matrix; limit += matrix / 6 {
			d, err := Open(path, dataset.Options{MaxBytes: limit, Stream: true})
			if errors.Is(err, dataset.ErrTooLarge) && streamed == 0 {
				continue // not even what reading takes
			}
			if err != nil {
				t.Errorf("%s of %d bytes of features, limit of %d: %v", name, matrix, limit, err)
				continue
			}
			if d.Streamed() {
				streamed++
				d = loaded(t, d)
			}
			if problem := datatest.SameDocuments(d, want); problem != "" {
				t.Errorf("%s, limit of %d: %s", name, limit, problem)
			}
			if err := d.Close(); err != nil {
				t.Error(err)
			}
		}
		if streamed == 0 {
			t.Errorf("%s: no limit made it be streamed", name)
		}
	}
}
