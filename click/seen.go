package click

import (
	"encoding/binary"

	"github.com/listwise/listwise/dataset"
)

// Hash returns a number that identifies a page by its id, time, user, query and documents. It does not depend on clicks,
// which may come later. ok is false for a page without id and time, which may be any other of its query.
func (p *Page) Hash() (hash uint64, ok bool) {
	if p.ID == "" && p.Time.IsZero() {
		return 0, false
	}
	h := mixed(fnvOffset, p.ID)
	if !p.Time.IsZero() {
		var at [8]byte
		binary.LittleEndian.PutUint64(at[:], uint64(p.Time.UnixNano()))
		for _, b := range at {
			h = (h ^ uint64(b)) * fnvPrime
		}
	}
	h = mixed(mixed(mixed(mixed(h, p.User), p.Query), p.Docs[0]), p.Docs[len(p.Docs)-1])
	return spread(h + uint64(len(p.Docs))), true
}

// Seen gathers the set of pages that a model is trained on. The zero value is empty and ready to use.
type Seen struct {
	set  *dataset.QuerySet
	more []uint64
}

// Add adds a page.
func (s *Seen) Add(p *Page) {
	const room = 4 * dataset.QuerySetSize
	if h, ok := p.Hash(); ok {
		if s.more = append(s.more, h); len(s.more) == room {
			s.Set()
		}
	}
}

// Set returns the set of the pages so far, nil without any.
func (s *Seen) Set() *dataset.QuerySet {
	if len(s.more) > 0 {
		s.set, s.more = s.set.Union(dataset.SetOf(s.more)), nil // the set keeps the hashes
	}
	return s.set
}
