package click

import (
	"fmt"
	"hash/maphash"
	"math"
	"time"

	"github.com/listwise/listwise/dataset/memory"
)

// pageIDs are the ids of pages with the lines where they occurred. An id is known by a hash of 96 bits, so 10⁸
// pages have equal hashes with a probability of 10⁻¹³.
type pageIDs struct {
	seeds [2]maphash.Seed
	at    map[[3]uint32]uint32 // 1 + the line, counted through all files
	files []pageFile
	text  []byte // of a page
}

// pageFile is a file whose first line has the number from+1.
type pageFile struct {
	name string
	from uint32
	end  uint32 // the last line with an id
}

const idBytes = 28 // memory of the id of a page

// file begins a file, and returns the number of lines before it.
func (s *pageIDs) file(name string) (before uint32) {
	if s.at == nil {
		s.at, s.seeds = map[[3]uint32]uint32{}, [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}
	}
	if n := len(s.files); n > 0 {
		before = s.files[n-1].end
	}
	s.files = append(s.files, pageFile{name, before, before})
	return before
}

// add adds the id of a page in a line of the last file. If the id is known, first names its line.
func (s *pageIDs) add(id string, before uint32, line int, mem *memory.Account) (first string, known bool, err error) {
	return s.addKey(s.key([]byte(id)), before, line, mem)
}

// addContent adds a page without an id by its time, user, query and documents. It reports whether they are known.
func (s *pageIDs) addContent(p *Page, before uint32, mem *memory.Account) (known bool, err error) {
	s.text = append(s.text[:0], 0) // which no id has
	s.text = p.Time.AppendFormat(s.text, time.RFC3339Nano)
	for _, part := range [][]string{{p.User, p.Query}, p.Docs} {
		for _, text := range part {
			s.text = append(append(s.text, 0), text...)
		}
	}
	_, known, err = s.addKey(s.key(s.text), before, p.Line, mem)
	return known, err
}

func (s *pageIDs) addKey(key [3]uint32, before uint32, line int, mem *memory.Account) (first string, known bool, err error) {
	if at, known := s.at[key]; known {
		return s.place(at), true, nil
	}
	if err := mem.Take(idBytes, "ids of pages"); err != nil {
		return "", false, err
	}
	at := uint32(min(int64(before)+int64(line), math.MaxUint32))
	s.at[key] = at
	s.files[len(s.files)-1].end = at
	return "", false, nil
}

// has reports whether the id of a page is known.
func (s *pageIDs) has(id string) bool {
	_, known := s.at[s.key([]byte(id))]
	return known
}

// key returns the hash of an id.
func (s *pageIDs) key(id []byte) [3]uint32 {
	a, b := maphash.Bytes(s.seeds[0], id), maphash.Bytes(s.seeds[1], id)
	return [3]uint32{uint32(a), uint32(a >> 32), uint32(b)}
}

// place names the line of a number.
func (s *pageIDs) place(at uint32) string {
	for _, f := range s.files {
		if at > f.from && at <= f.end && at < math.MaxUint32 {
			return fmt.Sprintf("%s:%d", f.name, at-f.from)
		}
	}
	return "an earlier line"
}
