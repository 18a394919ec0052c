package dataset

import (
	"cmp"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/listwise/listwise/internal/parallel"
)

// Hash returns a number that identifies the query. It depends on the id, the number of documents and the
// feature values of the first and last documents. It does not depend on grades, so a query with new judgements
// keeps its hash. It ignores missing values. Two different queries have the same hash with probability 2^-64.
func (q *Query) Hash() uint64 { return q.hash(nil) }

// hash computes Hash from only the given columns, in this order. nil means all columns.
func (q *Query) hash(columns []int) uint64 {
	const most = 512 // number of values at either end; limits the cost for long queries
	h := mixer(hashOffset)
	for i := range len(q.ID) {
		h.mix(uint64(q.ID[i]))
	}
	h.mix(uint64(q.Len()) << 8)
	n, width := len(q.X), len(q.X)/max(1, q.Len())
	if columns != nil {
		n = len(columns) * q.Len()
	}
	for _, part := range [2][2]int{{0, min(most, n)}, {max(0, n-most), n}} {
		for k := part[0]; k < part[1]; k++ {
			at := k
			if columns != nil {
				at = k/len(columns)*width + columns[k%len(columns)]
			}
			if v := q.X[at]; v == v {
				h.mix(uint64(math.Float32bits(v + 0)))
			}
		}
	}
	return uint64(h)
}

// mixer is a hash of the numbers that mix has added.
type mixer uint64

const hashOffset = 14695981039346656037

func (h *mixer) mix(v uint64) {
	m := (uint64(*h) ^ v) * 0x9e3779b97f4a7c15
	*h = mixer(m ^ m>>29)
}

// hashes returns the hash of every query, computed from only the given columns. nil means all columns.
func (d *Dataset) hashes(columns []int) []uint64 {
	all := make([]uint64, len(d.Queries))
	if d.streamed && columns == nil { // computing the hashes may take a pass over the file
		fingerprints.Lock()
		known, of := d.fingerprint.hashes, d.fingerprint.shape
		fingerprints.Unlock()
		if known != nil && of == d.shape() {
			return slices.Clone(known)
		}
		defer func() {
			fingerprints.Lock()
			defer fingerprints.Unlock()
			d.fingerprint.hashes, d.fingerprint.shape = slices.Clone(all), d.shape()
		}()
	}
	queries := make([]int, len(d.Queries))
	for i := range queries {
		queries[i] = i
	}
	d.hashSome(all, queries, columns)
	return all
}

// hashSome sets the hashes of some queries, computed from only the given columns. nil means all columns.
func (d *Dataset) hashSome(hashes []uint64, queries, columns []int) {
	const parts = 64
	n := min(parts, len(queries))
	parallel.For(n, 0, func(_, part int) {
		of := queries[part*len(queries)/n : (part+1)*len(queries)/n]
		rows := d.ReaderOf(of)
		for k, i := range of {
			hashes[i] = rows.Query(k).hash(columns)
		}
	})
}

// CommonQueries returns the number of queries of d that other has, too. If both name their features, their
// order may differ.
func (d *Dataset) CommonQueries(other *Dataset) int {
	columns, err := MatchNames(other.FeatureNames, d.FeatureNames, true)
	if err != nil {
		columns = nil
	}
	mine, others := alike(d, other)
	hashes, of := make([]uint64, len(other.Queries)), make([]uint64, len(d.Queries))
	other.hashSome(hashes, others, nil)
	d.hashSome(of, mine, columns)
	known := make(map[uint64]bool, len(others))
	for _, i := range others {
		known[hashes[i]] = true
	}
	n := 0
	for _, i := range mine {
		if known[of[i]] {
			n++
		}
	}
	return n
}

// alike returns the queries of each data set for which the other has a query with the same id and number of
// documents. No other queries can have equal hashes, so the features of most queries need not be read.
func alike(a, b *Dataset) (ofA, ofB []int) {
	if len(a.Queries) > len(b.Queries) {
		ofB, ofA = alike(b, a)
		return ofA, ofB
	}
	type query struct {
		id   string
		docs int
	}
	key := func(q *Query) query { return query{q.ID, q.Len()} }
	in, both := make(map[query]bool, len(a.Queries)), make(map[query]bool)
	for i := range a.Queries {
		in[key(&a.Queries[i])] = true
	}
	for i := range b.Queries {
		if k := key(&b.Queries[i]); in[k] {
			both[k], ofB = true, append(ofB, i)
		}
	}
	for i := range a.Queries {
		if both[key(&a.Queries[i])] {
			ofA = append(ofA, i)
		}
	}
	return ofA, ofB
}

// QuerySet is the set of queries on which a model was trained, represented by their hashes. Beyond
// QuerySetSize queries it keeps only the smallest hashes, which are a random sample. It is immutable. A set may
// also be of other things with hashes, such as pages of a log.
type QuerySet struct {
	hashes []uint64 // ascending
	all    bool     // hashes are complete, not a sample
}

// QuerySetSize is the largest number of hashes that a QuerySet keeps.
const QuerySetSize = 1024

// QuerySet returns the set of the data set's queries.
func (d *Dataset) QuerySet() *QuerySet {
	return SetOf(d.hashes(nil))
}

// SetOf returns the set of things with these hashes, which it sorts.
func SetOf(hashes []uint64) *QuerySet {
	slices.Sort(hashes)
	s := &QuerySet{hashes: slices.Compact(hashes), all: true}
	if len(s.hashes) > QuerySetSize {
		s.hashes, s.all = slices.Clone(s.hashes[:QuerySetSize]), false
	}
	return s
}

// Has reports whether the set has a hash, and whether that is known: beyond its largest hash, a sample knows nothing.
func (s *QuerySet) Has(hash uint64) (in, known bool) {
	if !s.all && hash > s.hashes[len(s.hashes)-1] {
		return false, false
	}
	_, in = slices.BinarySearch(s.hashes, hash)
	return in, true
}

// Union returns the set of the queries in either set. If one of them is nil, it returns the other. If one of
// them is a sample, the union is a sample.
func (s *QuerySet) Union(other *QuerySet) *QuerySet {
	if s == nil || other == nil {
		return cmp.Or(s, other)
	}
	u := &QuerySet{hashes: slices.Concat(s.hashes, other.hashes), all: true}
	slices.Sort(u.hashes)
	u.hashes = slices.Compact(u.hashes)
	for _, part := range []*QuerySet{s, other} {
		if !part.all { // beyond its last hash nothing is known
			last := part.hashes[len(part.hashes)-1]
			u.all, u.hashes = false, slices.DeleteFunc(u.hashes, func(h uint64) bool { return h > last })
		}
	}
	if len(u.hashes) > QuerySetSize {
		u.hashes, u.all = u.hashes[:QuerySetSize], false
	}
	u.hashes = slices.Clip(u.hashes)
	return u
}

// Equal reports whether two sets are equal.
func (s *QuerySet) Equal(other *QuerySet) bool {
	if s == nil || other == nil {
		return s == other
	}
	return s.all == other.all && slices.Equal(s.hashes, other.hashes)
}

// Common returns the number of queries of d that are in the set, and the number of queries for which this is
// known. It is known for all queries if the set is complete, and otherwise for queries whose hashes are in the
// range of the sample. columns are the columns that the data of the set had, in their order, or nil for all
// columns of d; see [MatchNames].
func (s *QuerySet) Common(d *Dataset, columns []int) (common, known int) {
	for _, h := range d.hashes(columns) {
		in, told := s.Has(h)
		if told {
			known++
		}
		if in {
			common++
		}
	}
	return common, known
}

// MarshalText returns the hashes, little-endian, in base64. A leading "~" marks a sample.
func (s *QuerySet) MarshalText() ([]byte, error) {
	var b []byte
	for _, h := range s.hashes {
		b = binary.LittleEndian.AppendUint64(b, h)
	}
	text := []byte{}
	if !s.all {
		text = append(text, '~')
	}
	return base64.RawStdEncoding.AppendEncode(text, b), nil
}

// UnmarshalText parses the result of MarshalText.
func (s *QuerySet) UnmarshalText(text []byte) error {
	s.all = true
	if len(text) > 0 && text[0] == '~' {
		s.all, text = false, text[1:]
	}
	b, err := base64.RawStdEncoding.DecodeString(string(text))
	if err != nil || len(b)%8 != 0 || len(b) > 8*QuerySetSize || !s.all && len(b) == 0 {
		return fmt.Errorf("found %d characters, expected up to %d hashes of queries in base64", len(text), QuerySetSize)
	}
	s.hashes = make([]uint64, len(b)/8)
	for i := range s.hashes {
		s.hashes[i] = binary.LittleEndian.Uint64(b[8*i:])
	}
	if !slices.IsSorted(s.hashes) {
		return fmt.Errorf("found hashes of queries out of order, expected ascending ones")
	}
	return nil
}
