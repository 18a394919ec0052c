package dataset

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"

	"github.com/listwise/listwise/internal/parallel"
)

// Fingerprint returns 32 hexadecimal digits that identify the data a model was
// trained on: the number of features and every query's id, grades and feature
// vectors, in order. Names of features and documents do not count, nor does the
// file's format. It is half of a SHA-256 over the SHA-256 of blocks, which are
// computed in parallel; so it depends on neither machine nor number of cores.
func (d *Dataset) Fingerprint() string {
	h := sha256.New()
	fmt.Fprintf(h, "listwise data 1\n%d features\n", d.Features)
	for i := range d.Queries {
		fmt.Fprintf(h, "%d documents of %q\n", d.Queries[i].Len(), d.Queries[i].ID)
	}
	var word [8]byte
	for _, g := range d.grades {
		binary.LittleEndian.PutUint64(word[:], math.Float64bits(g))
		h.Write(word[:])
	}
	const block = 1 << 18 // values
	n := (len(d.x) + block - 1) / block
	sums := make([][sha256.Size]byte, n)
	parallel.For(n, 0, func(_, i int) {
		part := sha256.New()
		_ = writeFloats(part, d.x[i*block:min((i+1)*block, len(d.x))]) // a hash takes everything
		part.Sum(sums[i][:0])
	})
	for i := range sums {
		h.Write(sums[i][:])
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}
