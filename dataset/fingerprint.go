package dataset

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"sync"

	"github.com/listwise/listwise/internal/block"
	"github.com/listwise/listwise/internal/parallel"
)

// Fingerprint returns 32 hexadecimal digits that identify the data a model was
// trained on: the number of features and every query's id, grades and feature
// vectors, in order, and the weights of queries and documents unless all are 1. Names of features and documents do not count, nor does the
// file's format. It is half of a SHA-256 over the SHA-256 of blocks, which are
// computed in parallel; so it depends on neither machine nor number of cores.
//
// It is computed once and then kept, and a cache file stores it; see
// [Dataset.Modified].
func (d *Dataset) Fingerprint() string {
	fingerprints.Lock()
	m := d.fingerprint
	fingerprints.Unlock()
	if m.value == "" || m.shape != d.shape() {
		m.value = d.computeFingerprint()
		d.remember(m.value)
	}
	return m.value
}

// Modified must be called after grades or features were changed in place, through X,
// Grades or the slices of a query: it discards the fingerprint. This package's own
// functions that change data call it themselves.
func (d *Dataset) Modified() { d.remember("") }

// fingerprints guards the fingerprints of all data sets; it is held only to copy one.
var fingerprints sync.Mutex

// remembered is a fingerprint, or "", and the shape of the data it is of.
type remembered struct {
	value string
	shape shape
}

// shape differs after the blocks of a data set were replaced.
type shape struct {
	features, docs, queries int
	first                   *Query
}

func (d *Dataset) shape() shape {
	s := shape{features: d.Features, docs: d.Docs(), queries: len(d.Queries)}
	if s.queries > 0 {
		s.first = &d.Queries[0]
	}
	return s
}

func (d *Dataset) remember(fingerprint string) {
	fingerprints.Lock()
	defer fingerprints.Unlock()
	d.fingerprint = remembered{fingerprint, d.shape()}
}

func (d *Dataset) computeFingerprint() string {
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
	for _, w := range []struct {
		of   string
		each []float64
	}{{"queries", d.QueryWeights()}, {"documents", d.weights}} {
		if w.each != nil {
			fmt.Fprintf(h, "weights of %s\n", w.of)
			h.Write(block.AppendFloat64s(nil, w.each))
		}
	}
	const size = 1 << 18 // values
	n := (len(d.x) + size - 1) / size
	sums := make([][sha256.Size]byte, n)
	parallel.For(n, 0, func(_, i int) {
		sums[i] = sha256.Sum256(block.LittleEndian(d.x[i*size : min((i+1)*size, len(d.x))]))
	})
	for i := range sums {
		h.Write(sums[i][:])
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}
