package dataset

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
)

// A short text with a huge index on each of many lines asks for a matrix far
// larger than itself, which is refused before it is allocated.
func TestMatrixTooLargeForText(t *testing.T) {
	text := strings.Repeat("1 qid:1 100000:1\n", 50_000) // 850 kB that ask for 18.6 GiB
	_, err := Read(strings.NewReader(text), "f", Options{})
	want := "f: found 50000 documents × 100000 features × 4 bytes = 18.63 GiB, expected at most 16 GiB; " +
		"the matrix is as wide as the largest feature index, so number the features from 1 on without gaps, or raise the limit"
	if err == nil || err.Error() != want {
		t.Errorf("error is\n\t%v\nwant\n\t%s", err, want)
	}
	if !errors.Is(err, ErrTooLarge) {
		t.Errorf("error %v is not ErrTooLarge", err)
	}
}

// The limit is on bytes of the matrix, exactly.
func TestMaxBytes(t *testing.T) {
	text := "1 qid:1 1:1 3:2\n0 qid:1 2:1\n" // 2 × 3 × 4 = 24 bytes
	if _, err := Read(strings.NewReader(text), "f", Options{MaxBytes: 24}); err != nil {
		t.Errorf("24 bytes: %v", err)
	}
	for _, o := range []Options{{MaxBytes: 23}, {MaxBytes: 24, MinFeatures: 4}, {MaxBytes: 24, Features: 4}, {MinFeatures: 1 << 61, MaxBytes: 1 << 62}} {
		if _, err := Read(strings.NewReader(text), "f", o); !errors.Is(err, ErrTooLarge) {
			t.Errorf("%+v: error is %v, want ErrTooLarge", o, err)
		}
	}
}

// A mistake in a line is told before the size, which it may be the cause of.
func TestMistakeBeforeSize(t *testing.T) {
	_, err := Read(strings.NewReader("1 qid:1 1:1\n1 qid:1 900:x\n"), "f", Options{MaxFeature: 800, MaxBytes: 4})
	if err == nil || !strings.HasPrefix(err.Error(), "f:2: found") {
		t.Errorf("error is %v, want one of line 2", err)
	}
}

// A cache is taken as it is, but not widened beyond the limit.
func TestMaxBytesOfWidenedCache(t *testing.T) {
	d, err := Read(strings.NewReader("1 qid:1 1:1\n0 qid:1 1:2\n"), "f", Options{})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "f.lwd")
	if err := WriteCache(path, d); err != nil {
		t.Fatal(err)
	}
	if d, err = Open(path, Options{MaxBytes: 1}); err != nil {
		t.Fatal(err)
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	if _, err = Open(path, Options{MaxBytes: 15, MinFeatures: 2}); !errors.Is(err, ErrTooLarge) {
		t.Errorf("error is %v, want ErrTooLarge", err)
	}
}
