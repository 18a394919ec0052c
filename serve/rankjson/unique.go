package rankjson

import (
	"bytes"
	"hash/maphash"
)

// idSet finds repeated ids. Its hash has a secret seed, so that clients cannot choose colliding
// ids.
type idSet struct {
	table []int32 // indices of ids plus 1; 0 marks a free slot
	seed  maphash.Seed
	ready bool
}

// few is the largest number of ids that are compared pairwise.
const few = 8

// twice returns the first index i < n whose id occurred before, or −1 if there is none. It ignores
// nil ids.
func (s *idSet) twice(n int, id func(i int) []byte) int {
	if n <= few {
		for i := range n {
			for j := range i {
				if id(i) != nil && bytes.Equal(id(i), id(j)) {
					return i
				}
			}
		}
		return -1
	}
	if !s.ready {
		s.seed, s.ready = maphash.MakeSeed(), true
	}
	size := 4 * few
	for size < 2*n {
		size *= 2
	}
	if cap(s.table) < size {
		s.table = make([]int32, size)
	}
	s.table = s.table[:size]
	clear(s.table)
	for i := range n {
		if id(i) == nil {
			continue
		}
		at := int(maphash.Bytes(s.seed, id(i)) & uint64(size-1))
		for s.table[at] != 0 {
			if bytes.Equal(id(int(s.table[at]-1)), id(i)) {
				return i
			}
			at = (at + 1) & (size - 1)
		}
		s.table[at] = int32(i + 1)
	}
	return -1
}

// uniqueDocs checks that all documents of a query have ids and that the ids differ.
func (d *decoder) uniqueDocs(r *Request, q *Query, named int) error {
	ids := r.IDs[q.First : q.First+q.Docs]
	if named < len(ids) {
		for i, id := range ids {
			if id == nil {
				d.doc = i
				return d.fault(d.idAt[q.First], `a document without "id"`, "one, as other documents of the query have")
			}
		}
	}
	if i := d.set.twice(len(ids), func(i int) []byte { return ids[i] }); i >= 0 {
		d.doc = i
		return d.sameID("id", ids[i], d.idAt[q.First+i], "every document once in a query")
	}
	return nil
}

// uniqueQueries checks that the ids of queries differ.
func (d *decoder) uniqueQueries(r *Request) error {
	if i := d.set.twice(len(r.Queries), func(i int) []byte { return r.Queries[i].ID }); i >= 0 {
		d.query = i
		return d.sameID("query", r.Queries[i].ID, d.nameAt[i], "every query once in a request")
	}
	return nil
}
