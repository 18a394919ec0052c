package dataset

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"sync"

	"github.com/listwise/listwise/internal/block"
	"github.com/listwise/listwise/internal/parallel"
)

// Fingerprint returns 32 hexadecimal digits that identify training data. They depend on the number of
// features, on every query's id, grades and feature vectors, in order, and on weights other than 1. They do
// not depend on names of features, document ids or the file's format. They are half of a SHA-256 over the
// SHA-256 of blocks, which are computed in parallel. So the machine and the number of cores do not matter.
//
// The fingerprint is computed once. A cache file stores it. See [Dataset.Modified].
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

// Modified discards the fingerprint. It must be called after grades or features were changed in place, through
// X, Grades or the slices of a query. Functions of this package that change data call it.
func (d *Dataset) Modified() { d.remember("") }

// fingerprints guards the fingerprints of all data sets. It is locked only while one is copied.
var fingerprints sync.Mutex

// remembered is a fingerprint, or "", and the shape of its data.
type remembered struct {
	value  string
	shape  shape
	hashes []uint64 // hashes of the queries of streamed data, nil if unknown
}

// shape identifies the blocks of a data set. It changes when they are replaced.
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
	was := d.fingerprint
	d.fingerprint = remembered{value: fingerprint, shape: d.shape()}
	if fingerprint != "" && was.shape == d.shape() {
		d.fingerprint.hashes = was.hashes
	}
}

func (d *Dataset) computeFingerprint() string {
	f := NewFingerprinter(d.Features)
	for i := range d.Queries {
		f.Query(d.Queries[i].ID, d.Queries[i].Len())
	}
	f.Numbers(d.grades)
	f.Weights(d.QueryWeights(), d.weights)
	n := (len(d.x) + FingerprintBlock - 1) / FingerprintBlock
	sums := make([][sha256.Size]byte, n)
	if d.streamed {
		d.hashStreamed(f)
		return f.Sum()
	}
	parallel.For(n, 0, func(_, i int) {
		sums[i] = sha256.Sum256(block.LittleEndian(d.x[i*FingerprintBlock : min((i+1)*FingerprintBlock, len(d.x))]))
	})
	for i := range sums {
		f.Block(sums[i])
	}
	return f.Sum()
}

// hashStreamed adds features that are read query by query. A disk delivers them about as fast as one core
// computes SHA-256.
func (d *Dataset) hashStreamed(f *Fingerprinter) {
	rows, h, left := d.Reader(), sha256.New(), FingerprintBlock
	end := func() {
		f.Block([sha256.Size]byte(h.Sum(nil)))
		h.Reset()
		left = FingerprintBlock
	}
	for i := range d.Queries {
		for x := rows.At(i); len(x) > 0; {
			n := min(left, len(x))
			h.Write(block.LittleEndian(x[:n]))
			if x, left = x[n:], left-n; left == 0 {
				end()
			}
		}
	}
	if left < FingerprintBlock {
		end()
	}
}

// FingerprintBlock is the number of values of X that [Dataset.Fingerprint] hashes together by SHA-256.
const FingerprintBlock = 1 << 18

// Fingerprinter computes [Dataset.Fingerprint] for a data set that is not in memory. First add all queries in
// order, then all grades, the weights, and the blocks of X.
type Fingerprinter struct{ h hash.Hash }

// NewFingerprinter returns a Fingerprinter for a data set with the given number of features.
func NewFingerprinter(features int) *Fingerprinter {
	h := sha256.New()
	fmt.Fprintf(h, "listwise data 1\n%d features\n", features)
	return &Fingerprinter{h}
}

// Query adds the next query.
func (f *Fingerprinter) Query(id string, documents int) {
	fmt.Fprintf(f.h, "%d documents of %q\n", documents, id)
}

// Numbers adds the grades of the next documents, or weights.
func (f *Fingerprinter) Numbers(numbers []float64) {
	const part = 1 << 12
	for len(numbers) > 0 {
		n := min(part, len(numbers))
		f.h.Write(block.AppendFloat64s(make([]byte, 0, 8*part), numbers[:n]))
		numbers = numbers[n:]
	}
}

// Weights adds the weights of all queries and of all documents; nil means that all are 1.
func (f *Fingerprinter) Weights(queries, documents []float64) {
	if queries != nil {
		f.WeightsOf("queries")
		f.Numbers(queries)
	}
	if documents != nil {
		f.WeightsOf("documents")
		f.Numbers(documents)
	}
}

// WeightsOf begins the weights of queries or of documents, which Numbers then adds. The argument is "queries"
// or "documents".
func (f *Fingerprinter) WeightsOf(what string) { fmt.Fprintf(f.h, "weights of %s\n", what) }

// Block adds the SHA-256 of the next [FingerprintBlock] values of X, as little-endian bytes. The last block
// may have fewer values.
func (f *Fingerprinter) Block(sum [sha256.Size]byte) { f.h.Write(sum[:]) }

// Sum returns the fingerprint.
func (f *Fingerprinter) Sum() string { return hex.EncodeToString(f.h.Sum(nil)[:16]) }
