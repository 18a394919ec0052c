package parquet

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/stream"
)

// Claim: a file has the same bytes whether the pages of its row groups, of which it has several, are in memory or in a
// temporary file.
func TestPagesInAFile(t *testing.T) {
	const features, queries, docs = 2500, 40, 30
	write := func(maxBytes int64) []byte {
		rng := rand.New(rand.NewPCG(1, 2))
		var out bytes.Buffer
		z, err := NewWriter(&out, stream.Contents{Features: features, MaxBytes: maxBytes})
		if err != nil {
			t.Fatal(err)
		}
		w := z.(*writer)
		w.group = 300 // documents
		x := make([]float32, features)
		for q := range queries {
			for range docs {
				for j := range x {
					x[j] = rng.Float32()
				}
				if err := w.Document(fmt.Sprint("q", q), "", float64(q%3), x); err != nil {
					t.Fatal(err)
				}
			}
		}
		if (w.sheet.file != nil) != (maxBytes > 0) {
			t.Errorf("%d bytes: a file %v", maxBytes, w.sheet.file != nil)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return out.Bytes()
	}
	if !bytes.Equal(write(0), write(6<<20)) {
		t.Error("other bytes by way of a file")
	}
}

// Claim: columns that do not fit the memory by themselves are refused before anything is written.
func TestManyColumnsRefused(t *testing.T) {
	var out bytes.Buffer
	if _, err := NewWriter(&out, stream.Contents{Features: 5000, MaxBytes: 2 << 20}); !errors.Is(err, dataset.ErrTooLarge) || out.Len() > 0 {
		t.Errorf("%d bytes and the error %v, want that it is too large", out.Len(), err)
	}
}
