package cache

import (
	"bytes"
	"encoding/binary"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/datatest"
)

// withHoles is a data set with missing values.
func withHoles() *dataset.Dataset {
	d := datatest.Split()
	parts := dataset.Blocks{Features: d.Features, FeatureNames: d.FeatureNames, X: slices.Clone(d.X()), Grades: d.Grades(), Missing: 2}
	parts.X[3], parts.X[4] = float32(math.NaN()), float32(math.NaN())
	for i := range d.Queries {
		parts.IDs, parts.Counts = append(parts.IDs, d.Queries[i].ID), append(parts.Counts, d.Queries[i].Len())
	}
	return dataset.FromBlocks(parts)
}

// Missing values are kept in a cache, and become what they are told to become when it is read,
// with columns added, too; without being told to they are refused with their place.
func TestCacheOfMissingValues(t *testing.T) {
	d := withHoles()
	data := cacheBytes(t, d)
	for _, features := range []int{0, d.Features + 2} {
		for _, m := range []dataset.Missing{dataset.MissingKeep, dataset.MissingZero, dataset.MissingMin} {
			got, err := readFrom(bytes.NewReader(data), "f", dataset.Options{Missing: m, MinFeatures: features})
			if err != nil {
				t.Fatal(err)
			}
			want := d.Clone()
			want.FillMissing(m)
			if got.Missing() != want.Missing() || len(got.Warnings) != min(1, 2-want.Missing()) {
				t.Errorf("%s: %d values are missing, expected %d; warnings %q", m, got.Missing(), want.Missing(), got.Warnings)
			}
			for i, v := range want.X() {
				if g := got.X()[i/d.Features*got.Features+i%d.Features]; g != v && !(g != g && v != v) {
					t.Errorf("%s: value %d is %v, expected %v", m, i, g, v)
				}
			}
			if features == 0 && got.Fingerprint() != want.Fingerprint() {
				t.Errorf("%s: the fingerprint is another one", m)
			}
		}
	}
	want := "f: found value NaN of feature 2 of document 2 of query \"a\", expected a finite number, or to be told what missing values stand for"
	if _, err := readFrom(bytes.NewReader(data), "f", dataset.Options{}); err == nil || err.Error() != want {
		t.Errorf("error is %v, want %s", err, want)
	}
}

// In a cache with missing values every changed bit is found, an infinite value is refused, and
// so is the absence of missing ones.
func TestDamagedCacheOfMissingValues(t *testing.T) {
	d := withHoles()
	data := cacheBytes(t, d)
	keep := dataset.Options{Missing: dataset.MissingKeep}
	for at := range data {
		for bit := range 8 {
			if _, err := readFrom(bytes.NewReader(changed(data, at, data[at]^1<<bit)), "f", keep); err == nil {
				t.Fatalf("bit %d of byte %d of %d changed, and it was opened", bit, at, len(data))
			}
		}
	}
	for _, c := range []struct {
		value float64
		want  string
	}{{math.Inf(-1), "found value -Inf of feature 1 of document 1"}, {1, "found no missing value in a cache of version 3"}} {
		damaged := slices.Clone(data)
		matrix := cacheBlock(damaged, numBlocks)
		for _, at := range []int{0, 3, 4} {
			binary.LittleEndian.PutUint32(matrix[4*at:], math.Float32bits(float32(c.value)))
		}
		fixSums(damaged)
		if _, err := readFrom(bytes.NewReader(damaged), "f", keep); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error is %v, want %s", err, c.want)
		}
	}
	d.X()[0] = float32(math.Inf(1))
	if err := Write(filepath.Join(t.TempDir(), "cache"), d); err == nil || !strings.Contains(err.Error(), "found value +Inf of feature 1 of document 1") {
		t.Errorf("error is %v", err)
	}
}
