package atomicfile

import (
	"bytes"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
)

// Claim: a file of which parts are put on the disk and forgotten by the cache while it is written has what was written.
func TestWrittenBehind(t *testing.T) {
	defer func(p int64, n func() int64) { piece, near = p, n }(piece, near)
	piece, near = 1<<17, func() int64 { return 3 << 17 }
	rng := rand.New(rand.NewPCG(1, 2))
	var want bytes.Buffer
	path := filepath.Join(t.TempDir(), "f")
	err := Write(path, func(w io.Writer) error {
		for range 3000 {
			part := make([]byte, rng.IntN(3000))
			for i := range part {
				part[i] = byte(rng.Uint32())
			}
			want.Write(part)
			if _, err := w.Write(part); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want.Bytes()) {
		t.Errorf("another file of %d bytes, want %d: error %v", len(got), want.Len(), err)
	}
}
